// The dispute_files table and the pieces of their bytes. A file is visible once it is complete, which its size marks.

import {
  bytes,
  Columns,
  integer,
  optionalColumn,
  type RowOf,
  sqlColumn,
  text,
  time,
} from "#platform/database/columns.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import type { FileType } from "../../rules/file-content.ts";
import type { Owner } from "../payment-records.ts";

const fileColumns = new Columns({
  id: text,
  disputeId: text,
  /** Empty: uploaded without one. */
  name: text,
  type: sqlColumn<FileType>("text"),
  /** undefined: not complete. */
  size: optionalColumn(integer),
  sha256: optionalColumn(bytes),
  /** Empty: not at the processor. */
  connectorRef: text,
  createdAt: time,
});
const columns = fileColumns.names("f");

export type StoredFile = RowOf<typeof fileColumns>;

/** The owner's file, complete or not. */
export async function findOwnFile(sql: Sql, owner: Owner, id: string): Promise<StoredFile | undefined> {
  const [row] = await sql.rows<object>(
    `select ${columns} from dispute_files f join disputes d on d.id = f.dispute_id
     where f.id = $1 and d.merchant_id = $2 and d.environment = $3`,
    [id, owner.merchantId, owner.environment],
  );
  return row && fileColumns.read(row);
}

/** Complete files of the dispute. */
export async function filesOf(sql: Sql, disputeId: string): Promise<StoredFile[]> {
  const rows = await sql.rows<object>(
    `select ${columns} from dispute_files f where f.dispute_id = $1 and f.size is not null order by f.id`,
    [disputeId],
  );
  return rows.map((row) => fileColumns.read(row));
}

// After this an incomplete file is abandoned: a console gives an upload a minute.
const patience = "2 minutes";

/** The caller holds the lock on the payment. @returns false: the dispute has the maximum number of files */
export async function beginFile(
  tx: Tx,
  { id, disputeId, type, name }: Pick<StoredFile, "id" | "disputeId" | "type" | "name">,
  filesMax: number,
): Promise<boolean> {
  const [row] = await tx.rows<{ n: string }>(
    `select count(*) as n from dispute_files where dispute_id = $1 and id <> $2
       and (size is not null or created_at > now() - interval '${patience}')`,
    [disputeId, id],
  );
  if (Number(row?.n) >= filesMax) return false;
  await tx.rows(
    `insert into dispute_files (id, dispute_id, type, name) values ($1, $2, $3, $4) on conflict (id) do nothing`,
    [id, disputeId, type, name],
  );
  return true;
}

/** A repeated piece, or one of a complete file, changes nothing. */
export async function appendPiece(sql: Sql, fileId: string, number: number, bytes: Uint8Array): Promise<void> {
  await sql.rows(
    `insert into dispute_file_pieces (file_id, number, bytes)
       select f.id, $2::smallint, $3::bytea from dispute_files f where f.id = $1 and f.size is null for share
     on conflict (file_id, number) do nothing`,
    [fileId, number, bytes],
  );
}

/** The pieces of the file in order. */
export async function* piecesOf(sql: Sql, fileId: string): AsyncGenerator<Buffer> {
  for (let number = 0; ; number++) {
    const piece = await findPiece(sql, fileId, number);
    if (!piece) return;
    yield piece;
  }
}

export async function findPiece(sql: Sql, fileId: string, number: number): Promise<Buffer | undefined> {
  const [row] = await sql.rows<{ bytes: Buffer }>(
    `select bytes from dispute_file_pieces where file_id = $1 and number = $2`,
    [fileId, number],
  );
  return row?.bytes;
}

/** Locks an incomplete file against further pieces. @returns false: the file is complete */
export async function lockBegunFile(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.rows(`select id from dispute_files where id = $1 and size is null for update`, [id]);
  return rows.length > 0;
}

/** Truncates the file. The caller holds the lock on the file. */
export async function cutFile(tx: Tx, id: string, length: number): Promise<void> {
  const pieceStarts = `select number, sum(length(bytes)) over (order by number) - length(bytes) as begin
    from dispute_file_pieces where file_id = $1`;
  await tx.rows(
    `delete from dispute_file_pieces p using (${pieceStarts}) place
     where p.file_id = $1 and p.number = place.number and place.begin >= $2`,
    [id, length],
  );
  await tx.rows(
    `update dispute_file_pieces p set bytes = substring(p.bytes for $2 - place.begin::int) from (${pieceStarts}) place
     where p.file_id = $1 and p.number = place.number and place.begin + length(p.bytes) > $2`,
    [id, length],
  );
}

/** Completes the file. */
export async function finishFile(sql: Sql, id: string, size: number, sha256: Buffer): Promise<void> {
  await sql.rows(`update dispute_files set size = $2, sha256 = $3 where id = $1 and size is null`, [id, size, sha256]);
}

/** Deletes an incomplete file. */
export async function dropFile(sql: Sql, id: string): Promise<void> {
  await sql.rows(`delete from dispute_files where id = $1 and size is null`, [id]);
}

/** Assigns files to a submission. */
export async function useFiles(tx: Tx, ids: readonly string[], evidenceId: string): Promise<void> {
  await tx.rows(`update dispute_files set evidence_id = $2 where id = any($1)`, [ids, evidenceId]);
}

/** Stores the file's id at the processor. The first upload wins; a repeated one leaves an unused file there. */
export async function recordUploaded(sql: Sql, id: string, connectorRef: string): Promise<void> {
  await sql.rows(`update dispute_files set connector_ref = $2 where id = $1 and connector_ref = ''`, [
    id,
    connectorRef,
  ]);
}

// Longer than any card scheme allows for a response; the bytes are not needed afterwards.
const keepDays = 30;
const sweepMax = 100;

/**
 * Deletes incomplete files, unsubmitted drafts and the bytes of submitted files, whose rows stay.
 * @returns true: there may be more
 */
export async function sweepFiles(sql: Sql): Promise<boolean> {
  const [row] = await sql.rows<{ n: string }>(
    `with old as materialized (
       select f.id, coalesce(e.state = 'submitted', false) as keeps_line
       from dispute_files f left join dispute_evidence e on e.id = f.evidence_id
       where f.created_at < now() - interval '${patience}'
         and (f.size is null or f.created_at < now() - make_interval(days => $1))
         and e.state is distinct from 'pending'
         and (coalesce(e.state, '') <> 'submitted' or exists (select from dispute_file_pieces p where p.file_id = f.id))
       order by f.created_at limit $2),
     bytes as (delete from dispute_file_pieces p using old where p.file_id = old.id and old.keeps_line),
     drafts as (delete from dispute_files f using old where f.id = old.id and not old.keeps_line)
     select count(*) as n from old`,
    [keepDays, sweepMax],
  );
  return Number(row?.n) === sweepMax;
}
