// The journal table: appended in the transaction of the change, never updated.
import { type Sql, type Tx, time } from "#platform/database/database.ts";
import type { OutboxRows } from "#platform/events/outbox.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Movement, postings } from "../rules/journal.ts";

/** Appends movements of one payment, and the events that tell of them; the payment's lock makes `occurrence` exact. */
export async function appendMovements(
  tx: Tx,
  payment: { id: string; merchantId: string; environment: Environment; currency: string },
  movements: readonly Movement[],
  events: OutboxRows = { ids: [], subjects: [], bodies: [] },
): Promise<void> {
  if (movements.length === 0 && events.ids.length === 0) return;
  await tx.rows(
    `with announced as (
       insert into outbox (event_id, subject, body) select * from unnest($10::text[], $11::text[], $12::bytea[]))
     insert into journal (merchant_id, environment, currency, payment_id, kind, cause, occurrence, debit, credit, amount)
     select $1, $2, $3, $4, m.kind, m.cause,
       (select count(*) from journal j where j.payment_id = $4 and j.kind = m.kind and j.cause = m.cause), m.debit, m.credit, m.amount
     from unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[]) as m (kind, cause, debit, credit, amount)`,
    [
      payment.merchantId,
      payment.environment,
      payment.currency,
      payment.id,
      movements.map((m) => m.kind),
      movements.map((m) => m.cause),
      movements.map((m) => postings[m.kind].debit),
      movements.map((m) => postings[m.kind].credit),
      movements.map((m) => m.amount),
      events.ids,
      events.subjects,
      events.bodies,
    ],
  );
}

/** An entry as it was written. */
export interface StoredEntry {
  readonly kind: string;
  readonly cause: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly createdAt: Date;
}

// A payment has some ten; hundreds of partial refunds are the most that was seen.
const entriesMax = 1_000;

/** A payment's entries, oldest first. */
export async function readEntries(
  sql: Sql,
  owner: { merchantId: string; environment: Environment },
  paymentId: string,
): Promise<StoredEntry[]> {
  const rows = await sql.rows<Omit<StoredEntry, "amount" | "createdAt"> & { amount: string; created_at: string }>(
    `select kind, cause, debit, credit, amount, currency, created_at from journal
     where payment_id = $3 and merchant_id = $1 and environment = $2 order by id limit ${entriesMax}`,
    [owner.merchantId, owner.environment, paymentId],
  );
  return rows.map(({ created_at, ...row }) => ({
    ...row,
    amount: BigInt(row.amount),
    createdAt: time(created_at),
  }));
}

/** Debits minus credits per currency and account, minor units. */
export async function readBalances(
  sql: Sql,
  owner: { merchantId: string; environment: Environment },
): Promise<{ currency: string; account: string; amount: bigint }[]> {
  const rows = await sql.rows<{ currency: string; account: string; amount: string }>(
    `select currency, account, sum(amount)::bigint as amount from (
       select currency, debit as account, amount from journal where merchant_id = $1 and environment = $2
       union all
       select currency, credit, -amount from journal where merchant_id = $1 and environment = $2) lines
     group by currency, account order by currency, account`,
    [owner.merchantId, owner.environment],
  );
  return rows.map((row) => ({ currency: row.currency, account: row.account, amount: BigInt(row.amount) }));
}
