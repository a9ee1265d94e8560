// A request of the stand-in of Stripe's API once its parameters were checked, and what takes it.
import type { StripeAccount } from "./stripe-account.ts";
import type { FormObject } from "./stripe-form.ts";
import type { Json } from "./stripe-records.ts";

export interface Call {
  readonly account: StripeAccount;
  readonly params: FormObject;
  /** The part of the path that names an object. */
  readonly id: string;
}

/** Method and path, the SDK's file and type of its parameters, and what is made of a request. */
export type Route = readonly [pattern: string, file: string, params: string, handler: (call: Call) => Json];
