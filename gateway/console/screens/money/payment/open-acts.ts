// What can still be done with a payment, as far as its record tells; the payments service decides.
import type { ListedPayment, Payment } from "#proto/payments/v1/payments_pb.ts";

/** Minor units that can be refunded; 0: nothing, also while a dispute holds the money. */
export function leftOf({ status, capturedAmount, refundedAmount }: Payment): bigint {
  if (status !== "succeeded" && status !== "partially_refunded") return 0n;
  return capturedAmount - refundedAmount;
}

/** Authorized, and waits for its merchant. */
export function mayCapture({ status, captureMethod, capturedAmount, authorizedAt }: Payment | ListedPayment): boolean {
  return status === "succeeded" && captureMethod === "manual" && capturedAmount === 0n && authorizedAt !== undefined;
}

/** Nothing is captured, and it has not ended. */
export function mayCancel(payment: Payment): boolean {
  return mayCapture(payment) || ["pending", "requires_action"].includes(payment.status);
}
