// The audit_heads table: the last position of each chain of the audit log.
import type { Sql, Tx } from "#platform/database/database.ts";
import { type ChainPosition, origin } from "../rules/audit-chain.ts";

interface Row {
  merchant_id: string;
  seq: string;
  hash: Buffer;
}

/** Locks the chains' heads in the order of their names, so transactions cannot deadlock. Missing heads are created. */
export async function lockHeads(tx: Tx, merchantIds: readonly string[]): Promise<Map<string, ChainPosition>> {
  const rows = await tx.rows<Row>(
    `insert into audit_heads as head (merchant_id, seq, hash)
     select merchant_id, $2, $3 from unnest($1::text[]) as merchant_id order by merchant_id collate "C"
     on conflict (merchant_id) do update set seq = head.seq
     returning merchant_id, seq, hash`,
    [[...new Set(merchantIds)], origin.seq, Buffer.from(origin.hash)],
  );
  return new Map(rows.map(({ merchant_id, seq, hash }) => [merchant_id, { seq: BigInt(seq), hash }]));
}

/** The caller has locked the heads. */
export async function moveHeads(tx: Tx, heads: ReadonlyMap<string, ChainPosition>): Promise<void> {
  await tx.rows(
    `update audit_heads head set seq = moved.seq, hash = moved.hash
     from unnest($1::text[], $2::bigint[], $3::bytea[]) as moved (merchant_id, seq, hash)
     where head.merchant_id = moved.merchant_id`,
    [[...heads.keys()], [...heads.values()].map(({ seq }) => seq), [...heads.values()].map(({ hash }) => hash)],
  );
}

const nextText = (condition: string) => `least((select min(merchant_id) from audit_heads where ${condition}),
  (select min(merchant_id) from audit_links where ${condition}))`;

/** The next chains by name, including chains with links but no head. @param after undefined for the first ones */
export async function chainsAfter(sql: Sql, after: string | undefined, limit: number): Promise<string[]> {
  const rows = await sql.rows<{ merchant_id: string }>(
    `with recursive chain (merchant_id) as (
       select ${nextText(after === undefined ? "$1::text is null" : "merchant_id > $1")}
       union all
       select ${nextText("merchant_id > chain.merchant_id")} from chain where chain.merchant_id is not null)
     select merchant_id from chain where merchant_id is not null limit $2`,
    [after ?? null, limit],
  );
  return rows.map((row) => row.merchant_id);
}

/** The end of a chain, which its links must reach. */
export async function readHead(sql: Sql, merchantId: string): Promise<ChainPosition | undefined> {
  const [row] = await sql.rows<Row>(
    "select merchant_id, seq, hash from audit_heads where merchant_id = $1 and seq > 0",
    [merchantId],
  );
  return row && { seq: BigInt(row.seq), hash: row.hash };
}
