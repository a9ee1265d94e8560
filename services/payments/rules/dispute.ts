// The dispute machine: what a dispute's status does to the payment and to the money it holds (docs/contract.md §5).
// Pure.
import type { Movement } from "./journal.ts";
import type { DisputeHold } from "./payment.ts";

export type DisputeStatus =
  | "warning_needs_response"
  | "warning_under_review"
  | "warning_closed"
  | "needs_response"
  | "under_review"
  | "won"
  | "lost";

/** A dispute as it stands. */
export interface Dispute {
  readonly id: string;
  readonly connectorRef: string;
  readonly status: DisputeStatus;
  /** Minor units: of the first report that held money, since what was held is what is released. */
  readonly amount: bigint;
  /** The debit that it is about came back: it holds nothing any more, whatever becomes of it. */
  readonly released: boolean;
}

/** What the processor says of a dispute. */
export interface DisputeReport {
  readonly ref: string;
  readonly amount: bigint;
  readonly status: DisputeStatus;
  readonly reason: string;
  readonly openedAt: Date;
  /** Until when evidence can be sent; absent: not at all, or not told. */
  readonly evidenceDueAt?: Date | undefined;
  /** Our id of the evidence that it was sent last; absent or empty: none of ours, or not told. */
  readonly evidenceReference?: string;
}

/** How far a dispute has come; a report that lies behind is late and ignored. */
const rank: { readonly [S in DisputeStatus]: number } = {
  warning_needs_response: 0,
  warning_under_review: 1,
  warning_closed: 2,
  needs_response: 3,
  under_review: 4,
  // Decisions can be overturned once more by the scheme, so neither outranks the other.
  won: 5,
  lost: 5,
};

/** What a dispute in this status holds; inquiries and won disputes hold nothing. */
export function holdOf(status: DisputeStatus): DisputeHold {
  if (status === "needs_response" || status === "under_review") return "open";
  return status === "lost" ? "lost" : "none";
}

export type DisputeChange =
  | {
      readonly kind: "moved";
      readonly hold: DisputeHold;
      readonly announce: readonly string[];
      readonly movements: readonly Movement[];
    }
  | { readonly kind: "ignored"; readonly reason: string };

/** Moves a dispute; `from` is undefined for one that is new to us. @param amount minor units. */
export function moveDispute(
  dispute: { id: string; amount: bigint },
  from: DisputeStatus | undefined,
  to: DisputeStatus,
): DisputeChange {
  if (from === to) return { kind: "ignored", reason: "already known" };
  if (from !== undefined && rank[to] < rank[from]) return { kind: "ignored", reason: `a ${from} dispute stays` };
  const before = from === undefined ? "none" : holdOf(from);
  const after = holdOf(to);
  // Also when its opening was never heard of, because the news of its end overtook it.
  const opened = (from === undefined || isInquiry(from)) && !isInquiry(to);
  const kinds = holdMovements[before][after];
  return {
    kind: "moved",
    hold: after,
    announce: [opened ? ["payment.disputed"] : [], [eventOf(from, to)]].flat(),
    movements: kinds.map((kind) => ({ kind, cause: dispute.id, amount: dispute.amount })),
  };
}

/** A bank asks about the payment, and holds nothing yet. */
export function isInquiry(status: DisputeStatus): boolean {
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
