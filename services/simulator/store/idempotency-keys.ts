// The first answer to each idempotency key, and the audit of executed API POSTs.
import type { KeyRow, OperationRow } from "./intent-writes.ts";
import type { Db } from "./pool.ts";

const sweepMax = 5_000; // rows per round, which keeps the delete short

export async function findKey(
  db: Db,
  account: string,
  key: string,
  keepSeconds: number,
): Promise<(KeyRow & { is_old: boolean }) | undefined> {
  const { rows } = await db.query<KeyRow & { is_old: boolean }>({
    name: "find-key",
    text: `select *, created_at < now() - $3 * interval '1 second' as is_old
      from idempotency_keys where account = $1 and key = $2`,
    values: [account, key, keepSeconds],
  });
  return rows[0];
}

/** Stores an answer without work, such as a refusal. @throws by idempotency_keys_pkey if the key exists */
export async function saveKey(db: Db, row: KeyRow): Promise<void> {
  await db.query({
    name: "save-key",
    text: "insert into idempotency_keys select * from jsonb_populate_record(null::idempotency_keys, $1)",
    values: [JSON.stringify(row)],
  });
}

export async function forgetKey(db: Db, account: string, key: string): Promise<void> {
  await db.query("delete from idempotency_keys where account = $1 and key = $2", [account, key]);
}

/** Deletes expired keys. @returns true: there may be more */
export async function sweepKeys(db: Db, keepSeconds: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from idempotency_keys where ctid = any(array(
      select ctid from idempotency_keys where created_at < now() - $1 * interval '1 second' limit ${sweepMax}))`,
    [keepSeconds],
  );
  return rowCount === sweepMax;
}

const listMax = 500; // per reference; two are a caller's mistake

export async function listOperations(db: Db, reference: string): Promise<OperationRow[]> {
  const { rows } = await db.query<OperationRow>(
    `select account, kind, idempotency_key, reference, object_id, intent_id, created_at
      from operations where reference = $1 order by id limit ${listMax}`,
    [reference],
  );
  return rows;
}
