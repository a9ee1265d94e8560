// Parts what a processor reports of an intent: what of it is the payment's own, and what was done in its name that
// nobody asked for, which is set aside in suspense until the processor or a person ends it. Pure.
import { isId } from "#platform/values/id.ts";
import type { DisputeReport } from "./dispute.ts";
import type { Movement } from "./journal.ts";
import type { IntentFact, PaymentState } from "./payment.ts";
import type { RefundReport } from "./refund.ts";
import {
  heldIn,
  holdingMovements,
  holdingOf,
  joinHoldings,
  type OwnCapture,
  type PartedHolding,
  partHolding,
  type Suspense,
  type SuspenseKind,
  wholeOf,
} from "./suspense.ts";

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

/** An item about the intent that stands in suspense, or stood. */
export interface KnownItem extends Suspense, PartedHolding {
  readonly id: string;
  readonly paymentId: string;
  readonly resolution: "" | "given_back" | "taken" | "closed" | "gone" | "found";
}

/** What becomes of an item. */
export interface ItemChange {
  readonly id: string;
  readonly kind: SuspenseKind;
  /** What it holds from now on; undefined: what it held. */
  readonly holding: PartedHolding | undefined;
  readonly movements: readonly Movement[];
  /** By the processor's own word; undefined: it stays as it is. */
  readonly move: "reopened" | "given_back" | "found" | undefined;
}

export interface SetAside {
  readonly changes: readonly ItemChange[];
  /** What differs when the intent is not the one that we asked for: it is never finalized. */
  readonly mismatch: string | undefined;
  readonly ignored: readonly string[];
}

export function partReport(payment: Claimant, report: ReportedIntent): PartedReport {
  const other = otherIntentOf(payment, report);
  if (!other) return { other, own: report };
  return { other, own: other.what === "captured amount" ? withoutExcess(payment, report) : undefined };
}

function otherIntentOf(payment: Claimant, report: ReportedIntent): OtherIntent | undefined {
  const isOther = payment.connectorRef !== "" && report.ref !== payment.connectorRef;
  if (report.reference !== payment.id) return { kind: "other_amount", what: "reference" };
  if (isOther) return { kind: "second_charge", what: "intent id" };
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
  return { ...report, facts, refunds: report.refunds.filter(({ reference }) => !isId("suspense", reference)) };
}

function ownCapture({ connectorRef, currency, state }: Claimant, report: ReportedIntent): OwnCapture | undefined {
  const isOwn = connectorRef === report.ref && currency === report.currency && state.capturedAmount > 0n;
  return isOwn ? { attempt: state.lastAttemptRef, amount: state.capturedAmount } : undefined;
}

/**
 * What the intent holds besides the payment's own capture, with what is known of it. What is refunded of an intent on
 * which the payment has captured is the payment's, but for what was given back in the item's own name.
 */
export function heldBeside(payment: Claimant, report: ReportedIntent, known: KnownItem | undefined): PartedHolding {
  const own = ownCapture(payment, report);
  const refunds = report.refunds.filter(({ reference }) => reference === known?.id);
  const about = own ? { ...report, refunds, disputes: [] } : report;
  // Until the payment had captured all that went back was the item's.
  const before = known && { ...wholeOf(known), ...(own && known.kept === 0n && { returned: 0n }) };
  return partHolding(joinHoldings(before, holdingOf(about)), own);
}

/**
 * What becomes of the items about the reported intent.
 * @param before the payment as it was. @param after the same with what of the report is its own.
 * @param items all that are known about the intent. @param newId of an item that is new.
 */
export function setAside(
  before: Claimant,
  after: Claimant,
  report: ReportedIntent,
  other: OtherIntent | undefined,
  items: readonly KnownItem[],
  newId: () => string,
): SetAside {
  const open = items.filter(({ paymentId, state }) => paymentId === before.id && state === "open");
  // An intent that the processor tells of is not lost, whatever it holds.
  const over = other ? open.filter(({ kind }) => kind === "lost_intent") : open;
  const ends = over.flatMap((item) => endItem(after, report, item));
  if (!other) return { changes: ends, mismatch: undefined, ignored: [] };
  const { changes, mismatch, ignored } = holdOther(before, report, other, items, newId);
  return { changes: [...ends, ...changes], mismatch, ignored };
}

/** Keeps what another intent holds. One on which nothing was ever paid is no second charge. */
function holdOther(
  payment: Claimant,
  report: ReportedIntent,
  { kind, what }: OtherIntent,
  items: readonly KnownItem[],
  newId: () => string,
): SetAside {
  const mismatch = kind === "other_amount" ? what : undefined;
  const known = items.find((item) => item.kind === kind);
  const isEnded = known?.state === "closed" && !["given_back", "found"].includes(known.resolution);
  if (isEnded) return { changes: [], mismatch, ignored: [`${known.id} was ${known.resolution}`] };
  const holding = heldBeside(payment, report, known);
  if (kind === "second_charge" && !known && holding.amount === 0n) {
    return { changes: [], mismatch, ignored: [`intent ${report.ref} beside ours: nothing was paid there`] };
  }
  const id = known?.id ?? newId();
  const movements = holdingMovements(id, known, holding);
  const isEmpty = holding.amount > 0n && heldIn(holding) === 0n;
  const move = isEmpty ? "given_back" : known && "reopened";
  return {
    changes: [{ id, kind, holding, movements, move }],
    mismatch,
    ignored: [`intent ${report.ref}: held as ${id}`],
  };
}

/** What was held of an intent that is the payment's own, and is right. @param payment with what it has captured. */
function endItem(payment: Claimant, report: ReportedIntent, item: KnownItem): readonly ItemChange[] {
  const { id, kind } = item;
  switch (kind) {
    // The processor knows it again.
    case "lost_intent":
      return [{ id, kind, holding: undefined, movements: [], move: "found" }];
    // It was made in the place of one whose page ended.
    case "second_charge":
      return [changeOf(item, { ...item, returned: item.amount })];
    case "other_amount": {
      const failed = report.facts.some((fact) => fact.kind === "attempt_failed" && fact.attempt.ref === item.paidBy);
      // That it is authorized says nothing of what is held: the report may be from before it was taken.
      if (item.paidBy !== "" && !failed && !ownCapture(payment, report)) return [];
      return [changeOf(item, heldBeside(payment, report, item))];
    }
    // A person decides.
    case "second_refund":
      return [];
  }
}

/** What an item holds from now on; it ends with nothing in it. */
function changeOf(item: KnownItem, { amount, returned, paidBy, kept }: PartedHolding): ItemChange {
  const { id, kind } = item;
  const holding = { amount, returned, paidBy, kept };
  const move = heldIn(holding) > 0n ? undefined : "found";
  return { id, kind, holding, movements: holdingMovements(id, item, holding), move };
}
