// The audit_check table: where the daily pass over the audit log stands, so that replicas share one pass and a restart
// goes on with it.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { ChainPosition } from "../rules/audit-chain.ts";

export interface CheckProgress {
  /** The chain that is followed, and how far it was; undefined: the pass begins. */
  readonly chain: ChainProgress | undefined;
  /** Chains of this pass that do not hold. */
  readonly broken: number;
}

export interface ChainProgress {
  readonly merchantId: string;
  readonly position: ChainPosition;
}

interface Row {
  merchant_id: string | null;
  seq: string;
  hash: Buffer;
  broken: number;
}

/**
 * Takes the next stretch of the pass, for one replica at a time.
 * @param leaseSeconds after which another replica takes a stretch that was never finished
 * @returns where it begins; undefined: nothing is due
 */
export async function claimCheck(sql: Sql, leaseSeconds: number): Promise<CheckProgress | undefined> {
  const [row] = await sql.rows<Row>(
    `update audit_check set due_at = now() + make_interval(secs => $1),
       began_at = case when merchant_id is null then now() else began_at end
     where due_at <= now() returning merchant_id, seq, hash, broken`,
    [leaseSeconds],
  );
  if (!row) return undefined;
  const position = { seq: BigInt(row.seq), hash: row.hash };
  const chain = row.merchant_id === null ? undefined : { merchantId: row.merchant_id, position };
  return { chain, broken: row.broken };
}

/** Records how far the pass has come. */
export async function saveCheck(sql: Sql, { merchantId, position }: ChainProgress, broken: number): Promise<void> {
  await sql.rows("update audit_check set due_at = now(), merchant_id = $1, seq = $2, hash = $3, broken = $4", [
    merchantId,
    position.seq,
    position.hash,
    broken,
  ]);
}

/** Ends the pass; the next one begins a day after this one did. */
export async function endCheck(sql: Sql, broken: number): Promise<void> {
  await sql.rows(
    `update audit_check set due_at = greatest(now(), began_at + interval '1 day'), merchant_id = null, broken = 0,
       held_at = case when $1 = 0 then now() else held_at end,
       held_seconds = case when $1 = 0 then extract(epoch from now() - began_at) else held_seconds end`,
    [broken],
  );
}

/** The last pass in which every chain held; as long as there was none: since when there are chains. */
export async function lastHeld(sql: Sql): Promise<{ at: Date; seconds: number }> {
  const [row] = await sql.rows<{ held_at: string; held_seconds: number }>(
    "select held_at, held_seconds from audit_check",
  );
  if (!row) throw new Error("the row of audit_check is gone");
  return { at: parseTime(row.held_at), seconds: row.held_seconds };
}
