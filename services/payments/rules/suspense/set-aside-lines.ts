// What our books have of an intent that is set aside, as lines of a statement. What the processor says of the intent
// names the objects that gave something back; whether that agrees with what is held the amount says. Pure.
import type { DisputeReport } from "../dispute.ts";
import { itemNamed, partReturns, type ReportedIntent } from "../part-report.ts";
import type { RefundReport } from "../refund.ts";
import type { OurLine, StatementLine } from "../statement.ts";
import { heldIn, type KnownItem } from "../suspense.ts";

export interface SetAsideBooks {
  /** The processor's id of the intent. */
  readonly ref: string;
  /** Items about it that hold money, or held some: one or more. */
  readonly items: readonly [KnownItem, ...KnownItem[]];
  /** What the payment itself has captured on it; undefined: nothing. */
  readonly own: OurLine | undefined;
  /** Refunds and disputes that are booked as the payment's, whole or in part. */
  readonly booked: readonly OurLine[];
}

/** @param report undefined: the processor does not know the intent. @returns the intent's line first */
export function setAsideLines(
  books: SetAsideBooks,
  report: ReportedIntent | undefined,
): readonly [OurLine, ...OurLine[]] {
  const { ref, items, own, booked } = books;
  const [{ paymentId, currency }] = items;
  const { refunds, disputes } = besideOf(books, report);
  // A debit that came back is neither: the processor has captured nothing then, and nothing is held.
  const back = [
    ...refunds.filter(({ status }) => status === "succeeded"),
    ...disputes.filter(({ status }) => status === "lost"),
  ];
  const lineOf = (object: "refund" | "dispute") => (beside: RefundReport | DisputeReport) => {
    const known = booked.find((line) => line.object === object && line.ref === beside.ref);
    const amount = beside.amount + (known?.amount ?? 0n);
    return { object, ref: beside.ref, paymentId, amount, currency, status: known?.status ?? beside.status };
  };
  const held = items.filter(({ state }) => state === "open").map(heldIn);
  const amount = sum([...held, ...back.map((beside) => beside.amount), own?.amount ?? 0n]);
  const line = { object: "payment", ref, paymentId, amount, currency: own?.currency ?? currency, status: "" } as const;
  return [line, ...refunds.map(lineOf("refund")), ...disputes.map(lineOf("dispute"))];
}

/** What of refunds and disputes is of what was taken besides the payment's own capture. */
function besideOf(
  { items, own, booked }: SetAsideBooks,
  report: ReportedIntent | undefined,
): { readonly refunds: readonly RefundReport[]; readonly disputes: readonly DisputeReport[] } {
  if (!report) return { refunds: [], disputes: [] };
  if (own) {
    const { refunds, disputes } = partReturns({ attempt: "", amount: own.amount }, report);
    const names = new Set<string>(["", ...items.map(({ id }) => id)]);
    // One in the item's name is the payment's as a whole where the item turned out to be the payment's own.
    const isBooked = ({ ref, reference }: RefundReport) =>
      itemNamed(reference) !== "" && booked.some((line) => line.object === "refund" && line.ref === ref);
    const isItems = (refund: RefundReport) =>
      refund.amount > 0n && names.has(itemNamed(refund.reference)) && !isBooked(refund);
    return { refunds: refunds.beside.filter(isItems), disputes: disputes.beside.filter(({ amount }) => amount > 0n) };
  }
  const isFree = (object: OurLine["object"]) => {
    const known = new Set(booked.filter((line) => line.object === object).map(({ ref }) => ref));
    return ({ ref }: { readonly ref: string }) => !known.has(ref);
  };
  return { refunds: report.refunds.filter(isFree("refund")), disputes: report.disputes.filter(isFree("dispute")) };
}

/** What the processor has captured on an intent, as its statement would say it. */
export function capturedLine({ ref, currency, facts }: ReportedIntent): StatementLine {
  const failed = new Set(facts.flatMap((fact) => (fact.kind === "attempt_failed" ? fact.attempt.ref : [])));
  const succeeded = facts.filter((fact) => fact.kind === "attempt_succeeded");
  const paid = succeeded.findLast(({ attempt }) => !failed.has(attempt.ref));
  return { object: "payment", ref, intentRef: ref, amount: paid?.capturedAmount ?? 0n, currency, status: "" };
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((all, amount) => all + amount, 0n);
}
