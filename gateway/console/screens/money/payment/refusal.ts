// What a person is told when a form that moves money was refused, and under which key they try again: under the same
// where it may have been done, under another where it was refused for good.
import { asFailure, type FailureReason } from "#platform/values/failure.ts";
import type { Payment } from "#proto/payments/v1/payments_pb.ts";
import { freshKey, onceKey } from "../../../http/once.ts";

const refusals = {
  NOT_REFUNDABLE: { text: "notRefundable", keepsKey: false },
  NOT_CAPTURABLE: { text: "notCapturable", keepsKey: false },
  NOT_CANCELABLE: { text: "notCancelable", keepsKey: false },
  AMOUNT_TOO_LARGE: { text: "tooLarge", keepsKey: false },
  FEATURE_DISABLED: { text: "disabled", keepsKey: false },
  INVALID_BODY: { text: "amountWrong", keepsKey: false },
  IDEMPOTENCY_KEY_REUSE: { text: "changed", keepsKey: false },
  IDEMPOTENCY_CONFLICT: { text: "busy", keepsKey: true },
  CONNECTOR_ERROR: { text: "processorNo", keepsKey: true },
  SERVICE_UNAVAILABLE: { text: "unknown", keepsKey: true },
} as const satisfies { readonly [R in FailureReason]?: unknown };

/** `text`: what is told. `keepsKey`: the same key again, since nothing was decided, or nobody knows what. */
export type PaymentRefusal = (typeof refusals)[keyof typeof refusals];

/** Undefined: no refusal of this, but a defect or a page that is not there. */
export function refusedOf(error: unknown): PaymentRefusal | undefined {
  const { reason } = asFailure(error);
  return new Map(Object.entries(refusals)).get(reason);
}

/** A page's key: the same in every tab that shows the payment in this state. */
export function keyOf(act: "refund" | "capture" | "cancel", { id, refunds }: Payment): string {
  return onceKey(act, id, refunds.length);
}

/** The key with which the page is shown again. */
export function keyAfter(
  act: "refund" | "capture" | "cancel",
  payment: Payment,
  key: string,
  { keepsKey }: PaymentRefusal,
): string {
  if (keepsKey) return key;
  const now = keyOf(act, payment);
  return now === key || key.startsWith(`${now}:`) ? freshKey(act, payment.id, payment.refunds.length) : now;
}
