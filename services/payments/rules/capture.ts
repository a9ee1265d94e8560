// Decides whether a merchant may capture an authorization, once, or cancel an uncaptured payment (docs/contract.md §5).
// Pure.
import { isAuthorized, isReturned, type PaymentState } from "./payment.ts";

/** A pending capture or cancellation. */
export interface Ending {
  readonly kind: "capture" | "cancel";
  /** Minor units of a capture; 0 of a cancellation. */
  readonly amount: bigint;
}

type EndingDecision =
  /** The payment is already as requested. */
  | { readonly kind: "done" }
  /** The same request is pending. */
  | { readonly kind: "joined" }
  | { readonly kind: "reserved"; readonly amount: bigint }
  | { readonly kind: "refused"; readonly reason: "NOT_CAPTURABLE" | "NOT_CANCELABLE" | "AMOUNT_TOO_LARGE" };

type Capturable = Pick<PaymentState, "amount" | "outcome" | "capturedAmount">;

/**
 * @param requested minor units; undefined: the whole authorization. @param active the payment's pending ending
 * @param isResumed an earlier run of the same request may have captured it
 */
export function decideCapture(
  payment: Capturable,
  requested: bigint | undefined,
  active: Ending | undefined,
  isResumed: boolean,
): EndingDecision {
  const amount = requested ?? payment.amount;
  if (isResumed && payment.outcome === "succeeded" && payment.capturedAmount === amount) return { kind: "done" };
  if (!isAuthorized(payment)) return { kind: "refused", reason: "NOT_CAPTURABLE" };
  if (amount > payment.amount) return { kind: "refused", reason: "AMOUNT_TOO_LARGE" };
  if (!active) return { kind: "reserved", amount };
  const isSame = active.kind === "capture" && active.amount === amount;
  return isSame ? { kind: "joined" } : { kind: "refused", reason: "NOT_CAPTURABLE" };
}

type Cancelable = Pick<PaymentState, "outcome" | "capturedAmount" | "authorizedAt">;

/** @param isDirect without a session, so that nothing follows a decline */
export function decideCancel(payment: Cancelable, isDirect: boolean, active: Ending | undefined): EndingDecision {
  const { outcome } = payment;
  if (outcome === "canceled") return { kind: "done" };
  const isPaid = outcome === "succeeded" && !isAuthorized(payment);
  const isOver = outcome === "failed" && (isDirect || isReturned(payment));
  if (isPaid || isOver || active?.kind === "capture") return { kind: "refused", reason: "NOT_CANCELABLE" };
  return active ? { kind: "joined" } : { kind: "reserved", amount: 0n };
}
