// The refund machine, the match of a processor's report with a refund, and the limits of refunds (docs/contract.md §5).
// Pure.
import assert from "node:assert/strict";
import type { Movement } from "./journal.ts";
import type { DisputeHold, Outcome, PaymentState } from "./payment.ts";

export type RefundStatus = "pending" | "succeeded" | "failed" | "canceled";

/** A stored refund without its owner. */
export interface Refund {
  readonly id: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly status: RefundStatus;
  /** Empty until the processor has it. */
  readonly connectorRef: string;
  readonly reason: string;
  readonly failureCode: string;
  readonly failureMessage: string;
  /** The processor has acknowledged it. */
  readonly acknowledged: boolean;
  /** A second refund under our reference, which was not requested. Its money is in `suspense`. */
  readonly unasked: boolean;
  readonly createdAt: Date;
}

/** A refund as its processor reports it. */
export interface RefundReport {
  /** The processor's id; empty: it was never made. */
  readonly ref: string;
  /** Our refund id; empty for a refund made in the processor's dashboard. */
  readonly reference: string;
  readonly amount: bigint;
  readonly status: RefundStatus;
  readonly reason: string;
  readonly failureCode: string;
  readonly failureMessage: string;
  readonly createdAt: Date;
}

/** Longest reason, characters (docs/contract.md §5). */
const reasonMax = 255;

interface Refundable {
  readonly outcome: Outcome;
  readonly capturedAmount: bigint;
  readonly refundedAmount: bigint;
  readonly disputeHold: DisputeHold;
}

type RefundDecision =
  | { readonly kind: "reserved"; readonly amount: bigint }
  | { readonly kind: "refused"; readonly reason: "NOT_REFUNDABLE" | "AMOUNT_TOO_LARGE" };

/**
 * How much a new refund takes. @param amount minor units; undefined: all that is left
 * @param refundedAtMost limit of all refunds of the payment together, which small refunds cannot evade
 */
export function decideRefund(
  payment: Refundable,
  amount: bigint | undefined,
  refundedAtMost: bigint = payment.capturedAmount,
): RefundDecision {
  const left = payment.capturedAmount - payment.refundedAmount;
  if (payment.outcome !== "succeeded" || payment.disputeHold !== "none" || left <= 0n) {
    return { kind: "refused", reason: "NOT_REFUNDABLE" };
  }
  const requested = amount ?? left;
  const most = refundedAtMost < payment.capturedAmount ? refundedAtMost : payment.capturedAmount;
  if (payment.refundedAmount + requested > most) return { kind: "refused", reason: "AMOUNT_TOO_LARGE" };
  assert(requested > 0n && requested <= left, "a refund takes from what was captured");
  return { kind: "reserved", amount: requested };
}

// Forward only. A bank can return a succeeded refund days later.
const moves: { readonly [From in RefundStatus]: readonly RefundStatus[] } = {
  pending: ["succeeded", "failed", "canceled"],
  succeeded: ["failed"],
  failed: [],
  canceled: [],
};

type RefundMove =
  | {
      readonly kind: "moved";
      /** Minor units to subtract from the payment's refunded amount: the whole refund if it failed, else 0. */
      readonly restoredAmount: bigint;
      readonly movements: readonly Movement[];
    }
  | { readonly kind: "ignored"; readonly reason: string };

type MovedRefund = Pick<Refund, "id" | "status" | "amount"> & { readonly unasked?: boolean };

/** Moves a refund to the reported status. */
export function moveRefund(refund: MovedRefund, to: RefundStatus): RefundMove {
  if (refund.status === to) return { kind: "ignored", reason: "already known" };
  if (!moves[refund.status].includes(to)) return { kind: "ignored", reason: `a ${refund.status} refund stays` };
  const movement = { cause: refund.id, amount: refund.amount };
  if (to === "succeeded") {
    const movements: Movement[] = refund.unasked ? [] : [{ kind: "refund_paid", ...movement }];
    return { kind: "moved", restoredAmount: 0n, movements };
  }
  const own = refund.status === "succeeded" ? "refund_returned" : "refund_released";
  const kind = refund.unasked ? "suspense_refund_released" : own;
  return { kind: "moved", restoredAmount: refund.amount, movements: [{ kind, ...movement }] };
}

/** True for a refund that takes from what is left. */
export function isCounted(status: RefundStatus): boolean {
  return status === "pending" || status === "succeeded";
}

/** The movements of a new refund that is first reported in this status. */
export function openingMovements(refund: MovedRefund): readonly Movement[] {
  const movement = { cause: refund.id, amount: refund.amount };
  if (refund.unasked) return isCounted(refund.status) ? [{ kind: "suspense_refunded", ...movement }] : [];
  if (refund.status === "pending") return [{ kind: "refund_reserved", ...movement }];
  if (refund.status !== "succeeded") return [];
  return [
    { kind: "refund_reserved", ...movement },
    { kind: "refund_paid", ...movement },
  ];
}

export interface ChangedRefund {
  readonly refund: Refund;
  readonly isNew: boolean;
  /** The processor acknowledges it for the first time, which ends its operation. */
  readonly isAcknowledged: boolean;
}

type RefundChange =
  | (ChangedRefund & {
      readonly kind: "changed";
      /** Change of the payment's refunded amount. */
      readonly refunded: bigint;
      readonly movements: readonly Movement[];
      readonly announce: readonly string[];
    })
  /** `mustWait`: it does not fit yet. */
  | { readonly kind: "ignored"; readonly reason: string; readonly mustWait?: true };

/**
 * Applies a report about one refund. @param known the payment's refunds
 * @param hasExcess what does not fit belongs to an excess capture
 * @param newId an id for a new refund with this reference; empty: a fresh one
 */
export function applyRefundReport(
  state: PaymentState,
  known: readonly Refund[],
  report: RefundReport,
  hasExcess: boolean,
  newId: (reference: string) => string,
): RefundChange {
  const same = known.find((refund) => report.ref !== "" && refund.connectorRef === report.ref);
  if (same) return changeRefund(same, report);
  const named = known.find((refund) => refund.id === report.reference);
  if (!named) return importRefund(state, report, hasExcess, false, newId);
  if (isSecond(named, report)) return importRefund(state, report, false, true, newId);
  if (report.ref === "" && named.connectorRef !== "") {
    return { kind: "ignored", reason: `refund ${named.id}: it was made meanwhile` };
  }
  return changeRefund(named, report);
}

/** True for a refund other than the known one under this reference, or for one that we gave up. */
function isSecond(known: Refund, report: RefundReport): boolean {
  if (report.ref === "") return false;
  return (
    known.amount !== report.amount ||
    known.connectorRef !== "" ||
    (known.status === "failed" && isCounted(report.status))
  );
}

function changeRefund(known: Refund, report: RefundReport): RefundChange {
  const move = moveRefund(known, report.status);
  if (move.kind === "ignored" && known.acknowledged && known.connectorRef !== "") {
    return { kind: "ignored", reason: `refund ${known.id}: ${move.reason}` };
  }
  const { status, failureCode, failureMessage } = move.kind === "moved" ? report : known;
  const connectorRef = known.connectorRef || report.ref;
  const refund = { ...known, connectorRef, status, failureCode, failureMessage, acknowledged: true };
  return {
    kind: "changed",
    refund,
    isNew: false,
    isAcknowledged: !known.acknowledged,
    refunded: move.kind === "moved" ? -move.restoredAmount : 0n,
    movements: move.kind === "moved" ? move.movements : [],
    announce: refundEvents(known, refund),
  };
}

/** A refund from the processor's dashboard, one that a restored database lost, or a second one under our reference. */
function importRefund(
  state: PaymentState,
  report: RefundReport,
  hasExcess: boolean,
  unasked: boolean,
  newId: (reference: string) => string,
): RefundChange {
  const { status, ref: connectorRef, reason, failureCode, failureMessage, createdAt } = report;
  const left = refundableOf(state);
  const amount = hasExcess && isCounted(status) && report.amount > left ? left : report.amount;
  if (amount <= 0n) return { kind: "ignored", reason: `refund ${connectorRef}: part of an excess capture` };
  if (isCounted(status) && amount > left) {
    // A refund of ours that the processor never got may hold the amount; the reconcile job settles that one first.
    return {
      kind: "ignored",
      reason: `refund ${connectorRef}: more than is left; waits until it fits`,
      mustWait: true,
    };
  }
  const text = { reason: reason.slice(0, reasonMax), failureCode, failureMessage };
  const id = newId(unasked ? "" : report.reference);
  const refund = { id, amount, status, connectorRef, ...text, acknowledged: true, unasked, createdAt };
  return {
    kind: "changed",
    refund,
    isNew: true,
    isAcknowledged: false,
    refunded: isCounted(status) ? amount : 0n,
    movements: openingMovements(refund),
    announce: refundEvents({ acknowledged: false, status: "pending" }, refund),
  };
}

/**
 * The amount that a refund at the processor can have. While nothing is captured, it belongs to a returned debit,
 * whatever other attempts did since.
 */
function refundableOf({ amount, capturedAmount, refundedAmount, failedAttempts }: PaymentState): bigint {
  const isReturned = capturedAmount === 0n && failedAttempts > 0;
  return (isReturned ? amount : capturedAmount) - refundedAmount;
}

/** payment.refunded when a refund is acknowledged or succeeds, and how it ended (docs/contract.md §9). */
function refundEvents(before: Pick<Refund, "status" | "acknowledged">, after: Refund): string[] {
  const isMoved = before.status !== after.status;
  if (!isCounted(after.status)) return isMoved ? ["payment.refund_failed"] : [];
  const isPaid = isMoved && after.status === "succeeded";
  return [
    ...(isMoved || !before.acknowledged ? ["payment.refunded"] : []),
    ...(isPaid ? ["payment.refund_succeeded"] : []),
  ];
}
