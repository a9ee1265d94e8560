// Refusals in the words of Stripe's API, as its stand-in answers or throws them.
import type { Json } from "./stripe-records.ts";

export interface Reply {
  readonly status: number;
  readonly body: Json;
}
interface Refusal {
  readonly status: number;
  readonly error: Json;
}

export function refusalReply(status: number, type: string, code: string): Reply {
  return { status, body: { error: { type, code, message: `refused: ${code || type}` } } };
}

/** Ends a request that Stripe would refuse. */
export function refuseRequest(status: number, error: Json): never {
  throw { status, error: { type: "invalid_request_error", message: "refused", ...error } } satisfies Refusal;
}

export function isRefusal(error: unknown): error is Refusal {
  return typeof error === "object" && error !== null && "status" in error && "error" in error;
}
