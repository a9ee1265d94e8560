// The audit_seals table: the heads of chains that were told to the world.
import type { Sql } from "#platform/database/database.ts";
import type { ChainPosition } from "../rules/audit-chain.ts";

/** @returns false: this place is sealed already */
export async function insertSeal(sql: Sql, merchantId: string, { seq, hash }: ChainPosition): Promise<boolean> {
  const rows = await sql.rows(
    `insert into audit_seals (merchant_id, seq, hash) values ($1, $2, $3) on conflict do nothing returning seq`,
    [merchantId, seq, hash],
  );
  return rows.length > 0;
}
