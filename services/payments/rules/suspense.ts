// What a processor holds or did in a payment's name that nobody asked for: how much of it is still there, what the
// books say of it, and what a person can do about it. Pure.
import type { DisputeReport } from "./dispute.ts";
import type { Movement } from "./journal.ts";
import type { IntentFact, PaymentState } from "./payment.ts";
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

/** A payment's own capture: the attempt that made it, and minor units. */
export interface OwnCapture {
  readonly attempt: string;
  readonly amount: bigint;
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
  const paid = facts.filter((fact) => fact.kind === "attempt_succeeded").at(-1);
  const failed = facts.filter((fact) => fact.kind === "attempt_failed");
  const amount = paid?.capturedAmount ?? 0n;
  const back = [
    ...refunds.filter(({ status }) => status === "succeeded"),
    ...disputes.filter(({ status }) => status === "lost"),
  ];
  return {
    amount,
    returned: smaller(total(back), amount),
    paidBy: paid?.attempt.ref ?? "",
    failedAttempts: new Set(failed.map(({ attempt }) => attempt.ref)),
    accounted: total([...refunds, ...disputes]),
  };
}

/**
 * What is known with what is told now. A report that knows of less than we do is an older one and changes nothing; that
 * the attempt which paid has failed means that its debit came back as a whole.
 */
export function joinHoldings(known: IntentHolding | undefined, told: ToldHolding): IntentHolding {
  const { amount, returned, paidBy } = told;
  if (!known || known.paidBy === "") return { amount, returned, paidBy };
  if (told.failedAttempts.has(known.paidBy)) return { ...known, returned: known.amount };
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

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** Minor units that are still there. */
export function heldIn({ amount, returned }: Holding): bigint {
  return amount - returned;
}

/** What an operator can do about an item. @param payment the one in whose name it is. */
export function actionsOf(
  item: Suspense,
  payment: { readonly currency: string; readonly state: Pick<PaymentState, "outcome"> },
): readonly SuspenseAction[] {
  if (item.state === "closed") return [];
  switch (item.kind) {
    case "second_charge":
      return ["give_back"];
    case "second_refund":
      return ["take"];
    case "lost_intent":
      return ["close"];
    case "other_amount": {
      if (heldIn(item) === 0n) return ["close"];
      const canBeOurs = item.currency === payment.currency && payment.state.outcome !== "succeeded";
      return canBeOurs ? ["give_back", "take"] : ["give_back"];
    }
  }
}
