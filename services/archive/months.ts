// The tables archive_months and archive_parts, and the functions that drop and restore rows
// (platform/database/schema/0013-archive.sql and the services' own schemas).
import { bigint, Columns, integer, optionalColumn, type RowOf, text, time } from "#platform/database/columns.ts";
import type { Sql } from "#platform/database/database.ts";
import type { ArchivableRow } from "./parquet.ts";

export type Goal = "archived" | "restored";

const month = (value: string) => `(${value} || '-01')::date`;

/** Claims a month for one replica. @returns YYYY-MM; undefined: nothing is due */
export async function claimMonth(sql: Sql, leaseSeconds: number): Promise<{ month: string; goal: Goal } | undefined> {
  const [row] = await sql.rows<{ month: string; goal: Goal }>(
    `update archive_months set next_try_at = now() + make_interval(secs => $1)
     where month = (select month from archive_months where next_try_at <= now() order by next_try_at, month limit 1 for update skip locked)
     returning to_char(month, 'YYYY-MM') as month, goal`,
    [leaseSeconds],
  );
  return row;
}

/** Sets the goal of a month; it begins at once. */
export async function setGoal(sql: Sql, of: string, goal: Goal): Promise<void> {
  await sql.rows(
    `insert into archive_months (month, goal) values (${month("$1")}, $2)
     on conflict (month) do update set goal = excluded.goal, next_try_at = now(), problem = '', changed_at = now()`,
    [of, goal],
  );
}

/** Archives what a month has left, unless it was restored. @returns false: it is under way, or was restored */
export async function archiveAgain(sql: Sql, of: string): Promise<boolean> {
  const rows = await sql.rows(
    `insert into archive_months as m (month, goal) values (${month("$1")}, 'archived')
     on conflict (month) do update set next_try_at = now() where m.goal = 'archived' and m.next_try_at is null
     returning 1`,
    [of],
  );
  return rows.length > 0;
}

/** Ends a claim. @param hasMore false: the goal is reached @param problem why the try failed; empty: it did not */
export async function releaseMonth(sql: Sql, of: string, hasMore: boolean, problem: string): Promise<void> {
  await sql.rows(
    `update archive_months set next_try_at = case when $2 then now() end, problem = $3, changed_at = now() where month = ${month("$1")}`,
    [of, hasMore, problem],
  );
}

const partColumns = new Columns({
  id: bigint,
  file: text,
  sha256: text,
  bytes: bigint,
  documents: integer,
  firstId: text,
  lastId: text,
  droppedAt: optionalColumn(time),
});

export type Part = RowOf<typeof partColumns>;

export async function insertPart(
  sql: Sql,
  of: string,
  { file, sha256, bytes, documents, firstId, lastId }: Omit<Part, "id" | "droppedAt">,
): Promise<void> {
  await sql.rows(
    `insert into archive_parts (month, file, sha256, bytes, documents, first_id, last_id) values (${month("$1")}, $2, $3, $4, $5, $6, $7)`,
    [of, file, sha256, String(bytes), documents, firstId, lastId],
  );
}

/** The newest part of a month. @param onlyStored one whose rows are still in the database */
export async function newestPart(sql: Sql, of: string, onlyStored: boolean): Promise<Part | undefined> {
  const [row] = await sql.rows<object>(
    `select ${partColumns.names()} from archive_parts where month = ${month("$1")} and (dropped_at is null or not $2) order by id desc limit 1`,
    [of, onlyStored],
  );
  return row && partColumns.read(row);
}

/** Parts that may have the document, newest first. */
export async function partsOf(sql: Sql, of: string, id: string): Promise<Part[]> {
  const rows = await sql.rows<object>(
    `select ${partColumns.names()} from archive_parts where month = ${month("$1")} and first_id <= $2 and last_id >= $2 order by id desc`,
    [of, id],
  );
  return rows.map((row) => partColumns.read(row));
}

export async function markDropped(sql: Sql, id: bigint): Promise<void> {
  await sql.rows("update archive_parts set dropped_at = now() where id = $1", [String(id)]);
}

export async function deletePart(sql: Sql, id: bigint): Promise<void> {
  await sql.rows("delete from archive_parts where id = $1", [String(id)]);
}

/** Rows that can leave the database, in the order of ids. @param from included @param to excluded */
export async function archivableRows(
  sql: Sql,
  { from, to, limit }: { from: string; to: string; limit: number },
  columns: readonly string[],
): Promise<ArchivableRow[]> {
  return await sql.rows<ArchivableRow>(
    `select ${["id", ...columns].join(", ")}, document::text as document from archivable where id >= $1 and id < $2 order by id limit $3`,
    [from, to, limit],
  );
}

/** The first id from there on that can leave the database. */
export async function firstArchivable(sql: Sql, from: string, to: string): Promise<string | undefined> {
  const [row] = await sql.rows<{ id: string }>(
    "select id from archivable where id >= $1 and id < $2 order by id limit 1",
    [from, to],
  );
  return row?.id;
}

/** Drops rows that equal their documents. @returns how many */
export async function dropArchived(sql: Sql, of: string, documents: readonly string[]): Promise<number> {
  return await countOf(sql, "drop_archived", of, documents);
}

/** Inserts rows that are not in the database. @returns how many */
export async function restoreArchived(sql: Sql, of: string, documents: readonly string[]): Promise<number> {
  return await countOf(sql, "restore_archived", of, documents);
}

async function countOf(sql: Sql, name: string, of: string, documents: readonly string[]): Promise<number> {
  const [row] = await sql.rows<{ n: number }>(`select ${name}(${month("$1")}, $2::jsonb) as n`, [
    of,
    `[${documents.join(",")}]`,
  ]);
  return row?.n ?? 0;
}

const monthColumns = new Columns({
  month: text,
  goal: text,
  nextTryAt: optionalColumn(time),
  problem: text,
  changedAt: time,
  parts: bigint,
  documents: bigint,
  bytes: bigint,
});

/** Newest first. */
export async function listMonths(sql: Sql): Promise<RowOf<typeof monthColumns>[]> {
  const rows = await sql.rows<object>(
    `select to_char(m.month, 'YYYY-MM') as month, goal, next_try_at, problem, changed_at, count(p.id) as parts,
       coalesce(sum(p.documents) filter (where p.dropped_at is not null), 0) as documents, coalesce(sum(p.bytes), 0) as bytes
     from archive_months m left join archive_parts p using (month) group by m.month order by m.month desc`,
  );
  return rows.map((row) => monthColumns.read(row));
}

/** When the newest archived month ends; undefined: nothing is archived. */
export async function archivedBefore(sql: Sql): Promise<Date | undefined> {
  const [row] = await sql.rows<{ month: string | null }>(
    "select to_char(max(month) + interval '1 month', 'YYYY-MM') as month from archive_parts",
  );
  return row?.month ? new Date(`${row.month}-01T00:00:00Z`) : undefined;
}
