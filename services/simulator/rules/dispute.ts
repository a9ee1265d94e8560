// Disputes. Inquiries (warning_*) move no money; from needs_response on the money is withheld.
import {
  type Change,
  type Dispute,
  type DisputeStatus,
  type Evidence,
  type Intent,
  type Refusal,
  type Timestamp,
  withObject,
} from "./intent.ts";

interface DisputeFacts {
  readonly id: string;
  /** Minor units; null: the captured amount. */
  readonly amount: number | null;
  readonly reason: string;
  readonly status: "needs_response" | "warning_needs_response";
  readonly now: Timestamp;
}

const evidenceDays = 7; // the minimum of card networks
const disputesMax = 20; // limits the size of an intent

export function openDispute(intent: Intent, facts: DisputeFacts): Change | Refusal {
  if (intent.status !== "succeeded")
    return { refused: "intent_not_disputable", message: "Only a succeeded intent can be disputed." };
  const amount = facts.amount ?? intent.captured_amount;
  if (amount > intent.captured_amount)
    return { refused: "amount_too_large", message: "The amount exceeds what was captured." };
  if (intent.disputes.length >= disputesMax)
    return { refused: "intent_not_disputable", message: `An intent has at most ${disputesMax} disputes.` };
  const dispute: Dispute = {
    id: facts.id,
    account: intent.account,
    intent_id: intent.id,
    amount,
    status: facts.status,
    reason: facts.reason,
    opened_at: facts.now,
    evidence_due_at: new Date(Date.parse(facts.now) + evidenceDays * 86_400_000).toISOString(),
    evidence_reference: null,
    evidence: null,
    evidence_at: null,
    closed_at: null,
    moved_at: facts.now,
  };
  return { intent: { ...intent, disputes: withObject(intent.disputes, dispute) }, events: ["dispute.opened"] };
}

const disputeMoves: Readonly<Record<DisputeStatus, readonly DisputeStatus[]>> = {
  warning_needs_response: ["warning_under_review", "warning_closed", "needs_response"],
  warning_under_review: ["warning_closed", "needs_response"],
  warning_closed: [],
  needs_response: ["under_review", "won", "lost"],
  under_review: ["won", "lost"],
  won: [],
  lost: [],
};

/** @returns null: it has the status already */
export function moveDispute(
  intent: Intent,
  disputeId: string,
  status: DisputeStatus,
  now: Timestamp,
): Change | Refusal | null {
  const dispute = intent.disputes.find((one) => one.id === disputeId);
  if (!dispute || dispute.status === status) return null;
  if (!disputeMoves[dispute.status].includes(status))
    return { refused: "dispute_not_movable", message: `A dispute that is ${dispute.status} cannot become ${status}.` };
  const isClosed = disputeMoves[status].length === 0;
  const next: Dispute = { ...dispute, status, closed_at: isClosed ? now : null, moved_at: now };
  return {
    intent: { ...intent, disputes: withObject(intent.disputes, next) },
    events: [isClosed ? "dispute.closed" : "dispute.updated"],
  };
}

/** Sends a merchant's evidence to the bank once; then the dispute is under review. */
export function submitEvidence(
  intent: Intent,
  disputeId: string,
  { reference, evidence, now }: { reference: string; evidence: Evidence; now: Timestamp },
): Change | Refusal | null {
  const dispute = intent.disputes.find((one) => one.id === disputeId);
  if (!dispute) return null;
  const status = reviewed[dispute.status];
  if (!status) return notAnswerable(`A dispute that is ${dispute.status} takes no evidence.`);
  if (Date.parse(now) > Date.parse(dispute.evidence_due_at)) return notAnswerable("The time for evidence is over.");
  const next: Dispute = {
    ...dispute,
    status,
    evidence_reference: reference,
    evidence,
    evidence_at: now,
    moved_at: now,
  };
  return {
    intent: { ...intent, disputes: withObject(intent.disputes, next) },
    events: ["dispute.updated"],
    delayed: verdictOf(next) ? [{ kind: "decide_dispute", object_id: disputeId, delays: 1 }] : [],
  };
}

/** Status after evidence, by the status before. */
const reviewed: Readonly<Partial<Record<DisputeStatus, DisputeStatus>>> = {
  warning_needs_response: "warning_under_review",
  needs_response: "under_review",
};

/** Decides a dispute by the two magic texts. @returns null: the evidence contains neither */
export function decideDispute(intent: Intent, disputeId: string, now: Timestamp): Change | Refusal | null {
  const dispute = intent.disputes.find((one) => one.id === disputeId);
  const verdict = dispute && verdictOf(dispute);
  return verdict ? moveDispute(intent, disputeId, verdict, now) : null;
}

/** Outcome of an inquiry: closed, or a dispute. */
function verdictOf({ status, evidence }: Dispute): DisputeStatus | undefined {
  const isInquiry = status.startsWith("warning_");
  if (evidence?.uncategorized_text === "winning_evidence") return isInquiry ? "warning_closed" : "won";
  if (evidence?.uncategorized_text === "losing_evidence") return isInquiry ? "needs_response" : "lost";
  return undefined;
}

/** Accepts a dispute; an inquiry is ended by a refund instead. @returns null: it is lost already */
export function acceptDispute(intent: Intent, disputeId: string, now: Timestamp): Change | Refusal | null {
  const dispute = intent.disputes.find((one) => one.id === disputeId);
  if (!dispute || dispute.status === "lost") return null;
  if (dispute.status !== "needs_response")
    return notAnswerable(`A dispute that is ${dispute.status} cannot be accepted.`);
  return moveDispute(intent, disputeId, "lost", now);
}

function notAnswerable(message: string): Refusal {
  return { refused: "dispute_not_answerable", message };
}
