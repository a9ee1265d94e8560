// The auditor's own table of accounts and movements, written down from what they mean and not taken from the rules that
// book them: a rule that posts to another account is found because this table says otherwise.

/** Accounts per merchant, environment and currency. */
export const accounts = [
  // What processors hold for us: a debit is money that is there.
  "processor_clearing",
  // What we owe merchants: a credit is theirs.
  "merchant_balance",
  // What we have earned.
  "fees_revenue",
  // Refunds that have left the merchant's balance and not yet the processor.
  "refunds_pending",
  // What open disputes keep from the merchant.
  "disputes_held",
  // Unexpected funds: a credit came in too much, a debit went out too much.
  "suspense",
  // What operators closed of them: a credit is our gain, a debit our loss.
  "adjustments",
] as const;

export type AuditAccount = (typeof accounts)[number];

/** What a row may be about: its cause is the id of one of these. */
export type Subject = "attempt" | "refund" | "dispute" | "suspense";

export interface MovementForm {
  readonly debit: AuditAccount;
  readonly credit: AuditAccount;
  readonly about: Subject;
}

/** What each kind of row debits and credits, and what its cause is. */
export const movementForms: ReadonlyMap<string, MovementForm> = new Map<string, MovementForm>([
  // The buyer's money comes to the processor, and is the merchant's.
  ["captured", { debit: "processor_clearing", credit: "merchant_balance", about: "attempt" }],
  // The bank takes it back.
  ["capture_returned", { debit: "merchant_balance", credit: "processor_clearing", about: "attempt" }],
  // The merchant pays us, or gets that back.
  ["fee_charged", { debit: "merchant_balance", credit: "fees_revenue", about: "attempt" }],
  ["fee_returned", { debit: "fees_revenue", credit: "merchant_balance", about: "attempt" }],
  // The merchant gives money away; it waits for the processor; it leaves the processor, or it does not and is the
  // merchant's again.
  ["refund_reserved", { debit: "merchant_balance", credit: "refunds_pending", about: "refund" }],
  ["refund_released", { debit: "refunds_pending", credit: "merchant_balance", about: "refund" }],
  ["refund_paid", { debit: "refunds_pending", credit: "processor_clearing", about: "refund" }],
  ["refund_returned", { debit: "processor_clearing", credit: "merchant_balance", about: "refund" }],
  // The bank keeps money from the merchant; gives it free; takes it; gives it back after all.
  ["dispute_held", { debit: "merchant_balance", credit: "disputes_held", about: "dispute" }],
  ["dispute_released", { debit: "disputes_held", credit: "merchant_balance", about: "dispute" }],
  ["dispute_lost", { debit: "disputes_held", credit: "processor_clearing", about: "dispute" }],
  ["dispute_recovered", { debit: "processor_clearing", credit: "merchant_balance", about: "dispute" }],
  // A charge that nobody asked for lies at the processor; it leaves, or becomes the merchant's by further rows.
  ["suspense_held", { debit: "processor_clearing", credit: "suspense", about: "suspense" }],
  ["suspense_released", { debit: "suspense", credit: "processor_clearing", about: "suspense" }],
  // A refund that nobody asked for leaves the processor; it comes back, or becomes the merchant's by further rows.
  ["suspense_refunded", { debit: "suspense", credit: "processor_clearing", about: "refund" }],
  ["suspense_refund_released", { debit: "processor_clearing", credit: "suspense", about: "refund" }],
  // An operator closes either kind with something left.
  ["suspense_kept", { debit: "suspense", credit: "adjustments", about: "suspense" }],
  ["suspense_written_off", { debit: "adjustments", credit: "suspense", about: "suspense" }],
]);

/** Minor units by account, debits minus credits; an account without any is left out. */
export type Balances = ReadonlyMap<string, bigint>;

/** Debits minus credits of rows, whatever their kinds say. */
export function balancesOf(
  rows: readonly { readonly debit: string; readonly credit: string; readonly amount: bigint }[],
): Balances {
  const balances = new Map<string, bigint>();
  const add = (account: string, amount: bigint) => balances.set(account, (balances.get(account) ?? 0n) + amount);
  for (const { debit, credit, amount } of rows) {
    add(debit, amount);
    add(credit, -amount);
  }
  return balances;
}
