// Reads a merchant's balance, balance transactions and payouts. The balance is a sum of days and of the last day's
// movements; lists have exact totals.
import {
  bigint,
  type Column,
  Columns,
  optionalColumn,
  type RowOf,
  sqlColumn,
  text,
  time,
} from "#platform/database/columns.ts";
import { parseTime, type Sql } from "#platform/database/database.ts";
import { type Condition, Params } from "#platform/lists/condition.ts";
import { afterCursor } from "#platform/lists/cursor.ts";
import type { PageWindow } from "#platform/lists/dated-list.ts";
import type { PayoutStatus, ProcessorBalance } from "../rules/movement.ts";
import { nullableText } from "../store/payment-columns.ts";
import type { Owner } from "../store/payment-records.ts";
import { ownRows, readCountedPage, rowsWithin } from "./counted-page.ts";

export type Balance = ProcessorBalance & { readonly feesDue: bigint };

interface BalanceRow {
  at: string;
  currency: string | null;
  occurred: string;
  available: string;
  reserved: string;
  fees_due: string;
}

/** By currency. @param at undefined: now, by the database's clock */
export async function readBalance(
  sql: Sql,
  owner: Owner,
  at: Date | undefined,
): Promise<{ at: Date; balances: Balance[] }> {
  const rows = await sql.rows<BalanceRow>(
    `with moment as (
       select t.at, (t.at at time zone 'UTC')::date as day, (t.at at time zone 'UTC')::date::timestamp at time zone 'UTC' as midnight
       from (select coalesce($3::timestamptz, now()) as at) t),
     parts as (
       select d.currency, sum(d.occurred) as occurred, sum(d.available) as available, sum(d.reserved) as reserved,
         sum(d.fees_due) as fees_due
       from movement_days d, moment where d.merchant_id = $1 and d.environment = $2 and d.day < moment.day group by d.currency
       union all
       select m.currency, sum(net) filter (where type <> 'fee'), 0, -sum(net) filter (where type in ('reserve', 'release')),
         -sum(net) filter (where type = 'fee')
       from movements m, moment
       where m.merchant_id = $1 and m.environment = $2 and m.occurred_at >= moment.midnight and m.occurred_at <= moment.at
       group by m.currency
       union all
       select m.currency, 0, sum(net), 0, 0 from movements m, moment
       where m.merchant_id = $1 and m.environment = $2 and m.type <> 'fee' and m.available_at >= moment.midnight
         and m.available_at <= moment.at
       group by m.currency)
     select moment.at, sums.* from moment left join (
       select currency, coalesce(sum(occurred), 0)::text as occurred, coalesce(sum(available), 0)::text as available,
         coalesce(sum(reserved), 0)::text as reserved, coalesce(sum(fees_due), 0)::text as fees_due from parts
       group by currency) sums on true
     order by currency`,
    [owner.merchantId, owner.environment, at?.toISOString() ?? null],
  );
  const balances = rows.flatMap((row) => (row.currency === null ? [] : [balanceOf(row.currency, row)]));
  return { at: rows[0] ? parseTime(rows[0].at) : new Date(0), balances };
}

function balanceOf(currency: string, { occurred, available, reserved, fees_due }: BalanceRow): Balance {
  const ready = BigInt(available);
  const amounts = { available: ready, pending: BigInt(occurred) - ready };
  return { currency, ...amounts, reserved: BigInt(reserved), feesDue: BigInt(fees_due) };
}

/** Pending amounts by the UTC day on which they become available, soonest first. */
export async function pendingDays(
  sql: Sql,
  owner: Owner,
): Promise<{ currency: string; day: string; amount: bigint }[]> {
  const rows = await sql.rows<{ currency: string; day: string; amount: string }>(
    `with today as (select (now() at time zone 'UTC')::date as day)
     select currency, day::text, sum(amount)::text as amount from (
       select d.currency, d.day, d.available as amount from movement_days d, today
       where d.merchant_id = $1 and d.environment = $2 and d.day > today.day
       union all
       select m.currency, today.day, m.net from movements m, today
       where m.merchant_id = $1 and m.environment = $2 and m.type <> 'fee' and m.available_at > now()
         and m.available_at < (today.day + 1)::timestamp at time zone 'UTC') parts
     group by currency, day having sum(amount) <> 0 order by currency, day`,
    [owner.merchantId, owner.environment],
  );
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

const zeroForNull: Column<bigint> = { ...bigint, read: (stored: string | null) => BigInt(stored ?? 0) };
const transactionColumns = new Columns({
  id: text,
  type: text,
  connectorAccountId: text,
  amount: bigint,
  fee: bigint,
  net: bigint,
  currency: text,
  sourceAmount: zeroForNull,
  sourceCurrency: nullableText,
  paymentId: nullableText,
  refundId: nullableText,
  disputeId: nullableText,
  payoutId: nullableText,
  occurredAt: time,
  postedAt: time,
  availableAt: time,
});

export type TransactionItem = RowOf<typeof transactionColumns>;

/** Exact; empty: all. Both ends of the time are included. */
export interface TransactionFilters {
  readonly type: string;
  readonly currency: string;
  readonly paymentId: string;
  readonly refundId: string;
  readonly disputeId: string;
  readonly payoutId: string;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

/** Of all that match, minor units. */
export interface TransactionSum {
  readonly currency: string;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly net: bigint;
}

interface SumRow {
  readonly currency: string;
  readonly n: number;
  readonly amount: string;
  readonly fee: string;
  readonly net: string;
}

/** A page with total and sums in one snapshot. */
export async function listTransactions(
  sql: Sql,
  owner: Owner,
  filters: TransactionFilters,
  { limit, offset, after }: PageWindow,
): Promise<{ rows: TransactionItem[]; total: bigint; sums: TransactionSum[] }> {
  const params = new Params();
  const where = transactionsOf(owner, filters);
  const counted = where.in(params);
  const shown = after ? where.with(afterCursor(after, "t.occurred_at")) : where;
  const found = await sql.rows<{ id: string | null; sums: SumRow[] | null }>(
    `select (select jsonb_agg(s) from (select currency, count(*) as n, sum(amount)::text as amount, sum(fee)::text as fee,
         sum(net)::text as net from movements t where ${counted} group by currency order by currency) s) as sums, page.*
     from (select) one left join (
       select ${transactionColumns.names("t")} from movements t where ${shown.in(params)}
       order by t.occurred_at desc, t.id desc limit ${params.add(limit)} offset ${params.add(offset)}) page on true
     order by page.occurred_at desc, page.id desc`,
    params.values,
  );
  const sums = found[0]?.sums ?? [];
  return {
    rows: found.flatMap((row) => (row.id === null ? [] : [transactionColumns.read(row)])),
    total: BigInt(sums.reduce((total, { n }) => total + n, 0)),
    sums: sums.map(({ currency, ...s }) => ({
      currency,
      ...{ amount: BigInt(s.amount), fee: BigInt(s.fee), net: BigInt(s.net) },
    })),
  };
}

function transactionsOf(owner: Owner, filters: TransactionFilters): Condition {
  const { type, currency, paymentId, refundId, disputeId, payoutId } = filters;
  const about = { payment_id: paymentId, refund_id: refundId, dispute_id: disputeId, payout_id: payoutId };
  return rowsWithin(ownRows(owner, { type, currency, ...about }), "t.occurred_at", filters);
}

/** undefined: the owner has no such transaction. */
export async function findTransaction(sql: Sql, owner: Owner, id: string): Promise<TransactionItem | undefined> {
  const [row] = await sql.rows<object>(
    `select ${transactionColumns.names()} from movements where id = $3 and merchant_id = $1 and environment = $2`,
    [owner.merchantId, owner.environment, id],
  );
  return row && transactionColumns.read(row);
}

const payoutColumns = new Columns({
  id: text,
  connectorAccountId: text,
  connectorRef: text,
  amount: bigint,
  currency: text,
  status: sqlColumn<PayoutStatus>("text"),
  arrivalDate: text,
  statementDescriptor: text,
  failureMessage: text,
  createdAt: time,
  reconciledAt: optionalColumn(time),
  unattributedAmount: zeroForNull,
});
const payoutFields = `(select t.*, t.ref as connector_ref from payouts t) t`;

export type PayoutItem = RowOf<typeof payoutColumns>;

/** Exact; empty: all. Both ends of the time are included. */
interface PayoutFilters {
  readonly status: string;
  readonly currency: string;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

const payoutList = { table: "payouts", from: payoutFields, columns: payoutColumns.names("t") };

export async function listPayoutItems(
  sql: Sql,
  owner: Owner,
  filters: PayoutFilters,
  window: PageWindow,
): Promise<{ rows: PayoutItem[]; total: bigint }> {
  const { status, currency } = filters;
  const where = rowsWithin(ownRows(owner, { status, currency }), "t.created_at", filters);
  const { rows, total } = await readCountedPage(sql, payoutList, where, window);
  return { rows: rows.map((row) => payoutColumns.read(row)), total };
}

/** undefined: the owner has no such payout. */
export async function findPayout(sql: Sql, owner: Owner, id: string): Promise<PayoutItem | undefined> {
  const [row] = await sql.rows<object>(
    `select ${payoutColumns.names("t")} from ${payoutFields} where t.id = $3 and t.merchant_id = $1 and t.environment = $2`,
    [owner.merchantId, owner.environment, id],
  );
  return row && payoutColumns.read(row);
}
