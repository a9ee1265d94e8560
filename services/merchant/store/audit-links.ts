// The audit_links table: the links of the audit log's chains. Database rights forbid changes.
import type { Sql } from "#platform/database/database.ts";
import { type ChainedEntry, type ChainPosition, entryBytes, type Link } from "../rules/audit-chain.ts";
import { chainedColumns } from "./audit-entries.ts";

export interface NewLink extends ChainPosition {
  readonly merchantId: string;
  readonly entryId: string;
}

/** The caller has locked the chains' heads. */
export async function appendLinks(sql: Sql, links: readonly NewLink[]): Promise<void> {
  await sql.rows(
    `insert into audit_links (merchant_id, seq, entry_id, late, hash)
     select merchant_id, seq, entry_id, false, hash
     from unnest($1::text[], $2::bigint[], $3::text[], $4::bytea[]) as link (merchant_id, seq, entry_id, hash)`,
    [
      links.map((link) => link.merchantId),
      links.map((link) => link.seq),
      links.map((link) => link.entryId),
      links.map((link) => link.hash),
    ],
  );
}

type LinkRow = { seq: string; entryId: string; isLate: boolean; hash: Buffer } & (ChainedEntry | { id: null });

/** The next links of a chain with their stored entries. */
export async function linksAfter(sql: Sql, merchantId: string, seq: bigint, limit: number): Promise<Link[]> {
  const rows = await sql.rows<LinkRow>(
    `select link.seq, link.entry_id as "entryId", link.late as "isLate", link.hash, ${chainedColumns}
     from audit_links link
     left join audit_entries entry on entry.id = link.entry_id
     where link.merchant_id = $1 and link.seq > $2
     order by link.seq limit $3`,
    [merchantId, seq, limit],
  );
  return rows.map((row) => ({
    seq: BigInt(row.seq),
    entryId: row.entryId,
    isLate: row.isLate,
    hash: row.hash,
    entry: row.id === null ? undefined : entryBytes(row),
  }));
}
