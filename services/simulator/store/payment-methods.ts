// Payment methods: entered cards that a merchant can use by token for an hour.
import type { StoredPaymentMethod } from "../rules/payment-method.ts";
import type { Db } from "./pool.ts";

export async function insertPaymentMethod(db: Db, method: StoredPaymentMethod): Promise<void> {
  await db.query({
    name: "insert-payment-method",
    text: "insert into payment_methods select * from jsonb_populate_record(null::payment_methods, $1)",
    values: [JSON.stringify(method)],
  });
}

/** undefined: not the account's, or expired. */
export async function findPaymentMethod(db: Db, account: string, id: string): Promise<StoredPaymentMethod | undefined> {
  const { rows } = await db.query<StoredPaymentMethod>({
    name: "find-payment-method",
    text: "select * from payment_methods where id = $1 and account = $2 and expires_at > now()",
    values: [id, account],
  });
  return rows[0];
}

const sweepMax = 5_000; // rows per round, which keeps the delete short

/** Deletes expired ones. @returns true: there may be more */
export async function sweepPaymentMethods(db: Db): Promise<boolean> {
  const { rowCount } = await db.query(`delete from payment_methods where ctid = any(array(
    select ctid from payment_methods where expires_at < now() limit ${sweepMax}))`);
  return rowCount === sweepMax;
}
