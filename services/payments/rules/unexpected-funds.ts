// Unexpected funds: money that a processor captured or refunded in a payment's name without our request. Each object of
// the processor has one row, which holds the difference between the processor and our books. Pure.
import assert from "node:assert/strict";
import type { DisputeReport } from "./dispute.ts";
import type { Movement } from "./journal.ts";
import type { IntentFact, PaymentState } from "./payment.ts";
import type { RefundReport } from "./refund.ts";

/**
 * `second_charge`: another paid intent with our reference. `other_amount`: our intent with another amount, currency or
 * reference. `excess_capture`: our intent with more captured than asked for. `second_refund`: another refund with our
 * reference. `lost_intent`: an intent that the processor created and no longer knows.
 */
export type FundsKind = "second_charge" | "other_amount" | "excess_capture" | "second_refund" | "lost_intent";
export type FundsState = "open" | "refunding" | "accepted" | "closed";
export type FundsAction = "refund" | "accept" | "close";

/** An intent as its processor reports it. */
export interface ReportedIntent {
  readonly ref: string;
  /** Our payment id. */
  readonly reference: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly facts: readonly IntentFact[];
  readonly refunds: readonly RefundReport[];
  readonly disputes: readonly DisputeReport[];
}

/** The part of a payment that decides which intent is its own. */
export interface Claimant {
  readonly id: string;
  /** Empty: no intent yet. */
  readonly connectorRef: string;
  readonly connectorAccountId?: string;
  readonly currency: string;
  readonly state: Pick<PaymentState, "amount" | "outcome" | "authorizedAt">;
}

/** How a reported intent differs from the payment's order. */
export interface Discrepancy {
  readonly kind: "second_charge" | "other_amount" | "excess_capture";
  readonly field: string;
}

/** Minor units. */
interface FundsAmounts {
  /** All unexpected money. */
  readonly amount: bigint;
  /** The part that the processor no longer has. */
  readonly returned: bigint;
  /** Moved to `adjustments` when an operator closed the row; negative: a loss. */
  readonly closed: bigint;
}

export interface Funds extends FundsAmounts {
  readonly id: string;
  readonly kind: FundsKind;
  readonly state: FundsState;
  readonly currency: string;
}

/** With the account of its intent. */
type PlacedFunds = Funds & { readonly connectorAccountId?: string };

/** A row after a report. */
export interface FundsUpdate extends FundsAmounts {
  readonly kind: Discrepancy["kind"];
  readonly state: "open" | "refunding" | "closed";
  /** How the report closed the row; empty: it did not. */
  readonly resolution: "" | "given_back" | "found";
  /** The attempt that captured the money; empty: none. */
  readonly paidBy: string;
  readonly movements: readonly Movement[];
}

export interface FundsReport {
  readonly payment: Claimant;
  readonly report: ReportedIntent;
  /** undefined: the payment's own intent. */
  readonly discrepancy: Discrepancy | undefined;
  /** undefined: a new one. */
  readonly row: Funds | undefined;
  /** Id of the row, or for a new one. */
  readonly id: string;
  /** Minor units of this intent that our books count as the payment's own. */
  readonly booked: bigint;
  /** An operator's refund of the row is pending. */
  readonly isRefundOpen: boolean;
}

/** The row of an intent after a report. @returns undefined: no row. */
export function fundsAfter({ payment, report, discrepancy, row, id, ...known }: FundsReport): FundsUpdate | undefined {
  const kind = discrepancy?.kind ?? intentKind(row);
  if (!kind || row?.state === "accepted") return undefined;
  const { captured, paidBy } = currentCapture(report);
  // An unpaid second intent is not a charge.
  if (!row && kind === "second_charge" && captured === 0n) return undefined;
  const present = larger(captured - returnedOf(report) - known.booked, 0n);
  const amount = larger(larger(row?.amount ?? 0n, present), unexpectedCharge(kind, captured, payment, known.booked));
  const closed = row?.closed ?? 0n;
  const [before, held] = [row ? heldIn(row) : 0n, present - closed];
  const movements: Movement[] = [];
  if (held > before) movements.push({ kind: "suspense_held", cause: id, amount: held - before });
  if (held < before) movements.push({ kind: "suspense_released", cause: id, amount: before - held });
  assert(amount >= present && present >= 0n, "a row holds at most its amount");
  const update = { kind, amount, returned: amount - present, closed, paidBy, movements };
  // An operator must end an intent of another amount even if it is unpaid.
  const isUnpaidOther = kind === "other_amount" && discrepancy !== undefined && amount === 0n;
  if (held === 0n && !(isUnpaidOther && row?.state !== "closed")) {
    return { ...update, state: "closed", resolution: discrepancy ? "given_back" : "found" };
  }
  const isRefunding = known.isRefundOpen || hasPendingRefund(report, id);
  return { ...update, state: row?.state === "refunding" && isRefunding ? "refunding" : "open", resolution: "" };
}

/** The unrequested part of a charge, including what was returned since. */
function unexpectedCharge(kind: Discrepancy["kind"], captured: bigint, payment: Claimant, booked: bigint): bigint {
  if (kind === "excess_capture") return captured - payment.state.amount;
  return booked > 0n ? 0n : captured;
}

/** Minor units of the row in the account `suspense`. */
export function heldIn({ kind, state, amount, returned, closed }: Omit<Funds, "id" | "currency">): bigint {
  if (state === "accepted" || state === "closed" || kind === "lost_intent") return 0n;
  return kind === "second_refund" ? returned - amount - closed : amount - returned - closed;
}

/** The actions an operator can take. @param payment the one that the row's reference names */
export function actionsOf(row: PlacedFunds, payment: Claimant): readonly FundsAction[] {
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

/** A second charge of the ordered amount can replace the payment's own intent at its account while that is unpaid. */
function isAcceptable(
  { kind, amount, returned, currency, ...row }: PlacedFunds,
  { state, ...payment }: Claimant,
): boolean {
  if (row.connectorAccountId !== payment.connectorAccountId) return false;
  const isUnpaid = state.outcome !== "succeeded" && state.outcome !== "canceled" && state.authorizedAt === undefined;
  const isOrder = amount === state.amount && currency === payment.currency && returned === 0n;
  return kind === "second_charge" && isUnpaid && isOrder;
}

/** An operator's closing turns the rest into our gain or loss. */
export function closingMovements(row: Funds): readonly Movement[] {
  const held = heldIn(row);
  if (held > 0n) return [{ kind: "suspense_kept", cause: row.id, amount: held }];
  return held < 0n ? [{ kind: "suspense_written_off", cause: row.id, amount: -held }] : [];
}

/** The capture of the intent's last attempt that succeeded and was not returned. */
function currentCapture({ facts }: Pick<ReportedIntent, "facts">): { captured: bigint; paidBy: string } {
  const failed = new Set(facts.flatMap((fact) => (fact.kind === "attempt_failed" ? fact.attempt.ref : [])));
  const paid = facts.findLast((fact) => fact.kind === "attempt_succeeded" && !failed.has(fact.attempt.ref));
  if (paid?.kind !== "attempt_succeeded") return { captured: 0n, paidBy: "" };
  return { captured: paid.capturedAmount, paidBy: paid.attempt.ref };
}

/** The sum of succeeded refunds and lost disputes. */
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
