// The first answer to each idempotency key, kept for as long as the processor's keys live.
import type { KeyRow } from "./intent-writes.ts";
import type { Db } from "./pool.ts";

const sweepMax = 5_000; // rows a round: keeps the delete short

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

/** For an answer without work, a refusal. @throws with the constraint idempotency_keys_pkey when the key is taken */
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

/** Removes what is older. @returns true when there is more */
export async function sweepKeys(db: Db, keepSeconds: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from idempotency_keys where ctid = any(array(
      select ctid from idempotency_keys where created_at < now() - $1 * interval '1 second' limit ${sweepMax}))`,
    [keepSeconds],
  );
  return rowCount === sweepMax;
}
