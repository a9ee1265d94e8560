// What can still be done with a payment, as far as its record tells; the payments service decides.
import { currencyExponent } from "#platform/values/money.ts";
import type { ListedPayment, Payment } from "#proto/payments/v1/payments_pb.ts";

/** In major units, of one payment: above it a person who finds an open browser must not give money away. */
const proofAboveMajor = 10_000n;

/** The same in the currency's minor units. */
export function proofAbove(currency: string): bigint {
  return proofAboveMajor * 10n ** BigInt(currencyExponent(currency) ?? 0);
}

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
