// A request of the stand-in of Stripe's API, and the functions that handle requests.
import type { StripeAccount } from "./stripe-account.ts";
import type { FormObject } from "./stripe-form.ts";
import type { Json } from "./stripe-records.ts";

export interface Call {
  readonly account: StripeAccount;
  readonly params: FormObject;
  /** The part of the path that names an object. */
  readonly id: string;
}

/** By method and path. */
export type Routes = Readonly<Record<string, (call: Call) => Json>>;
