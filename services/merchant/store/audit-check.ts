// The audit_check table: the progress of the daily check of the audit log, shared by all replicas and kept over
// restarts.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { ChainPosition } from "../rules/audit-chain.ts";

export interface CheckProgress {
  /** Undefined at the start of a check. */
  readonly chain: ChainProgress | undefined;
  readonly broken: number;
}

export interface ChainProgress {
  readonly merchantId: string;
  readonly position: ChainPosition;
}

/**
 * Claims the next stretch for one replica.
 * @param leaseSeconds after which another replica may claim an unfinished stretch
 * @returns its start, or undefined if none is due
 */
export async function claimCheck(sql: Sql, leaseSeconds: number): Promise<CheckProgress | undefined> {
  const [row] = await sql.rows<{ merchantId: string | null; seq: string; hash: Buffer; broken: number }>(
    `update audit_check set due_at = now() + make_interval(secs => $1),
       began_at = case when merchant_id is null then now() else began_at end
     where due_at <= now() returning merchant_id as "merchantId", seq, hash, broken`,
    [leaseSeconds],
  );
  if (!row) return undefined;
  const { merchantId, seq, hash, broken } = row;
  return { chain: merchantId === null ? undefined : { merchantId, position: { seq: BigInt(seq), hash } }, broken };
}

export async function saveCheck(sql: Sql, { merchantId, position }: ChainProgress, broken: number): Promise<void> {
  await sql.rows("update audit_check set due_at = now(), merchant_id = $1, seq = $2, hash = $3, broken = $4", [
    merchantId,
    position.seq,
    position.hash,
    broken,
  ]);
}

/** Ends the check. The next one starts a day after the start of this one. */
export async function endCheck(sql: Sql, broken: number): Promise<void> {
  await sql.rows(
    `update audit_check set due_at = greatest(now(), began_at + interval '1 day'), merchant_id = null, broken = 0,
       held_at = case when $1 = 0 then now() else held_at end,
       held_seconds = case when $1 = 0 then extract(epoch from now() - began_at) else held_seconds end`,
    [broken],
  );
}

/** The last check that found all chains intact; before the first one, the creation of the chains. */
export async function lastHeld(sql: Sql): Promise<{ at: Date; seconds: number }> {
  const [row] = await sql.rows<{ held_at: string; held_seconds: number }>(
    "select held_at, held_seconds from audit_check",
  );
  if (!row) throw new Error("audit_check has no row");
  return { at: parseTime(row.held_at), seconds: row.held_seconds };
}
