// Notes of a merchant's staff on a payment. Rows are only added.
import { Columns, type RowOf, text, time } from "#platform/database/columns.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import type { Owner } from "./payment-records.ts";

const noteColumns = new Columns({ id: text, author: text, note: text, createdAt: time });

type PaymentNote = RowOf<typeof noteColumns>;

/** Oldest first; none for an unknown payment. */
export async function listNotes(
  sql: Sql,
  { merchantId, environment }: Owner,
  paymentId: string,
): Promise<readonly PaymentNote[]> {
  const rows = await sql.rows<object>(
    `select ${noteColumns.names("n")} from payment_notes n join payments p on p.id = n.payment_id
     where n.payment_id = $1 and p.merchant_id = $2 and p.environment = $3 order by n.created_at, n.id`,
    [paymentId, merchantId, environment],
  );
  return rows.map((row) => noteColumns.read(row));
}

/** Until the end of the transaction. Not the payment's own lock, under which money moves. */
export async function lockNotes(tx: Tx, paymentId: string): Promise<void> {
  await tx.rows("select pg_advisory_xact_lock(hashtextextended('notes/' || $1::text, 0))", [paymentId]);
}

export async function insertNote(sql: Sql, paymentId: string, note: Omit<PaymentNote, "createdAt">): Promise<void> {
  await sql.rows("insert into payment_notes (id, payment_id, author, note) values ($1, $2, $3, $4)", [
    ...[note.id, paymentId, note.author, note.note],
  ]);
}
