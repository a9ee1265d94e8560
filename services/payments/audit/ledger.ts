// Audits the view `ledger`: recomputes each merchant's balances from journal, movements and payouts with the auditor's
// own accounts, and compares them with the view's sums in one snapshot.
import type { Database, Sql } from "#platform/database/database.ts";

/** Type and normal side of each account. */
export const ledgerAccounts: ReadonlyMap<string, readonly [type: string, normalSide: string]> = new Map([
  // Money: what processors hold, owe by our books, keep back, have sent to the bank, and what arrived there.
  ["processor_balance", ["asset", "debit"]],
  ["processor_clearing", ["asset", "debit"]],
  ["processor_reserve", ["asset", "debit"]],
  ["payouts_in_transit", ["asset", "debit"]],
  ["bank", ["asset", "debit"]],
  // Debts: to merchants, to buyers, and of payments that others took on the same account.
  ["outside_payments", ["liability", "credit"]],
  ["merchant_balance", ["liability", "credit"]],
  ["refunds_pending", ["liability", "credit"]],
  ["disputes_held", ["liability", "credit"]],
  ["suspense", ["liability", "credit"]],
  // Our earnings and costs.
  ["fees_revenue", ["revenue", "credit"]],
  ["processor_fees", ["expense", "debit"]],
  ["dispute_fees", ["expense", "debit"]],
  ["processor_adjustments", ["expense", "debit"]],
  ["fx_difference", ["expense", "debit"]],
  ["adjustments", ["expense", "debit"]],
]);

/** The accounts that a movement of each type takes its amount from and its fee to, against `processor_balance`. */
export const movementAccounts: ReadonlyMap<string, { readonly amount: string; readonly fee: string }> = new Map([
  ...["capture", "refund", "refund_failure"].map(
    (type) => [type, { amount: "processor_clearing", fee: "processor_fees" }] as const,
  ),
  ...["dispute", "dispute_reversal"].map(
    (type) => [type, { amount: "processor_clearing", fee: "dispute_fees" }] as const,
  ),
  ["processor_fee", { amount: "processor_fees", fee: "processor_fees" }],
  ["dispute_fee", { amount: "dispute_fees", fee: "dispute_fees" }],
  ["adjustment", { amount: "processor_adjustments", fee: "processor_fees" }],
  ...["payout", "payout_failure"].map(
    (type) => [type, { amount: "payouts_in_transit", fee: "processor_fees" }] as const,
  ),
  ...["reserve", "release"].map((type) => [type, { amount: "processor_reserve", fee: "processor_fees" }] as const),
]);

/** Debits minus credits by `environment currency account`, minor units. */
export type LedgerBalances = ReadonlyMap<string, bigint>;

interface MovementSum {
  readonly environment: number;
  readonly currency: string;
  readonly source_currency: string | null;
  readonly type: string;
  readonly is_ours: boolean;
  readonly amount: string;
  readonly fee: string;
  readonly source_amount: string;
}

/** Balances by the tables of facts. @param at facts that occurred before; absent: all */
export async function recomputeLedger(sql: Sql, merchantId: string, at?: Date): Promise<LedgerBalances> {
  const values = [merchantId, at?.toISOString() ?? "infinity"];
  const balances = new Map<string, bigint>();
  const add = (environment: number, currency: string, account: string, amount: bigint) => {
    if (!ledgerAccounts.has(account)) throw new Error(`the auditor has no account ${account}`);
    const key = `${environment} ${currency} ${account}`;
    balances.set(key, (balances.get(key) ?? 0n) + amount);
  };
  const booked = await sql.rows<{
    environment: number;
    currency: string;
    debit: string;
    credit: string;
    amount: string;
  }>(
    `select environment, currency, debit, credit, sum(amount)::text as amount from journal
     where merchant_id = $1 and case when captured_at is null then created_at else captured_at end < $2::timestamptz group by 1, 2, 3, 4
     union all select environment, currency, debit, credit, sum(amount)::text from journal_sums
     where merchant_id = $1 and booked_month < ($2::timestamptz at time zone 'UTC') group by 1, 2, 3, 4`,
    values,
  );
  for (const { environment, currency, debit, credit, amount } of booked) {
    add(environment, currency, debit, BigInt(amount));
    add(environment, currency, credit, -BigInt(amount));
  }
  const moved = await sql.rows<MovementSum>(
    `select environment, currency, source_currency, type, is_ours, sum(amount)::text as amount, sum(fee)::text as fee,
       coalesce(sum(source_amount), 0)::text as source_amount
     from movements where merchant_id = $1 and occurred_at < $2::timestamptz and type <> 'fee' group by 1, 2, 3, 4, 5`,
    values,
  );
  for (const sum of moved)
    addMovement(sum, (currency, account, amount) => add(sum.environment, currency, account, amount));
  const arrived = await sql.rows<{ environment: number; currency: string; amount: string }>(
    `select environment, currency, sum(amount * (case when paid_at < $2::timestamptz then 1 else 0 end
       - case when returned_at < $2::timestamptz then 1 else 0 end))::text as amount
     from payouts where merchant_id = $1 group by 1, 2`,
    values,
  );
  for (const { environment, currency, amount } of arrived) {
    add(environment, currency, "bank", BigInt(amount));
    add(environment, currency, "payouts_in_transit", -BigInt(amount));
  }
  return balances;
}

/** A converted amount leaves the payment's currency and enters the balance's; the difference is the exchange's. */
function addMovement(sum: MovementSum, add: (currency: string, account: string, amount: bigint) => void): void {
  const accounts = movementAccounts.get(sum.type);
  if (!accounts) throw new Error(`the auditor does not know movements of type ${sum.type}`);
  const [amount, fee] = [BigInt(sum.amount), BigInt(sum.fee)];
  add(sum.currency, "processor_balance", amount - fee);
  add(sum.currency, accounts.fee, fee);
  const isForeign = accounts.amount === "processor_clearing" && !sum.is_ours;
  const other = isForeign ? "outside_payments" : accounts.amount;
  if (sum.source_currency === null) {
    add(sum.currency, other, -amount);
  } else {
    add(sum.currency, "fx_difference", -amount);
    add(sum.source_currency, "fx_difference", BigInt(sum.source_amount));
    add(sum.source_currency, other, -BigInt(sum.source_amount));
  }
}

export interface LedgerDifference {
  readonly merchantId: string;
  /** One sentence each. */
  readonly differences: readonly string[];
}

/** @param onDifference called for each merchant with differences @returns merchants compared */
export async function auditLedger(db: Database, onDifference: (found: LedgerDifference) => void): Promise<number> {
  const merchants = await db.rows<{ id: string }>(
    `select distinct merchant_id as id from journal union select merchant_id from journal_sums union select merchant_id from movements union select merchant_id from payouts order by 1`,
  );
  for (const { id } of merchants) {
    const [own, there] = await db.snapshot(async (sql) => [
      await recomputeLedger(sql, id),
      await viewBalances(sql, id),
    ]);
    const differences = [...new Set([...own.keys(), ...there.keys()])].sort().flatMap((key) => {
      const [must, is] = [own.get(key) ?? 0n, there.get(key) ?? 0n];
      return must === is ? [] : [`environment ${key} has ${is} in the ledger, expected ${must}`];
    });
    if (differences.length > 0) onDifference({ merchantId: id, differences });
  }
  return merchants.length;
}

async function viewBalances(sql: Sql, merchantId: string): Promise<LedgerBalances> {
  const rows = await sql.rows<{ key: string; amount: string }>(
    `select environment || ' ' || currency || ' ' || account as key, sum(amount)::text as amount from (
       select environment, currency, debit as account, amount from ledger where merchant_id = $1
       union all select environment, currency, credit, -amount from ledger where merchant_id = $1) side group by 1`,
    [merchantId],
  );
  return new Map(rows.map(({ key, amount }) => [key, BigInt(amount)]));
}
