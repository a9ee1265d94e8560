// Parts what a processor reports of an intent: what of it is the payment's own, and how it is about another intent than
// the one that we asked for, which suspense.ts holds aside. Pure.
import { isId } from "#platform/values/id.ts";
import type { DisputeReport } from "./dispute.ts";
import type { IntentFact, PaymentState } from "./payment.ts";
import { counts, type RefundReport } from "./refund.ts";

/** An intent, as its processor knows it. */
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
  readonly state: PaymentState;
}

export interface OtherIntent {
  readonly kind: "second_charge" | "other_amount";
  /** What differs from the payment. */
  readonly what: string;
}

/** A report in two: how it is about another intent than the one that we asked for, and what is the payment's own. */
export interface PartedReport {
  /** undefined: it is ours. */
  readonly other: OtherIntent | undefined;
  /** undefined: nothing of it. */
  readonly own: ReportedIntent | undefined;
}

/** A payment's own capture: the attempt that made it, and minor units. */
export interface OwnCapture {
  readonly attempt: string;
  readonly amount: bigint;
}

export function partReport(payment: Claimant, report: ReportedIntent): PartedReport {
  const other = otherIntentOf(payment, report);
  if (!other) return { other, own: report };
  return { other, own: other.what === "captured amount" ? withoutExcess(payment, report) : undefined };
}

function otherIntentOf(payment: Claimant, report: ReportedIntent): OtherIntent | undefined {
  const hasIntent = payment.connectorRef !== "";
  const isOther = hasIntent && report.ref !== payment.connectorRef;
  if (isOther) return { kind: "second_charge", what: "intent id" };
  // Others can edit the reference, so it only decides about an intent that the payment does not have yet.
  if (!hasIntent && report.reference !== payment.id) return { kind: "other_amount", what: "reference" };
  if (report.amount !== payment.state.amount) return { kind: "other_amount", what: "amount" };
  if (capturedOf(report) > report.amount) return { kind: "other_amount", what: "captured amount" };
  return report.currency === payment.currency ? undefined : { kind: "other_amount", what: "currency" };
}

function capturedOf({ facts }: ReportedIntent): bigint {
  return facts.reduce((most, fact) => {
    const captured = fact.kind === "attempt_succeeded" ? fact.capturedAmount : 0n;
    return captured > most ? captured : most;
  }, 0n);
}

/**
 * A report of more than was authorized without what is too much: the rest is the payment's, as long as that has
 * captured. @returns undefined: it has not, and what was taken is held as a whole
 */
function withoutExcess(payment: Claimant, report: ReportedIntent): ReportedIntent | undefined {
  const own = ownCapture(payment, report);
  if (!own) return undefined;
  const facts = report.facts.map((fact) => {
    const isMore = fact.kind === "attempt_succeeded" && fact.capturedAmount > own.amount;
    return isMore ? { ...fact, capturedAmount: own.amount } : fact;
  });
  const { refunds, disputes } = partReturns(own, report);
  return { ...report, facts, refunds: refunds.own, disputes: disputes.own };
}

/** What went back of an intent in two: of the payment's own capture, and of what was taken besides. */
export interface PartedReturns {
  readonly refunds: { readonly own: readonly RefundReport[]; readonly beside: readonly RefundReport[] };
  readonly disputes: { readonly own: readonly DisputeReport[]; readonly beside: readonly DisputeReport[] };
}

/**
 * A refund in an item's name is of what was taken besides. Of each other one, and of a dispute, the payment's is as
 * much as it has: first of refunds that we asked for, then as they were made; the rest is of what was taken besides.
 */
export function partReturns(own: OwnCapture, report: Pick<ReportedIntent, "refunds" | "disputes">): PartedReturns {
  const named = report.refunds.filter(({ reference }) => itemNamed(reference) !== "");
  const isAsked = ({ reference }: RefundReport) => isId("refund", reference);
  const others = report.refunds.filter(({ reference }) => itemNamed(reference) === "");
  const inOrder = others.toSorted(
    (a, b) => Number(isAsked(b)) - Number(isAsked(a)) || a.createdAt.getTime() - b.createdAt.getTime(),
  );
  let left = own.amount;
  const parts = new Map<RefundReport, bigint>();
  for (const refund of inOrder) {
    const part = smaller(refund.amount, left);
    parts.set(refund, part);
    if (counts(refund.status)) left -= part;
  }
  const partOf = (refund: RefundReport) => parts.get(refund) ?? 0n;
  const ofDispute = ({ amount }: DisputeReport) => smaller(amount, own.amount);
  return {
    refunds: {
      own: others.map((one) => ({ ...one, amount: partOf(one) })).filter(({ amount }) => amount > 0n),
      beside: [...named, ...others.map((one) => ({ ...one, amount: one.amount - partOf(one) }))],
    },
    disputes: {
      own: report.disputes.map((one) => ({ ...one, amount: ofDispute(one) })),
      beside: report.disputes.map((one) => ({ ...one, amount: one.amount - ofDispute(one) })),
    },
  };
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** What the refund of the n-th try to give back an item is called at the processor. */
export function nameOfTry(itemId: string, n: number): string {
  return n === 1 ? itemId : `${itemId}.${n}`;
}

/** The item in suspense in whose name a refund was made; empty: in none's. */
export function itemNamed(reference: string): string {
  const [id = ""] = reference.split(".");
  return isId("suspense", id) ? id : "";
}

/** @returns undefined: the payment has captured nothing on the reported intent. */
export function ownCapture(
  { connectorRef, currency, state }: Claimant,
  report: ReportedIntent,
): OwnCapture | undefined {
  const isOwn = connectorRef === report.ref && currency === report.currency && state.capturedAmount > 0n;
  return isOwn ? { attempt: state.lastAttemptRef, amount: state.capturedAmount } : undefined;
}
