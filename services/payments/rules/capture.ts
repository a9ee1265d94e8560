// What a merchant may do with a payment of which nothing is captured: take what is authorized, once, or give it up
// (docs/contract.md §5). Pure.
import { isAuthorized, isReturned, type PaymentState } from "./payment.ts";

/** A capture or a cancellation that is under way at the processor. */
export interface Ending {
  readonly kind: "capture" | "cancel";
  /** Minor units of a capture; 0 of a cancellation. */
  readonly amount: bigint;
}

export type EndingDecision =
  /** It is as asked for. */
  | { readonly kind: "done" }
  /** The same is under way. */
  | { readonly kind: "joined" }
  | { readonly kind: "reserved"; readonly amount: bigint }
  | { readonly kind: "refused"; readonly reason: "NOT_CAPTURABLE" | "NOT_CANCELABLE" | "AMOUNT_TOO_LARGE" };

type Capturable = Pick<PaymentState, "amount" | "outcome" | "capturedAmount">;

/**
 * @param asked minor units; undefined: all that is authorized. @param underWay of this payment
 * @param isResumed an earlier run of the same request may have done it
 */
export function decideCapture(
  payment: Capturable,
  asked: bigint | undefined,
  underWay: Ending | undefined,
  isResumed: boolean,
): EndingDecision {
  const amount = asked ?? payment.amount;
  if (isResumed && payment.outcome === "succeeded" && payment.capturedAmount === amount) return { kind: "done" };
  if (!isAuthorized(payment)) return { kind: "refused", reason: "NOT_CAPTURABLE" };
  if (amount > payment.amount) return { kind: "refused", reason: "AMOUNT_TOO_LARGE" };
  if (!underWay) return { kind: "reserved", amount };
  const isSame = underWay.kind === "capture" && underWay.amount === amount;
  return isSame ? { kind: "joined" } : { kind: "refused", reason: "NOT_CAPTURABLE" };
}

type Cancelable = Pick<PaymentState, "outcome" | "capturedAmount" | "authorizedAt">;

/** @param isDirect without a session: after a decline nobody tries again. @param underWay as above */
export function decideCancel(payment: Cancelable, isDirect: boolean, underWay: Ending | undefined): EndingDecision {
  const { outcome } = payment;
  if (outcome === "canceled") return { kind: "done" };
  const isPaid = outcome === "succeeded" && !isAuthorized(payment);
  const isOver = outcome === "failed" && (isDirect || isReturned(payment));
  if (isPaid || isOver || underWay?.kind === "capture") return { kind: "refused", reason: "NOT_CANCELABLE" };
  return underWay ? { kind: "joined" } : { kind: "reserved", amount: 0n };
}
