// Refunds. Pending and succeeded ones never exceed the captured amount. A disputed charge is not refunded, since the
// bank already takes the money.
import {
  type Change,
  type Intent,
  type Refund,
  type RefundStatus,
  type Refusal,
  type Timestamp,
  withObject,
} from "./intent.ts";
import { testCardNamed } from "./test-card.ts";

interface RefundFacts {
  readonly id: string;
  /** Minor units. */
  readonly amount: number;
  readonly status: "pending" | "succeeded";
  readonly reason: string | null;
  readonly reference: string | null;
  readonly now: Timestamp;
}

const refundsMax = 100; // limits the size of an intent and its events

export function createRefund(intent: Intent, facts: RefundFacts): Change | Refusal {
  if (intent.status !== "succeeded")
    return { refused: "intent_not_refundable", message: `An intent that is ${intent.status} cannot be refunded.` };
  if (intent.disputes.some((dispute) => ["needs_response", "under_review", "lost"].includes(dispute.status)))
    return { refused: "charge_disputed", message: "A disputed charge cannot be refunded." };
  const remaining = intent.captured_amount - intent.refunded_amount;
  if (remaining <= 0) return { refused: "charge_already_refunded", message: "The charge has been refunded." };
  if (facts.amount > remaining)
    return { refused: "amount_too_large", message: "The amount exceeds what is left of the charge." };
  if (intent.refunds.length >= refundsMax)
    return { refused: "intent_not_refundable", message: `An intent has at most ${refundsMax} refunds.` };
  const { now, ...rest } = facts;
  const refund: Refund = {
    ...rest,
    account: intent.account,
    intent_id: intent.id,
    failure_code: null,
    failure_message: null,
    created_at: now,
    moved_at: now,
  };
  const paidBy = intent.attempts.find((attempt) => attempt.status === "succeeded");
  const { outcome } = testCardNamed(paidBy?.behaviour ?? "");
  const willFail = outcome.kind === "succeeds" && outcome.later === "refund_fails";
  return {
    intent: withRefund(intent, refund),
    events: ["refund.created"],
    delayed: willFail ? [{ kind: "fail_refund", object_id: refund.id, delays: 1 }] : [],
  };
}

/** Allowed transitions: a returned refund is final. */
const refundMoves: Readonly<Record<RefundStatus, readonly RefundStatus[]>> = {
  pending: ["succeeded", "failed", "canceled"],
  succeeded: ["failed"],
  failed: [],
  canceled: [],
};

/** @returns null when it has that status already */
export function moveRefund(
  intent: Intent,
  refundId: string,
  to: { readonly status: RefundStatus; readonly failure_code: string | null; readonly now: Timestamp },
): Change | Refusal | null {
  const refund = intent.refunds.find((one) => one.id === refundId);
  if (!refund || refund.status === to.status) return null;
  if (!refundMoves[refund.status].includes(to.status))
    return { refused: "refund_not_movable", message: `A refund that is ${refund.status} cannot become ${to.status}.` };
  const isFailed = to.status === "failed";
  const next: Refund = {
    ...refund,
    status: to.status,
    failure_code: isFailed ? (to.failure_code ?? "unknown") : null,
    failure_message: isFailed ? "The refund could not be paid out." : null,
    moved_at: to.now,
  };
  return { intent: withRefund(intent, next), events: ["refund.updated"] };
}

/** The only code that computes refunded_amount. */
function withRefund(intent: Intent, refund: Refund): Intent {
  const refunds = withObject(intent.refunds, refund);
  const counted = refunds.filter(({ status }) => status === "pending" || status === "succeeded");
  return { ...intent, refunds, refunded_amount: counted.reduce((sum, { amount }) => sum + amount, 0) };
}
