// The audit_links table: the chains of the audit log, link by link. SQL refuses everything but appending.
import type { Sql } from "#platform/database/database.ts";
import { type ChainPosition, entryBytes, type Link } from "../rules/audit-chain.ts";
import { type StoredRow, storedColumns, storedEntry } from "./audit-entries.ts";

export interface NewLink extends ChainPosition {
  readonly merchantId: string;
  readonly entryId: string;
}

/** For a transaction that holds the heads of these chains. */
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

interface LinkRow {
  seq: string;
  entry_id: string;
  late: boolean;
  hash: Buffer;
}

/** The next links of a chain with their entries, as they are stored. */
export async function linksAfter(sql: Sql, merchantId: string, seq: bigint, limit: number): Promise<Link[]> {
  const rows = await sql.rows<LinkRow & (StoredRow | { id: null })>(
    `select link.seq, link.entry_id, link.late, link.hash, ${storedColumns}
     from audit_links link
     left join audit_entries entry on entry.id = link.entry_id
     where link.merchant_id = $1 and link.seq > $2
     order by link.seq limit $3`,
    [merchantId, seq, limit],
  );
  return rows.map((row) => ({
    seq: BigInt(row.seq),
    entryId: row.entry_id,
    isLate: row.late,
    hash: row.hash,
    entry: row.id === null ? undefined : entryBytes(storedEntry(row)),
  }));
}
