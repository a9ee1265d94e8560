// Audit of executed API POSTs.
import type { OperationRow } from "./intent-writes.ts";
import type { Db } from "./pool.ts";

const listMax = 500; // per reference; two are a caller's mistake

export async function listOperations(db: Db, reference: string): Promise<OperationRow[]> {
  const { rows } = await db.query<OperationRow>(
    `select account, kind, idempotency_key, reference, object_id, intent_id, created_at
      from operations where reference = $1 order by id limit ${listMax}`,
    [reference],
  );
  return rows;
}
