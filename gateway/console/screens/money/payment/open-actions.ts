// Possible actions on a payment, by its stored record. The payments service decides.
import { currencyExponent } from "#platform/values/money.ts";
import type { ListedPayment, Payment } from "#proto/payments/v1/payments_pb.ts";

/** Per payment, in major units. Limits what a person at an unlocked computer can give away. */
const proofAboveMajor = 10_000n;

/** Minor units above which an action needs fresh proof. */
export function proofAbove(currency: string): bigint {
  return proofAboveMajor * 10n ** BigInt(currencyExponent(currency) ?? 0);
}

/** Refundable minor units; 0 while a dispute holds the money. */
export function refundableAmount({ status, capturedAmount, refundedAmount }: Payment): bigint {
  if (status !== "succeeded" && status !== "partially_refunded") return 0n;
  return capturedAmount - refundedAmount;
}

/** True for an authorization that waits for manual capture. */
export function mayCapture({ status, captureMethod, capturedAmount, authorizedAt }: Payment | ListedPayment): boolean {
  return status === "succeeded" && captureMethod === "manual" && capturedAmount === 0n && authorizedAt !== undefined;
}

export function mayCancel(payment: Payment): boolean {
  return mayCapture(payment) || ["pending", "requires_action"].includes(payment.status);
}
