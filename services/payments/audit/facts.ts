// What a payment's books must be, from first principles: what happened to it goes in, amounts and the balance of every
// account come out. Pure, and of one mind only with the contract: it imports nothing of what books, settles or asks.
import type { AuditAccount } from "./accounts.ts";

/** A fee schedule: hundredths of a percent, and minor units on top. */
export interface Rate {
  readonly basisPoints: bigint;
  readonly fixed: bigint;
}

export interface RefundFact {
  readonly id: string;
  readonly status: string;
  /** Minor units; so are all amounts. */
  readonly amount: bigint;
  /** It was made at the processor a second time, and nobody has taken it as the merchant's. */
  readonly unasked: boolean;
}

export interface DisputeFact {
  readonly id: string;
  readonly status: string;
  readonly amount: bigint;
  /** The debit that it is about came back. */
  readonly released?: boolean;
}

export interface SuspenseFact {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly amount: bigint;
  readonly returnedAmount: bigint;
  /** The attempt that took the amount; empty: none did. */
  readonly paidBy: string;
  /** What operators closed with something left, minor units: above zero our gain, below zero our loss. */
  readonly closedAmount: bigint;
  /** Another payment that has captured by this attempt, on the same intent; empty: none has. */
  readonly capturedIn: string;
}

/** A capture that did not come back, with the schedule in effect when the processor made it. */
export interface CaptureFact {
  readonly amount: bigint;
  readonly rate: Rate;
}

/** What is known of a payment apart from the balances of its journal. */
export interface PaymentFacts {
  /** What the attempts came to. */
  readonly outcome: string;
  readonly capturedAmount: bigint;
  /** In their order. */
  readonly captures: readonly CaptureFact[];
  readonly refunds: readonly RefundFact[];
  readonly disputes: readonly DisputeFact[];
  readonly suspense: readonly SuspenseFact[];
}

/** What must be stored with the payment. */
export interface ExpectedAmounts {
  readonly refundedAmount: bigint;
  readonly fee: bigint;
  readonly disputeHold: "none" | "open" | "lost";
  readonly disputedAmount: bigint;
  readonly status: string;
}

/** Share of the amount, rounded half up, and the fixed part. */
export function feeBy({ basisPoints, fixed }: Rate, amount: bigint): bigint {
  const [whole, rest] = [(amount * basisPoints) / 10_000n, (amount * basisPoints) % 10_000n];
  return whole + (rest * 2n >= 10_000n ? 1n : 0n) + fixed;
}

/** Each capture at its own rate; the fixed part is paid once, with the first. */
export function feeOf(captures: readonly CaptureFact[]): bigint {
  let [sum, before] = [0n, 0n];
  for (const { amount, rate } of captures) {
    sum += feeBy(rate, before + amount) - (before === 0n ? 0n : feeBy(rate, before));
    before += amount;
  }
  return sum;
}

export function expectedAmounts(facts: PaymentFacts): ExpectedAmounts {
  const { outcome, capturedAmount } = facts;
  const disputes = holding(facts);
  const refundedAmount = total(facts.refunds.filter(isEffective));
  // What the bank decided, or has still to decide; an inquiry takes nothing and a won dispute nothing any more.
  const [open, lost] = [disputes.filter(isOpen), disputes.filter(isLost)];
  const disputeHold = open.length > 0 ? "open" : lost.length > 0 ? "lost" : "none";
  return {
    refundedAmount,
    fee: feeOf(facts.captures),
    disputeHold,
    disputedAmount: total(open.length > 0 ? open : lost),
    status: publicStatus(outcome, capturedAmount, refundedAmount, disputeHold),
  };
}

/**
 * What is left to the merchant when everything open is decided in the merchant's favour; nothing while nothing is
 * captured.
 */
export function expectedNet(facts: PaymentFacts, fee: bigint): bigint {
  if (facts.capturedAmount === 0n) return 0n;
  return facts.capturedAmount - fee - total(facts.refunds.filter(isEffective)) - total(holding(facts).filter(isLost));
}

/** Debits minus credits that one refund leaves: where its money is now. */
export function refundBalances({ status, amount, unasked }: RefundFact): AccountDeltas {
  if (unasked)
    return status === "pending" || status === "succeeded" ? move("suspense", "processor_clearing", amount) : {};
  if (status === "pending") return move("merchant_balance", "refunds_pending", amount);
  return status === "succeeded" ? move("merchant_balance", "processor_clearing", amount) : {};
}

/** Disputes that can hold something: money whose debit came back is nobody's to hold. */
function holding({ outcome, disputes }: PaymentFacts): readonly DisputeFact[] {
  return outcome === "succeeded" ? disputes.filter(({ released }) => !released) : [];
}

/** The same of a dispute. @param isPaid the money did not come back */
export function disputeBalances(dispute: DisputeFact, isPaid: boolean): AccountDeltas {
  if (!isPaid || dispute.released) return {};
  if (isOpen(dispute)) return move("merchant_balance", "disputes_held", dispute.amount);
  return isLost(dispute) ? move("merchant_balance", "processor_clearing", dispute.amount) : {};
}

/**
 * The same of unexpected funds. A lost intent holds nothing; a second refund's money is with the refund, and only what
 * an operator closed is with its row. A closed charge was refunded, is booked as the payment's own, or was closed.
 */
export function suspenseBalances({ kind, state, amount, returnedAmount, closedAmount }: SuspenseFact): AccountDeltas {
  if (kind === "second_refund") return move("adjustments", "suspense", -closedAmount);
  if (kind === "lost_intent") return {};
  const held = state === "closed" ? 0n : amount - returnedAmount - closedAmount;
  return { processor_clearing: held + closedAmount, suspense: -held, adjustments: -closedAmount };
}

/** The same of what was captured, and of the fee on it. */
export function captureBalances(capturedAmount: bigint, fee: bigint): AccountDeltas {
  return {
    processor_clearing: capturedAmount,
    merchant_balance: fee - capturedAmount,
    fees_revenue: -fee,
  };
}

/**
 * Debits minus credits of every account over all that happened to the payment. With C captured, F its fee, A refunds
 * asked for (Ap of them pending), U second refunds, O open disputes, L lost ones, S unexpected charges that are held
 * and K what operators closed of them:
 * - processor_clearing, what the processor holds: C − (A − Ap) − U − L + S + K
 * - merchant_balance, what we owe the merchant: −(C − F − A − O − L)
 * - fees_revenue: −F; refunds_pending: −Ap; disputes_held: −O; suspense: −(S − U); adjustments: −K
 */
export function accountBalances(facts: PaymentFacts, fee: bigint): ReadonlyMap<AuditAccount, bigint> {
  const captured = facts.capturedAmount;
  const effective = facts.refunds.filter(isEffective);
  const requested = effective.filter((refund) => !refund.unasked);
  const pending = total(requested.filter(({ status }) => status === "pending"));
  const unasked = total(effective.filter((refund) => refund.unasked));
  const [open, lost] = [total(holding(facts).filter(isOpen)), total(holding(facts).filter(isLost))];
  const unexpected = facts.suspense.map(suspenseBalances);
  const of = (account: AuditAccount) => unexpected.reduce((sum, one) => sum + (one[account] ?? 0n), 0n);
  return new Map([
    ["processor_clearing", captured - (total(requested) - pending) - unasked - lost + of("processor_clearing")],
    ["merchant_balance", fee + total(requested) + open + lost - captured],
    ["fees_revenue", -fee],
    ["refunds_pending", -pending],
    ["disputes_held", -open],
    ["suspense", unasked + of("suspense")],
    ["adjustments", of("adjustments")],
  ]);
}

/** Debits minus credits by account; an account that is left out has none. */
export type AccountDeltas = { readonly [A in AuditAccount]?: bigint };

function move(debit: AuditAccount, credit: AuditAccount, amount: bigint): AccountDeltas {
  return { [debit]: amount, [credit]: -amount };
}

function publicStatus(outcome: string, captured: bigint, refunded: bigint, hold: "none" | "open" | "lost"): string {
  if (outcome !== "succeeded") return outcome;
  if (hold !== "none") return "disputed";
  // What is only authorized has nothing to refund: refunds before it are of a debit that came back.
  if (refunded <= 0n || captured === 0n) return "succeeded";
  return refunded < captured ? "partially_refunded" : "refunded";
}

/** A refund that has taken its amount, or may. */
function isEffective({ status }: RefundFact): boolean {
  return status === "pending" || status === "succeeded";
}

function isOpen({ status }: DisputeFact): boolean {
  return status === "needs_response" || status === "under_review";
}

function isLost({ status }: DisputeFact): boolean {
  return status === "lost";
}

function total(list: readonly { readonly amount: bigint }[]): bigint {
  return list.reduce((sum, one) => sum + one.amount, 0n);
}
