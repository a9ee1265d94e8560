// The auditor's own table of accounts and movements. It is written from their meaning, independent of the booking
// rules, so that a rule that posts to a wrong account is found.

/** Accounts per merchant, environment and currency. */
export const accounts = [
  // Money at processors: a debit is money they hold for us.
  "processor_clearing",
  // Our debt to merchants: a credit is theirs.
  "merchant_balance",
  // Our earnings.
  "fees_revenue",
  // Refunds that have left the merchant's balance but not yet the processor.
  "refunds_pending",
  // Money that open disputes withhold from the merchant.
  "disputes_held",
  // Unexpected funds: a credit is an excess receipt, a debit an excess payment.
  "suspense",
  // Unexpected funds that operators closed: a credit is our gain, a debit our loss.
  "adjustments",
] as const;

export type AuditAccount = (typeof accounts)[number];

/** The object whose id is the cause of a row. */
export type Subject = "attempt" | "refund" | "dispute" | "suspense";

interface MovementForm {
  readonly debit: AuditAccount;
  readonly credit: AuditAccount;
  readonly about: Subject;
}

export const movementForms: ReadonlyMap<string, MovementForm> = new Map<string, MovementForm>([
  // The processor receives the buyer's money, which belongs to the merchant.
  ["captured", { debit: "processor_clearing", credit: "merchant_balance", about: "attempt" }],
  // The bank returns the debit to the buyer.
  ["capture_returned", { debit: "merchant_balance", credit: "processor_clearing", about: "attempt" }],
  // The merchant pays our fee, or receives it back.
  ["fee_charged", { debit: "merchant_balance", credit: "fees_revenue", about: "attempt" }],
  ["fee_returned", { debit: "fees_revenue", credit: "merchant_balance", about: "attempt" }],
  // A refund is reserved; then the processor pays it, or the amount returns to the merchant.
  ["refund_reserved", { debit: "merchant_balance", credit: "refunds_pending", about: "refund" }],
  ["refund_released", { debit: "refunds_pending", credit: "merchant_balance", about: "refund" }],
  ["refund_paid", { debit: "refunds_pending", credit: "processor_clearing", about: "refund" }],
  ["refund_returned", { debit: "processor_clearing", credit: "merchant_balance", about: "refund" }],
  // The bank withholds disputed money, releases it, takes it, or returns it later.
  ["dispute_held", { debit: "merchant_balance", credit: "disputes_held", about: "dispute" }],
  ["dispute_released", { debit: "disputes_held", credit: "merchant_balance", about: "dispute" }],
  ["dispute_lost", { debit: "disputes_held", credit: "processor_clearing", about: "dispute" }],
  ["dispute_recovered", { debit: "processor_clearing", credit: "merchant_balance", about: "dispute" }],
  // An unexpected charge is held at the processor; it leaves, or further rows credit it to the merchant.
  ["suspense_held", { debit: "processor_clearing", credit: "suspense", about: "suspense" }],
  ["suspense_released", { debit: "suspense", credit: "processor_clearing", about: "suspense" }],
  // An unexpected refund leaves the processor; it comes back, or further rows charge it to the merchant.
  ["suspense_refunded", { debit: "suspense", credit: "processor_clearing", about: "refund" }],
  ["suspense_refund_released", { debit: "processor_clearing", credit: "suspense", about: "refund" }],
  // An operator closes either kind with a remaining amount.
  ["suspense_kept", { debit: "suspense", credit: "adjustments", about: "suspense" }],
  ["suspense_written_off", { debit: "adjustments", credit: "suspense", about: "suspense" }],
]);

/** Debits minus credits by account, minor units. Accounts without rows are absent. */
type Balances = ReadonlyMap<string, bigint>;

/** Balances by the accounts of the rows, regardless of their kinds. */
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
