// Unexpected funds: money that a processor took or gave back in a payment's name although nobody asked for it. Each
// object of the processor has one row; what the row holds is the difference between the processor and our books. Pure.
import type { DisputeReport } from "./dispute.ts";
import type { Movement } from "./journal.ts";
import type { IntentFact, PaymentState } from "./payment.ts";
import type { RefundReport } from "./refund.ts";

/**
 * `second_charge`: a paid intent with our reference next to the one that we know. `other_amount`: our intent, with
 * another amount, currency or reference. `excess_capture`: our intent, with more captured than was asked.
 * `second_refund`: a refund with our reference next to the one that we know. `lost_intent`: the processor gave an
 * intent and no longer knows it.
 */
export type FundsKind = "second_charge" | "other_amount" | "excess_capture" | "second_refund" | "lost_intent";
export type FundsState = "open" | "refunding" | "accepted" | "closed";
export type FundsAction = "refund" | "accept" | "close";

/** An intent as its processor reports it. */
export interface ReportedIntent {
  readonly ref: string;
  /** The payment in whose name it was made. */
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly facts: readonly IntentFact[];
  readonly refunds: readonly RefundReport[];
  readonly disputes: readonly DisputeReport[];
}

/** The payment, as far as it decides what is its own. */
export interface Claimant {
  readonly id: string;
  /** The intent that we know; empty: none yet. */
  readonly connectorRef: string;
  readonly currency: string;
  readonly state: Pick<PaymentState, "amount" | "outcome" | "authorizedAt">;
}

/** How a reported intent differs from what the payment asked for. */
export interface Discrepancy {
  readonly kind: "second_charge" | "other_amount" | "excess_capture";
  readonly field: string;
}

/** Minor units. */
export interface FundsAmounts {
  /** All that was unexpected. */
  readonly amount: bigint;
  /** How much of it the processor no longer has. */
  readonly returned: bigint;
  /** What an operator moved to `adjustments` when closing the row; below zero: a loss. */
  readonly closed: bigint;
}

export interface Funds extends FundsAmounts {
  readonly id: string;
  readonly kind: FundsKind;
  readonly state: FundsState;
  readonly currency: string;
}

/** A row as a report leaves it. */
export interface FundsUpdate extends FundsAmounts {
  readonly kind: Discrepancy["kind"];
  readonly state: "open" | "refunding" | "closed";
  /** How a row that this report closes has ended; empty: it is not closed now. */
  readonly resolution: "" | "given_back" | "found";
  /** The attempt that took the money; empty: none did. */
  readonly paidBy: string;
  readonly movements: readonly Movement[];
}

/** What is known when a report about an intent comes. */
export interface FundsReport {
  readonly payment: Claimant;
  readonly report: ReportedIntent;
  /** undefined: the intent is the payment's own. */
  readonly discrepancy: Discrepancy | undefined;
  /** undefined: there is none yet. */
  readonly row: Funds | undefined;
  /** The row's id, or the id of a new one. */
  readonly id: string;
  /** What our books have of this intent as the payment's own money, minor units. */
  readonly booked: bigint;
  /** An operator's refund of the row has not come to its end. */
  readonly isRefundOpen: boolean;
}

/** What becomes of the row of an intent. @returns undefined: nothing to write */
export function fundsAfter({ payment, report, discrepancy, row, id, ...known }: FundsReport): FundsUpdate | undefined {
  const kind = discrepancy?.kind ?? intentKind(row);
  if (!kind || row?.state === "accepted") return undefined;
  const { captured, paidBy } = standingCapture(report);
  // A second intent on which nothing was paid is no charge.
  if (!row && kind === "second_charge" && captured === 0n) return undefined;
  const present = larger(captured - returnedOf(report) - known.booked, 0n);
  const amount = larger(larger(row?.amount ?? 0n, present), unexpectedCharge(kind, captured, payment, known.booked));
  const closed = row?.closed ?? 0n;
  const [before, held] = [row ? heldIn(row) : 0n, present - closed];
  const movements: Movement[] = [];
  if (held > before) movements.push({ kind: "suspense_held", cause: id, amount: held - before });
  if (held < before) movements.push({ kind: "suspense_released", cause: id, amount: before - held });
  const update = { kind, amount, returned: amount - present, closed, paidBy, movements };
  // Another amount than the order's is an operator's to end, though nothing was paid yet.
  const isUnpaidOther = kind === "other_amount" && discrepancy !== undefined && amount === 0n;
  if (held === 0n && !(isUnpaidOther && row?.state !== "closed")) {
    return { ...update, state: "closed", resolution: discrepancy ? "given_back" : "found" };
  }
  const isRefunding = known.isRefundOpen || hasPendingRefund(report, id);
  return { ...update, state: row?.state === "refunding" && isRefunding ? "refunding" : "open", resolution: "" };
}

/** What was charged without being asked for, whatever went back of it since. */
function unexpectedCharge(kind: Discrepancy["kind"], captured: bigint, payment: Claimant, booked: bigint): bigint {
  if (kind === "excess_capture") return captured - payment.state.amount;
  return booked > 0n ? 0n : captured;
}

/** Minor units that the row has in the account `suspense`. */
export function heldIn({ kind, state, amount, returned, closed }: Omit<Funds, "id" | "currency">): bigint {
  if (state === "accepted" || state === "closed" || kind === "lost_intent") return 0n;
  return kind === "second_refund" ? returned - amount - closed : amount - returned - closed;
}

/** What an operator can do about a row. @param payment the one in whose name it is */
export function actionsOf(row: Funds, payment: Claimant): readonly FundsAction[] {
  if (row.state !== "open") return [];
  switch (row.kind) {
    case "lost_intent":
      return ["close"];
    case "second_refund":
      return ["accept", "close"];
    default: {
      const actions: FundsAction[] = [];
      if (heldIn(row) > 0n) actions.push("refund");
      if (isAcceptable(row, payment)) actions.push("accept");
      return [...actions, "close"];
    }
  }
}

/** A second charge of just what was ordered can take the place of the payment's own intent while that is unpaid. */
function isAcceptable({ kind, amount, returned, currency }: Funds, { state, ...payment }: Claimant): boolean {
  const isUnpaid = state.outcome !== "succeeded" && state.outcome !== "canceled" && state.authorizedAt === undefined;
  const isOrder = amount === state.amount && currency === payment.currency && returned === 0n;
  return kind === "second_charge" && isUnpaid && isOrder;
}

/** The journal's part of an operator's closing: what is left becomes our gain, or our loss. */
export function closingMovements(row: Funds): readonly Movement[] {
  const held = heldIn(row);
  if (held > 0n) return [{ kind: "suspense_kept", cause: row.id, amount: held }];
  return held < 0n ? [{ kind: "suspense_written_off", cause: row.id, amount: -held }] : [];
}

/** What an intent has taken by the attempt that stands; at most one does, and a later one replaces it. */
export function standingCapture({ facts }: Pick<ReportedIntent, "facts">): { captured: bigint; paidBy: string } {
  const failed = new Set(facts.flatMap((fact) => (fact.kind === "attempt_failed" ? fact.attempt.ref : [])));
  const paid = facts.findLast((fact) => fact.kind === "attempt_succeeded" && !failed.has(fact.attempt.ref));
  if (paid?.kind !== "attempt_succeeded") return { captured: 0n, paidBy: "" };
  return { captured: paid.capturedAmount, paidBy: paid.attempt.ref };
}

/** What refunds and lost disputes took out of an intent. */
function returnedOf({ refunds, disputes }: ReportedIntent): bigint {
  const back = [
    ...refunds.filter(({ status }) => status === "succeeded"),
    ...disputes.filter(({ status }) => status === "lost"),
  ];
  return back.reduce((sum, { amount }) => sum + amount, 0n);
}

function hasPendingRefund({ refunds }: ReportedIntent, id: string): boolean {
  return refunds.some(({ reference, status }) => reference === id && status === "pending");
}

function intentKind(row: Funds | undefined): Discrepancy["kind"] | undefined {
  return row && row.kind !== "second_refund" && row.kind !== "lost_intent" ? row.kind : undefined;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
