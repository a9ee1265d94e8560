// Chooses by a merchant's routing which of its accounts may take a new payment. The first matching rule with a usable
// account wins; shares of matching rules add up, and a payment's own number decides, so that a repeat decides alike.

export interface RoutingRule {
  /** Empty: any. */
  readonly currency: string;
  /** 0: any. */
  readonly amountMin: bigint;
  /** 0: any. */
  readonly amountMax: bigint;
  /** Empty: any. */
  readonly captureMethod: string;
  /** Accounts in order of use. */
  readonly use: readonly string[];
  /** Percentage of the payments that match; 0: all that earlier rules leave. */
  readonly share: number;
}

export interface RoutedOrder {
  readonly amount: bigint;
  readonly currency: string;
  readonly captureMethod: string;
}

/** Why a payment is at its account. */
export interface PaymentRouting {
  /** Position of the rule that matched, from 1. */
  readonly rule: number | undefined;
  readonly reason: "primary" | "rule" | "session" | "outage" | "decline";
}

/**
 * @param turn the payment's number, 0 to 99
 * @returns the position of the rule, from 1, with its usable accounts; undefined: no rule decides
 */
export function matchRule<A extends { readonly id: string }>(
  rules: readonly RoutingRule[],
  order: RoutedOrder,
  usable: readonly A[],
  turn: number,
): { readonly rule: number; readonly accounts: readonly A[] } | undefined {
  let shared = 0;
  for (const [i, rule] of rules.entries()) {
    const accounts = rule.use.flatMap((id) => usable.filter((account) => account.id === id));
    if (accounts.length === 0 || !matches(rule, order)) continue;
    shared += rule.share === 0 ? 100 : rule.share;
    if (turn < shared) return { rule: i + 1, accounts };
  }
  return undefined;
}

function matches({ currency, amountMin, amountMax, captureMethod }: RoutingRule, order: RoutedOrder): boolean {
  if (currency !== "" && currency !== order.currency) return false;
  if (captureMethod !== "" && captureMethod !== order.captureMethod) return false;
  return order.amount >= amountMin && (amountMax === 0n || order.amount <= amountMax);
}

/** A payment's number for shares, 0 to 99: FNV-1a of its id, which is evenly distributed. */
export function turnOf(paymentId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < paymentId.length; i++) hash = Math.imul(hash ^ paymentId.charCodeAt(i), 0x01000193) >>> 0;
  return hash % 100;
}
