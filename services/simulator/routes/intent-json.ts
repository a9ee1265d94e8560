// The public JSON of intents, refunds and disputes, field by field, so that no other field is exposed.
import type { Attempt, Dispute, Intent, Refund } from "../rules/intent.ts";

export type IntentJson = ReturnType<typeof presentIntent>;

/** @param publicUrl our origin, for the receipt's URL */
export function presentIntent(intent: Intent, publicUrl: string) {
  return {
    id: intent.id,
    account: intent.account,
    amount: intent.amount,
    currency: intent.currency,
    reference: intent.reference,
    description: intent.description,
    capture_method: intent.capture_method,
    status: intent.status,
    client_secret: intent.client_secret,
    captured_amount: intent.captured_amount,
    created_at: intent.created_at,
    capture_before: intent.capture_before,
    captured_at: intent.paid_at,
    page_expires_at: intent.page_expires_at,
    renewal: intent.renewal,
    payment_methods: intent.payment_methods ?? ["card"],
    canceled_at: intent.canceled_at,
    cancellation_reason: intent.cancellation_reason,
    receipt_url: receiptUrl(intent, publicUrl),
    attempts: intent.attempts.map(presentAttempt),
    refunds: intent.refunds.map(presentRefund),
    disputes: intent.disputes.map(presentDispute),
  };
}

/** Only a paid intent has a receipt. */
export function receiptUrl(intent: Intent, publicUrl: string): string | null {
  return intent.paid_at === null ? null : `${publicUrl}/receipts/${intent.receipt_token}`;
}

function presentAttempt(attempt: Attempt) {
  const { brand, last4, funding, fingerprint, exp_month, exp_year } = attempt;
  const isCard = attempt.method === "card";
  const { avs_line1, avs_zip, cvc_check, three_ds_result, three_ds_version, risk_level, risk_score } = attempt;
  return {
    id: attempt.id,
    status: attempt.status,
    failure_code: attempt.failure_code,
    failure_message: attempt.failure_message,
    authorization_code: attempt.authorization_code,
    created_at: attempt.created_at,
    settled_at: attempt.settled_at,
    payment_method: { type: attempt.method, bank: isCard ? null : { country: attempt.bank_country ?? "", last4 } },
    card: isCard ? { brand, last4, funding, fingerprint, exp_month, exp_year } : null,
    verification: isCard
      ? { avs_line1, avs_zip, cvc_check, three_ds_result, three_ds_version, risk_level, risk_score }
      : null,
  };
}

/** A refund inside its intent; a refund alone has `intent`, too. */
export function presentRefund(refund: Refund) {
  const { id, amount, status, reason, reference, failure_code, failure_message, created_at } = refund;
  return { id, amount, status, reason, reference, failure_code, failure_message, created_at };
}

export function presentDispute(dispute: Dispute) {
  const { id, amount, status, reason, opened_at, evidence_due_at, evidence_reference, closed_at } = dispute;
  return { id, amount, status, reason, opened_at, evidence_due_at, evidence_reference, closed_at };
}
