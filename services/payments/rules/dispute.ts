// The dispute machine: how a dispute's status affects the payment and the money it holds (docs/contract.md §5). Pure.
import type { Movement } from "./journal.ts";
import type { DisputeHold, PaymentState } from "./payment.ts";

export type DisputeStatus =
  | "warning_needs_response"
  | "warning_under_review"
  | "warning_closed"
  | "needs_response"
  | "under_review"
  | "won"
  | "lost";

export interface Dispute {
  readonly id: string;
  readonly connectorRef: string;
  readonly status: DisputeStatus;
  /** Minor units of the first report that held money: the same amount is released. */
  readonly amount: bigint;
  /** The disputed debit was returned: the dispute holds nothing from then on, in any status. */
  readonly released: boolean;
}

/** A dispute as its processor reports it. */
export interface DisputeReport {
  readonly ref: string;
  readonly amount: bigint;
  readonly status: DisputeStatus;
  readonly reason: string;
  readonly openedAt: Date;
  /** Deadline for evidence; absent: none, or not reported. */
  readonly evidenceDueAt?: Date | undefined;
  /** Our id of the evidence it received last; absent or empty: not ours, or not reported. */
  readonly evidenceReference?: string;
}

export type ChangedDispute = Dispute & Pick<DisputeReport, "reason" | "openedAt" | "evidenceDueAt">;

/** Progress of a dispute; a report of a lower rank is late and ignored. */
const rank: { readonly [S in DisputeStatus]: number } = {
  warning_needs_response: 0,
  warning_under_review: 1,
  warning_closed: 2,
  needs_response: 3,
  under_review: 4,
  // The scheme can overturn a decision, so neither outranks the other.
  won: 5,
  lost: 5,
};

/** The hold of a dispute in this status; inquiries and won disputes hold nothing. */
export function holdOf(status: DisputeStatus): DisputeHold {
  if (status === "needs_response" || status === "under_review") return "open";
  return status === "lost" ? "lost" : "none";
}

/** The hold of all disputes of a payment: that of the open ones, else of the lost ones. */
export function holdOfAll(disputes: readonly Dispute[]): Pick<PaymentState, "disputeHold" | "disputedAmount"> {
  const holding = disputes.filter(({ released }) => !released);
  for (const disputeHold of ["open", "lost"] as const) {
    const deciding = holding.filter(({ status }) => holdOf(status) === disputeHold);
    const disputedAmount = deciding.reduce((sum, { amount }) => sum + amount, 0n);
    if (deciding.length > 0) return { disputeHold, disputedAmount };
  }
  return { disputeHold: "none", disputedAmount: 0n };
}

type DisputeMove =
  | {
      readonly kind: "moved";
      readonly hold: DisputeHold;
      readonly announce: readonly string[];
      readonly movements: readonly Movement[];
    }
  | { readonly kind: "ignored"; readonly reason: string };

/** Moves a dispute. @param from undefined: it is new. */
export function moveDispute(
  dispute: { readonly id: string; readonly amount: bigint },
  from: DisputeStatus | undefined,
  to: DisputeStatus,
): DisputeMove {
  if (from === to) return { kind: "ignored", reason: "already known" };
  if (from !== undefined && rank[to] < rank[from]) return { kind: "ignored", reason: `a ${from} dispute stays` };
  const before = from === undefined ? "none" : holdOf(from);
  const after = holdOf(to);
  // A report of its end may arrive before the report of its opening.
  const opened = (from === undefined || isInquiry(from)) && !isInquiry(to);
  const kinds = holdMovements[before][after];
  return {
    kind: "moved",
    hold: after,
    announce: [...(opened ? ["payment.disputed"] : []), eventOf(from, to)],
    movements: kinds.map((kind) => ({ kind, cause: dispute.id, amount: dispute.amount })),
  };
}

/** A bank's question about the payment, which holds nothing yet. */
function isInquiry(status: DisputeStatus): boolean {
  return status.startsWith("warning_");
}

type HoldMovement = "dispute_held" | "dispute_released" | "dispute_lost" | "dispute_recovered";

const holdMovements: {
  readonly [From in DisputeHold]: { readonly [To in DisputeHold]: readonly HoldMovement[] };
} = {
  none: { none: [], open: ["dispute_held"], lost: ["dispute_held", "dispute_lost"] },
  open: { none: ["dispute_released"], open: [], lost: ["dispute_lost"] },
  lost: { none: ["dispute_recovered"], open: [], lost: [] },
};

function eventOf(from: DisputeStatus | undefined, to: DisputeStatus): string {
  if (to === "won" || to === "lost") return `dispute.${to}`;
  if (to === "warning_closed") return "dispute.closed";
  return from === undefined ? "dispute.created" : "dispute.updated";
}

type DisputeChange =
  | {
      readonly kind: "changed";
      readonly dispute: ChangedDispute;
      readonly announce: readonly string[];
      readonly movements: readonly Movement[];
    }
  | { readonly kind: "ignored"; readonly reason: string };

/** Applies a report about one dispute. @param known undefined: it is new. */
export function applyDisputeReport(
  state: PaymentState,
  known: Dispute | undefined,
  report: DisputeReport,
  newId: () => string,
): DisputeChange {
  const { ref: connectorRef, status, reason, openedAt, evidenceDueAt } = report;
  // An inquiry's amount may grow until money is held.
  const amount = known && !isInquiry(known.status) ? known.amount : report.amount;
  if (amount <= 0n) return { kind: "ignored", reason: `dispute ${connectorRef}: it is about no money` };
  const id = known?.id ?? newId();
  const move = moveDispute({ id, amount }, known?.status, status);
  if (move.kind === "ignored") return { kind: "ignored", reason: `dispute ${id}: ${move.reason}` };
  const released = known?.released ?? isOfReturnedDebit(state, report);
  const dispute = { id, connectorRef, status, amount, released, reason, openedAt, evidenceDueAt };
  return { kind: "changed", dispute, announce: move.announce, movements: released ? [] : move.movements };
}

/** True for a new dispute of a returned debit: nothing is paid, or an attempt that began after its opening paid. */
function isOfReturnedDebit({ outcome, lastAttemptAt, failedAttempts }: PaymentState, { openedAt }: DisputeReport) {
  if (outcome !== "succeeded") return true;
  return failedAttempts > 0 && lastAttemptAt !== undefined && secondOf(openedAt) < secondOf(lastAttemptAt);
}

/**
 * Processors report a dispute's opening in whole seconds: one opened in the attempt's own second is of that attempt.
 */
function secondOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
