// The audit_check table: where the daily pass over the audit log stands, so that replicas share one pass and a restart
// goes on with it.
import { type Sql, time } from "#platform/database/database.ts";
import type { ChainPosition } from "../rules/audit-chain.ts";

export interface CheckPlace {
  /** Entries up to this one are in a chain. */
  readonly entryId: string;
  /** The chain that is followed, and how far it was; undefined: entries are looked at. */
  readonly chain: ChainPlace | undefined;
  /** Chains of this pass that do not hold. */
  readonly broken: number;
}

export interface ChainPlace {
  readonly merchantId: string;
  readonly place: ChainPosition;
}

interface Row {
  entry_id: string;
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
export async function claimCheck(sql: Sql, leaseSeconds: number): Promise<CheckPlace | undefined> {
  const [row] = await sql.rows<Row>(
    `update audit_check set due_at = now() + make_interval(secs => $1),
       began_at = case when entry_id = '' and merchant_id is null then now() else began_at end
     where due_at <= now() returning entry_id, merchant_id, seq, hash, broken`,
    [leaseSeconds],
  );
  if (!row) return undefined;
  const place = { seq: BigInt(row.seq), hash: row.hash };
  const chain = row.merchant_id === null ? undefined : { merchantId: row.merchant_id, place };
  return { entryId: row.entry_id, chain, broken: row.broken };
}

/** Notes how far the pass has come. */
export async function saveCheck(sql: Sql, { entryId, chain, broken }: CheckPlace): Promise<void> {
  await sql.rows(
    `update audit_check set due_at = now(), entry_id = $1, merchant_id = $2, seq = coalesce($3, 0), hash = coalesce($4, hash), broken = $5`,
    [entryId, chain?.merchantId ?? null, chain?.place.seq ?? null, chain?.place.hash ?? null, broken],
  );
}

/** Ends the pass; the next one begins a day after this one did. */
export async function endCheck(sql: Sql, broken: number): Promise<void> {
  await sql.rows(
    `update audit_check set due_at = greatest(now(), began_at + interval '1 day'), entry_id = '', merchant_id = null, broken = 0,
       held_at = case when $1 = 0 then now() else held_at end,
       held_seconds = case when $1 = 0 then extract(epoch from now() - began_at) else held_seconds end`,
    [broken],
  );
}

/**
 * The last pass in which every chain held; as long as there was none: since when there are chains. A time that no pass
 * can have ended at was written by somebody else, and is answered as 1970.
 */
export async function lastHeld(sql: Sql): Promise<{ at: Date; seconds: number }> {
  const [row] = await sql.rows<{ held_at: string; held_seconds: number }>(
    `select case when isfinite(held_at) and held_at <= now() then held_at else 'epoch' end as held_at, held_seconds from audit_check`,
  );
  if (!row) throw new Error("the row of audit_check is gone");
  return { at: time(row.held_at), seconds: row.held_seconds };
}
