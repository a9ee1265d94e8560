// The audit_links table: the chains of the audit log, link by link. SQL refuses everything but appending.
import type { Sql } from "#platform/database/database.ts";
import { type ChainPosition, entryBytes, type Link } from "../rules/audit-chain.ts";
import { type StoredRow, storedColumns, storedEntry } from "./audit-entries.ts";

export interface NewLink extends ChainPosition {
  readonly merchantId: string;
  readonly entryId: string;
  readonly isLate: boolean;
}

/** For whoever holds the heads of these chains. */
export async function appendLinks(sql: Sql, links: readonly NewLink[]): Promise<void> {
  await sql.rows(
    `insert into audit_links (merchant_id, seq, entry_id, late, hash)
     select * from unnest($1::text[], $2::bigint[], $3::text[], $4::boolean[], $5::bytea[])`,
    [
      links.map((link) => link.merchantId),
      links.map((link) => link.seq),
      links.map((link) => link.entryId),
      links.map((link) => link.isLate),
      links.map((link) => link.hash),
    ],
  );
}

/** Which of the entries are in a chain, for whoever holds the heads of theirs. */
export async function chainedOf(sql: Sql, entryIds: readonly string[]): Promise<Set<string>> {
  const rows = await sql.rows<{ entry_id: string }>(
    `select entry_id from audit_links where entry_id = any($1::text[])`,
    [entryIds],
  );
  return new Set(rows.map((row) => row.entry_id));
}

interface LinkRow {
  seq: string;
  entry_id: string;
  late: boolean;
  hash: Buffer;
  sealed: Buffer | null;
}

/** The next links of a chain with their entries, as they are stored. */
export async function linksAfter(sql: Sql, merchantId: string, seq: bigint, limit: number): Promise<Link[]> {
  const rows = await sql.rows<LinkRow & (StoredRow | { id: null })>(
    `select link.seq, link.entry_id, link.late, link.hash, seal.hash as sealed, ${storedColumns}
     from audit_links link
     left join audit_entries entry on entry.id = link.entry_id
     left join audit_seals seal on seal.merchant_id = link.merchant_id and seal.seq = link.seq
     where link.merchant_id = $1 and link.seq > $2
     order by link.seq limit $3`,
    [merchantId, seq, limit],
  );
  return rows.map((row) => ({
    seq: BigInt(row.seq),
    entryId: row.entry_id,
    isLate: row.late,
    hash: row.hash,
    sealed: row.sealed ?? undefined,
    entry: row.id === null ? undefined : entryBytes(storedEntry(row)),
  }));
}
