// What a processor holds or did in a payment's name that nobody asked for: what is set aside of its report, how much of
// it is still there, what the books say of it, and what a person can do about it. Pure.
import type { DisputeReport } from "./dispute.ts";
import type { Movement } from "./journal.ts";
import {
  type Claimant,
  itemNamed,
  type OtherIntent,
  type OwnCapture,
  ownCapture,
  partReturns,
  type ReportedIntent,
  smaller,
} from "./part-report.ts";
import type { IntentFact } from "./payment.ts";
import type { RefundReport } from "./refund.ts";

/**
 * `second_charge`: a paid intent with our reference beside the one that we know. `other_amount`: an intent of ours that
 * asks for another amount or currency. `second_refund`: a refund with our reference beside the one that we know.
 * `lost_intent`: the processor gave an intent and knows nothing of it.
 */
export type SuspenseKind = "second_charge" | "other_amount" | "second_refund" | "lost_intent";
export type SuspenseAction = "give_back" | "take" | "close";

/** Minor units. */
export interface Holding {
  /** What was taken. */
  readonly amount: bigint;
  /** How much of it went back. */
  readonly returned: bigint;
}

/** Of an intent: which attempt took the amount; empty: none did. */
export interface IntentHolding extends Holding {
  readonly paidBy: string;
}

/** What an attempt took, parted: the payment's own capture keeps some of it, and only the rest is held. */
export interface PartedHolding extends IntentHolding {
  readonly kept: bigint;
}

/** The same by one report, with what the report knows of: reports overtake each other on their way. */
export interface ToldHolding extends IntentHolding {
  readonly failedAttempts: ReadonlySet<string>;
  /** Minor units of all refunds and disputes, whatever became of them. */
  readonly accounted: bigint;
}

export interface Suspense extends Holding {
  readonly kind: SuspenseKind;
  readonly state: "open" | "closed";
  readonly currency: string;
}

/** An item about the intent that stands in suspense, or stood. */
export interface KnownItem extends Suspense, PartedHolding {
  readonly id: string;
  readonly paymentId: string;
  readonly resolution: "" | "given_back" | "taken" | "closed" | "gone" | "found";
}

/** What becomes of an item about an intent. */
export interface ItemChange {
  readonly id: string;
  readonly kind: SuspenseKind;
  readonly connectorRef: string;
  readonly currency: string;
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

/**
 * What becomes of the items about the reported intent.
 * @param payment with what of the report is its own.
 * @param items all that are known about the intent. @param newId of an item that is new.
 */
export function setAside(
  payment: Claimant,
  report: ReportedIntent,
  other: OtherIntent | undefined,
  items: readonly KnownItem[],
  newId: () => string,
): SetAside {
  const own = ownCapture(payment, report);
  const open = items.filter(({ paymentId, state }) => paymentId === payment.id && state === "open");
  // An intent that the processor tells of is not lost, whatever it holds.
  const over = other ? open.filter(({ kind }) => kind === "lost_intent") : open;
  const ends = over.flatMap((item) => endItem(own, report, item));
  if (!other) return { changes: ends, mismatch: undefined, ignored: [] };
  const { changes, mismatch, ignored } = holdOther(own, report, other, items, newId);
  return { changes: [...ends, ...changes], mismatch, ignored };
}

/** Keeps what another intent holds. One on which nothing was ever paid is no second charge. */
function holdOther(
  own: OwnCapture | undefined,
  report: ReportedIntent,
  other: OtherIntent,
  items: readonly KnownItem[],
  newId: () => string,
): SetAside {
  const mismatch = other.kind === "other_amount" ? other.what : undefined;
  const known = itemOf(items);
  const kind = known?.kind ?? other.kind;
  // What an item holds is of its own currency: an intent that changes it is no intent that a processor has.
  if (known && known.currency !== report.currency) {
    return {
      changes: [],
      mismatch,
      ignored: [`${known.id} is in ${known.currency}, the report in ${report.currency}`],
    };
  }
  const holding = heldBeside(own, report, known);
  if (known && staysClosed(known, holding)) {
    return { changes: [], mismatch, ignored: [`${known.id} was ${known.resolution}`] };
  }
  if (kind === "second_charge" && !known && holding.amount === 0n) {
    return { changes: [], mismatch, ignored: [`intent ${report.ref} beside ours: nothing was paid there`] };
  }
  const id = known?.id ?? newId();
  const movements = holdingMovements(id, known, holding);
  const isEmpty = holding.amount > 0n && heldIn(holding) === 0n;
  const move = isEmpty ? "given_back" : known && "reopened";
  return {
    changes: [{ ...aboutOf(report, known), id, kind, holding, movements, move }],
    mismatch,
    ignored: [`intent ${report.ref}: held as ${id}`],
  };
}

/** Ends by the processor's own word, which takes them back as well. */
export const processorEnds = ["given_back", "found"] as const;

/** What a person closed because it held nothing is open again when something was paid after all. */
function staysClosed(known: KnownItem, holding: PartedHolding): boolean {
  const isByProcessor = processorEnds.some((end) => end === known.resolution);
  if (known.state === "open" || isByProcessor) return false;
  return known.resolution === "taken" || heldIn(known) !== 0n || heldIn(holding) <= 0n;
}

/**
 * The item that holds what an intent took: one, though it became another kind since. That its intent was lost is an
 * item of its own, which holds nothing.
 */
function itemOf(items: readonly KnownItem[]): KnownItem | undefined {
  const holding = items.filter(({ kind }) => kind === "second_charge" || kind === "other_amount");
  return holding.find(({ state }) => state === "open") ?? holding[0];
}

/** What was held of an intent that is the payment's own, and is right. */
function endItem(own: OwnCapture | undefined, report: ReportedIntent, item: KnownItem): readonly ItemChange[] {
  const { id, kind } = item;
  switch (kind) {
    // The processor knows it again.
    case "lost_intent":
      return [{ ...aboutOf(report, item), id, kind, holding: undefined, movements: [], move: "found" }];
    // It was made in the place of one whose page ended.
    case "second_charge":
      return [changeOf(report, item, { ...item, returned: item.amount })];
    case "other_amount": {
      const failed = report.facts.some((fact) => fact.kind === "attempt_failed" && fact.attempt.ref === item.paidBy);
      // That it is authorized says nothing of what is held: the report may be from before it was taken.
      if (item.paidBy !== "" && !failed && !own) return [];
      return [changeOf(report, item, heldBeside(own, report, item))];
    }
    // A person decides.
    case "second_refund":
      return [];
  }
}

/** What an item holds from now on; it ends with nothing in it. */
function changeOf(
  report: ReportedIntent,
  item: KnownItem,
  { amount, returned, paidBy, kept }: PartedHolding,
): ItemChange {
  const { id, kind } = item;
  const holding = { amount, returned, paidBy, kept };
  const move = heldIn(holding) > 0n ? undefined : "found";
  return { ...aboutOf(report, item), id, kind, holding, movements: holdingMovements(id, item, holding), move };
}

/** An item keeps its currency. */
function aboutOf(report: ReportedIntent, known: KnownItem | undefined): Pick<ItemChange, "connectorRef" | "currency"> {
  return { connectorRef: report.ref, currency: known?.currency ?? report.currency };
}

/**
 * What the intent holds besides the payment's own capture, with what is known of it. Of what went back, what
 * partReturns leaves, and nothing that was given back in another item's name.
 */
export function heldBeside(
  own: OwnCapture | undefined,
  report: ReportedIntent,
  known: KnownItem | undefined,
): PartedHolding {
  const returns = own && partReturns(own, report);
  const isItems = ({ reference }: RefundReport) => [known?.id, ""].includes(itemNamed(reference));
  const about = returns
    ? { ...report, refunds: returns.refunds.beside.filter(isItems), disputes: returns.disputes.beside }
    : report;
  // Until the payment had captured all that went back was the item's.
  const before = known && { ...wholeOf(known), ...(own && known.kept === 0n && { returned: 0n }) };
  return partHolding(joinHoldings(before, holdingOf(about)), own);
}

/**
 * What an intent that is none of ours holds, by the processor's report. At most one attempt pays; a later one is what
 * stands.
 */
export function holdingOf(report: {
  readonly facts: readonly IntentFact[];
  readonly refunds: readonly RefundReport[];
  readonly disputes: readonly DisputeReport[];
}): ToldHolding {
  const { facts, refunds, disputes } = report;
  const failedAttempts = new Set(facts.flatMap((fact) => (fact.kind === "attempt_failed" ? fact.attempt.ref : [])));
  const succeeded = facts.filter((fact) => fact.kind === "attempt_succeeded");
  const paid = succeeded.findLast(({ attempt }) => !failedAttempts.has(attempt.ref)) ?? succeeded.at(-1);
  const amount = paid?.capturedAmount ?? 0n;
  const back = [
    ...refunds.filter(({ status }) => status === "succeeded"),
    ...disputes.filter(({ status }) => status === "lost"),
  ];
  return {
    amount,
    returned: smaller(total(back), amount),
    paidBy: paid?.attempt.ref ?? "",
    failedAttempts,
    accounted: total([...refunds, ...disputes]),
  };
}

/**
 * What is known with what is told now. A report that knows of less than we do is an older one and changes nothing; that
 * the attempt which paid has failed means that its debit came back as a whole, unless another one has paid since.
 */
export function joinHoldings(known: IntentHolding | undefined, told: ToldHolding): IntentHolding {
  const { amount, returned, paidBy } = told;
  if (!known || known.paidBy === "") return { amount, returned, paidBy };
  if (told.failedAttempts.has(known.paidBy)) {
    const isPaidAnew = paidBy !== "" && !told.failedAttempts.has(paidBy);
    return isPaidAnew ? { amount, returned, paidBy } : { ...known, returned: known.amount };
  }
  const isOlder = paidBy === "" || told.accounted < known.returned;
  return isOlder ? known : { amount, returned, paidBy };
}

/** One attempt's money is in the books once. @param own undefined: the payment has captured nothing on this intent */
export function partHolding(whole: IntentHolding, own: OwnCapture | undefined): PartedHolding {
  const kept = own?.attempt === whole.paidBy ? smaller(own.amount, whole.amount) : 0n;
  const amount = whole.amount - kept;
  return { paidBy: whole.paidBy, kept, amount, returned: smaller(whole.returned, amount) };
}

/** All that the attempt took. */
export function wholeOf({ amount, kept, returned, paidBy }: PartedHolding): IntentHolding {
  return { amount: amount + kept, returned, paidBy };
}

/** The journal's part of a change of what is held. @param id of the item. */
export function holdingMovements(id: string, before: Holding | undefined, after: Holding): readonly Movement[] {
  const change = heldIn(after) - (before ? heldIn(before) : 0n);
  if (change > 0n) return [{ kind: "suspense_held", cause: id, amount: change }];
  return change < 0n ? [{ kind: "suspense_released", cause: id, amount: -change }] : [];
}

function total(list: readonly { readonly amount: bigint }[]): bigint {
  return list.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Minor units that are still there. */
export function heldIn({ amount, returned }: Holding): bigint {
  return amount - returned;
}

/**
 * What an operator can do about an item. An intent of another amount or currency is never finalized, so nobody can take
 * it: then no action can meet a return of the same money that is under way.
 */
export function actionsOf(item: Suspense): readonly SuspenseAction[] {
  if (item.state === "closed") return [];
  switch (item.kind) {
    case "second_charge":
      return ["give_back"];
    case "second_refund":
      return ["take"];
    case "lost_intent":
      return ["close"];
    case "other_amount":
      return heldIn(item) === 0n ? ["close"] : ["give_back"];
  }
}
