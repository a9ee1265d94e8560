// The journal table: appended in the transaction of the change, never updated.
import { byKey } from "#platform/database/batch.ts";
import { bigint, Columns, type RowOf, sqlColumn, text, time } from "#platform/database/columns.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import { eventsJson, type OutboxRows } from "#platform/events/outbox.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Movement, postings } from "../rules/journal.ts";
import { rowsOfDocument } from "./archived-rows.ts";
import type { NewAdjustment } from "./ledger/adjustments.ts";
import { nullableText } from "./payment-columns.ts";
import type { Owner } from "./payment-records.ts";

/** Appends movements of one payment with their events. The caller's lock on the payment makes `occurrence` exact. */
export async function appendMovements(
  tx: Tx,
  payment: JournalAppend["payment"],
  movements: readonly Movement[],
  events: OutboxRows = { ids: [], subjects: [], bodies: [] },
): Promise<void> {
  if (movements.length === 0 && events.ids.length === 0) return;
  await tx.batched(appendBatch, { payment, movements, events });
}

interface JournalAppend {
  readonly payment: { id: string; merchantId: string; environment: Environment; currency: string };
  readonly movements: readonly Movement[];
  readonly events: OutboxRows;
}

async function appendBatch(sql: Sql, appended: readonly JournalAppend[]): Promise<true[]> {
  await sql.rows(
    `with input as (
       select * from jsonb_to_recordset($1) as g (
         each integer, payment_id text, merchant_id text, environment smallint, currency text, movements jsonb, events jsonb)
       where each = 1),
     announced as (
       insert into outbox (event_id, subject, body)
       select e.* from input, jsonb_to_recordset(events) as e (event_id text, subject text, body bytea))
     insert into journal (merchant_id, environment, currency, payment_id, kind, cause, occurrence, debit, credit, amount, captured_at)
     select g.merchant_id, g.environment, g.currency, g.payment_id, m.kind, m.cause,
       (select count(*) from journal j where j.payment_id = g.payment_id and j.kind = m.kind and j.cause = m.cause),
       m.debit, m.credit, m.amount, m.captured_at
     from input g, jsonb_to_recordset(movements) as m (
       kind text, cause text, debit text, credit text, amount bigint, captured_at timestamptz)`,
    [
      byKey(
        appended.map(({ payment, movements, events }) => ({
          payment_id: payment.id,
          merchant_id: payment.merchantId,
          environment: payment.environment,
          currency: payment.currency,
          movements: movements.map((movement) => ({
            kind: movement.kind,
            cause: movement.cause,
            ...postings[movement.kind],
            amount: String(movement.amount),
            captured_at: movement.kind === "captured" ? movement.at : undefined,
          })),
          events: eventsJson(events),
        })),
        "payment_id",
      ),
    ],
  );
  return appended.map(() => true);
}

/** The payment's own money at its processor by the journal, without its unexpected funds. Minor units. */
export async function bookedAtProcessor(sql: Sql, paymentId: string): Promise<bigint> {
  const [row] = await sql.rows<{ booked: string | null }>(
    `select sum(case 'processor_clearing' when debit then amount when credit then -amount end) as booked from journal
     where payment_id = $1 and kind not in ('suspense_held', 'suspense_released')`,
    [paymentId],
  );
  return BigInt(row?.booked ?? 0);
}

/** Appends the lines of an approved adjustment. They belong to its merchant and to no payment. */
export async function appendAdjustment(
  tx: Tx,
  adjustment: Pick<NewAdjustment, "id" | "merchantId" | "environment" | "lines">,
): Promise<void> {
  const { id, merchantId, environment, lines } = adjustment;
  await tx.rows(
    `insert into journal (merchant_id, environment, currency, kind, cause, occurrence, debit, credit, amount)
     select $1, $2, l.currency, 'adjusted', $3, l.n - 1, l.debit, l.credit, l.amount
     from unnest($4::text[], $5::text[], $6::text[], $7::bigint[]) with ordinality as l (currency, debit, credit, amount, n)`,
    [
      merchantId,
      environment,
      id,
      lines.map((line) => line.currency),
      lines.map((line) => line.debit),
      lines.map((line) => line.credit),
      lines.map((line) => line.amount),
    ],
  );
}

const journalColumns = new Columns({
  id: bigint,
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  /** Empty for an adjustment. */
  paymentId: nullableText,
  kind: text,
  cause: text,
  debit: text,
  credit: text,
  amount: bigint,
  currency: text,
  createdAt: time,
});

export type JournalRow = RowOf<typeof journalColumns>;

/** Empty texts, 0 and undefined match all. */
interface EntryFilter {
  readonly paymentId: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly account: string;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly beforeId: string;
  readonly limit: number;
}

/** Newest first. */
export async function listEntries(sql: Sql, filter: EntryFilter): Promise<JournalRow[]> {
  const { paymentId, merchantId, environment, account, since, until, beforeId, limit } = filter;
  const values: unknown[] = [];
  const value = (item: unknown) => `$${values.push(item)}`;
  const conditions = [
    ...(paymentId === "" ? [] : [`payment_id = ${value(paymentId)}`]),
    ...(merchantId === "" ? [] : [`merchant_id = ${value(merchantId)}`]),
    ...(environment === Environment.UNSPECIFIED ? [] : [`environment = ${value(environment)}`]),
    ...(account === "" ? [] : [`${value(account)} in (debit, credit)`]),
    ...(since ? [`created_at >= ${value(since.toISOString())}`] : []),
    ...(until ? [`created_at < ${value(until.toISOString())}`] : []),
    ...(beforeId === "" ? [] : [`id < ${value(beforeId)}`]),
  ];
  const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
  const rows = await sql.rows<object>(`select * from journal ${where} order by id desc limit ${value(limit)}`, values);
  return rows.map((row) => journalColumns.read(row));
}

// A payment has about ten; with hundreds of partial refunds it has hundreds.
const entriesMax = 1_000;

/** A payment's entries, oldest first. */
export async function readEntries(sql: Sql, owner: Owner, paymentId: string): Promise<JournalRow[]> {
  const all = { account: "", since: undefined, until: undefined, beforeId: "", limit: entriesMax };
  return (await listEntries(sql, { ...owner, paymentId, ...all })).reverse();
}

/** A payment's entries in its document of the archive, oldest first. */
export async function readArchivedEntries(sql: Sql, document: string): Promise<JournalRow[]> {
  const rows = await sql.rows<object>(`${rowsOfDocument("$1")}select * from journal order by id`, [document]);
  return rows.map((row) => journalColumns.read(row));
}

/** Debits minus credits per currency and account, minor units. */
export async function readBalances(
  sql: Sql,
  owner: Owner,
): Promise<{ currency: string; account: string; amount: bigint }[]> {
  const rows = await sql.rows<{ currency: string; account: string; amount: string }>(
    `select currency, account, sum(amount)::bigint as amount from (
       select currency, debit as account, amount from journal where merchant_id = $1 and environment = $2
       union all
       select currency, credit, -amount from journal where merchant_id = $1 and environment = $2
       union all
       select currency, debit, amount from journal_sums where merchant_id = $1 and environment = $2
       union all
       select currency, credit, -amount from journal_sums where merchant_id = $1 and environment = $2) lines
     group by currency, account order by currency, account`,
    [owner.merchantId, owner.environment],
  );
  return rows.map((row) => ({ currency: row.currency, account: row.account, amount: BigInt(row.amount) }));
}
