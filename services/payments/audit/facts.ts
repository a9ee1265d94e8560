// Computes a payment's expected amounts and account balances from its events, by the contract alone. Pure, and it
// imports nothing from the code that books or settles.
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
  /** The processor made it a second time, and no operator has accepted it as the merchant's. */
  readonly unasked: boolean;
}

export interface DisputeFact {
  readonly id: string;
  readonly status: string;
  readonly amount: bigint;
  /** The disputed debit was returned. */
  readonly released?: boolean;
}

export interface SuspenseFact {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly amount: bigint;
  readonly returnedAmount: bigint;
  /** The attempt that paid the amount; empty: no attempt did. */
  readonly paidBy: string;
  /** Remaining amount that operators closed, minor units: positive is our gain, negative our loss. */
  readonly closedAmount: bigint;
  /** Another payment with a capture of this attempt on the same intent; may be empty. */
  readonly capturedIn: string;
}

/** A capture that was not returned, with the schedule in effect at its time. */
export interface CaptureFact {
  readonly amount: bigint;
  readonly rate: Rate;
}

export interface PaymentFacts {
  readonly outcome: string;
  readonly capturedAmount: bigint;
  /** In their order. */
  readonly captures: readonly CaptureFact[];
  readonly refunds: readonly RefundFact[];
  readonly disputes: readonly DisputeFact[];
  readonly suspense: readonly SuspenseFact[];
}

/** Expected columns of the payment. */
interface ExpectedAmounts {
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
  const disputes = holdingDisputes(facts);
  const refundedAmount = total(facts.refunds.filter(isEffective));
  // Inquiries and won disputes hold no money.
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

/** Balances left by one refund. */
export function refundBalances({ status, amount, unasked }: RefundFact): AccountDeltas {
  if (unasked)
    return status === "pending" || status === "succeeded" ? move("suspense", "processor_clearing", amount) : {};
  if (status === "pending") return move("merchant_balance", "refunds_pending", amount);
  return status === "succeeded" ? move("merchant_balance", "processor_clearing", amount) : {};
}

/** Disputes that can hold money; those of a returned debit cannot. */
function holdingDisputes({ outcome, disputes }: PaymentFacts): readonly DisputeFact[] {
  return outcome === "succeeded" ? disputes.filter(({ released }) => !released) : [];
}

/** Balances left by one dispute. @param isPaid the debit was not returned */
export function disputeBalances(dispute: DisputeFact, isPaid: boolean): AccountDeltas {
  if (!isPaid || dispute.released) return {};
  if (isOpen(dispute)) return move("merchant_balance", "disputes_held", dispute.amount);
  return isLost(dispute) ? move("merchant_balance", "processor_clearing", dispute.amount) : {};
}

/**
 * Balances left by unexpected funds. A lost intent holds no money. The money of a second refund is booked with the
 * refund, apart from a closed amount. A closed charge was refunded, booked as the payment's own, or closed by an
 * operator.
 */
export function suspenseBalances({ kind, state, amount, returnedAmount, closedAmount }: SuspenseFact): AccountDeltas {
  if (kind === "second_refund") return move("adjustments", "suspense", -closedAmount);
  if (kind === "lost_intent") return {};
  const held = state === "closed" ? 0n : amount - returnedAmount - closedAmount;
  return { processor_clearing: held + closedAmount, suspense: -held, adjustments: -closedAmount };
}

/** Balances left by the capture and its fee. */
export function captureBalances(capturedAmount: bigint, fee: bigint): AccountDeltas {
  return {
    processor_clearing: capturedAmount,
    merchant_balance: fee - capturedAmount,
    fees_revenue: -fee,
  };
}

/**
 * Balances of all accounts of the payment. With C captured, F its fee, A requested refunds (Ap of them pending), U
 * second refunds, O open disputes, L lost ones, S held unexpected charges and K amounts that operators closed:
 * - processor_clearing, money at the processor: C − (A − Ap) − U − L + S + K
 * - merchant_balance, our debt to the merchant: −(C − F − A − O − L)
 * - fees_revenue: −F; refunds_pending: −Ap; disputes_held: −O; suspense: −(S − U); adjustments: −K
 */
export function accountBalances(facts: PaymentFacts, fee: bigint): ReadonlyMap<AuditAccount, bigint> {
  const captured = facts.capturedAmount;
  const effective = facts.refunds.filter(isEffective);
  const requested = effective.filter((refund) => !refund.unasked);
  const pending = total(requested.filter(({ status }) => status === "pending"));
  const unasked = total(effective.filter((refund) => refund.unasked));
  const [open, lost] = [total(holdingDisputes(facts).filter(isOpen)), total(holdingDisputes(facts).filter(isLost))];
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

/** Debits minus credits by account; an absent account has 0. */
export type AccountDeltas = { readonly [A in AuditAccount]?: bigint };

function move(debit: AuditAccount, credit: AuditAccount, amount: bigint): AccountDeltas {
  return { [debit]: amount, [credit]: -amount };
}

function publicStatus(outcome: string, captured: bigint, refunded: bigint, hold: "none" | "open" | "lost"): string {
  if (outcome !== "succeeded") return outcome;
  if (hold !== "none") return "disputed";
  // Refunds of an authorization without capture belong to a returned debit.
  if (refunded <= 0n || captured === 0n) return "succeeded";
  return refunded < captured ? "partially_refunded" : "refunded";
}

/** A refund that reserves or has paid its amount. */
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
