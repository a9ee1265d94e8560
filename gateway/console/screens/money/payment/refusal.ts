// Possible actions on a payment by its stored record, and refusals of forms that move money, with their text and the
// key of a retry: the same key if the action may have happened, a new one if it was refused for good.
import { asFailure, Failure, type FailureReason } from "#platform/values/failure.ts";
import { currencyExponent } from "#platform/values/money.ts";
import type { ListedPayment, Payment } from "#proto/payments/v1/payments_pb.ts";
import { idParam } from "../../../http/address.ts";
import { freshKey, onceKey } from "../../../http/once.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";

/** The payment of the address. @throws Failure NOT_FOUND */
export async function paymentOf({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Payment> {
  const { merchantId, environment } = visit;
  const paymentId = idParam(visit, "paymentId", "payment");
  const { payment } = await peers.payments.getPayment({ merchantId, environment, paymentId });
  if (!payment) throw new Failure("NOT_FOUND");
  return payment;
}

const refusals = {
  NOT_REFUNDABLE: { text: "notRefundable", keepsKey: false },
  NOT_CAPTURABLE: { text: "notCapturable", keepsKey: false },
  NOT_CANCELABLE: { text: "notCancelable", keepsKey: false },
  AMOUNT_TOO_LARGE: { text: "tooLarge", keepsKey: false },
  FEATURE_DISABLED: { text: "disabled", keepsKey: false },
  INVALID_BODY: { text: "amountWrong", keepsKey: false },
  IDEMPOTENCY_KEY_REUSE: { text: "changed", keepsKey: false },
  IDEMPOTENCY_CONFLICT: { text: "busy", keepsKey: true },
  CONNECTOR_ERROR: { text: "processorRejected", keepsKey: true },
  SERVICE_UNAVAILABLE: { text: "unknown", keepsKey: true },
} as const satisfies { readonly [R in FailureReason]?: unknown };

/** `keepsKey`: the outcome is open or unknown, so a retry uses the same key. */
export type PaymentRefusal = (typeof refusals)[keyof typeof refusals];

/** Undefined for any other error. */
export function refusedOf(error: unknown): PaymentRefusal | undefined {
  const { reason } = asFailure(error);
  return new Map(Object.entries(refusals)).get(reason);
}

type Act = "refund" | "capture" | "cancel";

/** The page's key, equal in every tab that shows the payment in this state. */
export function keyOf(act: Act, { id, refunds }: Payment): string {
  return onceKey(act, id, refunds.length);
}

/** The key of the page after a refusal. */
export function keyAfter(act: Act, payment: Payment, key: string, { keepsKey }: PaymentRefusal): string {
  if (keepsKey) return key;
  const now = keyOf(act, payment);
  return now === key || key.startsWith(`${now}:`) ? freshKey(act, payment.id, payment.refunds.length) : now;
}

/** Per payment, in major units. Limits what a person at an unlocked computer can give away. */
const proofAboveMajor = 10_000n;

/** Minor units above which an action needs fresh proof. */
export function proofAbove(currency: string): bigint {
  return proofAboveMajor * 10n ** BigInt(currencyExponent(currency) ?? 0);
}

/** The most of one payment that the person may refund; undefined: no limit. Without one in this currency it is 0. */
export function refundLimitIn({ refundLimit }: MerchantVisit["membership"], currency: string): bigint | undefined {
  if (!refundLimit) return undefined;
  return refundLimit.currency === currency ? refundLimit.amount : (refundLimit.others[currency] ?? 0n);
}

/** Refundable minor units; 0 while a dispute holds the money. */
export function refundableAmount({ status, capturedAmount, refundedAmount }: Payment): bigint {
  if (status !== "succeeded" && status !== "partially_refunded") return 0n;
  return capturedAmount - refundedAmount;
}

/** The most that the person may refund now, by the stored record. */
export function refundableBy({ membership }: MerchantVisit, payment: Payment): bigint {
  const left = refundableAmount(payment);
  const limit = refundLimitIn(membership, payment.currency);
  if (limit === undefined) return left;
  const within = limit - payment.refundedAmount;
  if (within >= left) return left;
  return within < 0n ? 0n : within;
}

/** True for an authorization that waits for manual capture. */
export function mayCapture({ status, captureMethod, capturedAmount, authorizedAt }: Payment | ListedPayment): boolean {
  return status === "succeeded" && captureMethod === "manual" && capturedAmount === 0n && authorizedAt !== undefined;
}

export function mayCancel(payment: Payment): boolean {
  return mayCapture(payment) || ["pending", "requires_action"].includes(payment.status);
}
