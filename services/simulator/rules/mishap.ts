// Mishaps of an intent that no caller requests: a returned debit, another amount, a lost intent.
import { type Change, type Intent, type Refusal, type Timestamp, withObject } from "./intent.ts";

/** Returns a settled debit, unless a dispute about it is open or lost: nothing is captured any more, refunds stay. */
export function returnDebit(intent: Intent, now: Timestamp): Change | Refusal {
  const paidBy = intent.attempts.find((attempt) => attempt.status === "succeeded");
  if (intent.status !== "succeeded" || !paidBy)
    return { refused: "intent_not_returnable", message: "Only a succeeded intent's debit can come back." };
  if (intent.disputes.some(({ status }) => status !== "won" && status !== "warning_closed"))
    return { refused: "intent_not_returnable", message: "A dispute about this money is open or lost." };
  const attempt = {
    ...paidBy,
    status: "failed",
    failure_code: "debit_returned",
    failure_message: "The bank returned the debit.",
    settled_at: now,
  } as const;
  return {
    intent: {
      ...intent,
      status: "requires_payment_method",
      captured_amount: 0,
      paid_at: null,
      returned_at: now,
      attempts: withObject(intent.attempts, attempt),
    },
    events: ["intent.attempt_failed"],
  };
}

/** Captures more after the capture. @param amount null: the rest of the authorization; may exceed it */
export function captureMore(intent: Intent, amount: number | null): Change | Refusal {
  const more = amount ?? intent.amount - intent.captured_amount;
  if (intent.status !== "succeeded" || more <= 0)
    return { refused: "intent_not_capturable", message: "Nothing more can be captured." };
  const captured_amount = intent.captured_amount + more;
  return { intent: { ...intent, captured_amount }, events: ["intent.succeeded"] };
}

/** @returns null: it has the amount already */
export function changeAmount(intent: Intent, amount: number): Change | Refusal | null {
  if (intent.status !== "requires_payment_method" && intent.status !== "requires_action")
    return { refused: "intent_not_changeable", message: `An intent that is ${intent.status} keeps its amount.` };
  return intent.amount === amount ? null : { intent: { ...intent, amount }, events: [] };
}

/** Ends the page now. @returns null: it has ended already */
export function endPage(intent: Intent, now: Timestamp): Change | null {
  return intent.status === "expired" ? null : { intent: { ...intent, page_expires_at: now }, events: [] };
}

/** @returns null: it is lost already */
export function loseIntent(intent: Intent, now: Timestamp): Change | null {
  return intent.lost_at === null ? { intent: { ...intent, lost_at: now }, events: [] } : null;
}
