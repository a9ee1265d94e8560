// The month_closes table: a month is closed in a transaction of its own, and finished once with the hash of its books.
import { bigint, Columns, optionalColumn, type RowOf, text, time } from "#platform/database/columns.ts";
import type { Sql, Tx } from "#platform/database/database.ts";

const closeColumns = new Columns({
  closedAt: time,
  closedBy: text,
  accepted: text,
  /** Of a finished close. */
  entries: optionalColumn(bigint),
  hash: optionalColumn(text),
});

export type MonthClose = RowOf<typeof closeColumns>;

/** @param month YYYY-MM */
export async function findClose(sql: Sql, month: string): Promise<MonthClose | undefined> {
  const [row] = await sql.rows<object>(
    `select ${closeColumns.names()} from month_closes where month = ($1 || '-01')::date`,
    [month],
  );
  return row && closeColumns.read(row);
}

/** Inserts the close of now, which decides where later entries count. */
export async function insertClose(tx: Tx, month: string, closedBy: string, accepted: string): Promise<void> {
  await tx.rows(
    `insert into month_closes (month, closed_by, accepted) values (($1 || '-01')::date, $2, $3) on conflict do nothing`,
    [month, closedBy, accepted],
  );
}

/** Finishes a close once; a second result is ignored. */
export async function finishClose(sql: Sql, month: string, entries: bigint, hash: string): Promise<void> {
  await sql.rows(`update month_closes set entries = $2, hash = $3 where month = ($1 || '-01')::date and hash is null`, [
    month,
    String(entries),
    hash,
  ]);
}

/** Why a month cannot be closed: it has not ended, an earlier month with entries (YYYY-MM), open differences. */
export async function readObstacles(
  sql: Sql,
  month: string,
): Promise<{ isRunning: boolean; openBefore: string | null; differences: number }> {
  const [row] = await sql.rows<{ isRunning: boolean; openBefore: string | null; differences: number }>(
    `with bounds as (
       select ($1 || '-01')::timestamp at time zone 'UTC' as first, (($1 || '-01')::date + interval '1 month') at time zone 'UTC' as last,
         coalesce((select (max(month) + interval '1 month') at time zone 'UTC' from month_closes
           where hash is not null and month < ($1 || '-01')::date), '-infinity') as closed)
     select now() < last as "isRunning",
       (select to_char(booked_at at time zone 'UTC', 'YYYY-MM') from ledger
        where ((occurred_at >= closed and occurred_at < first) or (posted_at >= closed and posted_at < first))
          and booked_at >= closed and booked_at < first limit 1) as "openBefore",
       (select count(*)::int from statement_differences where resolved_at is null) as differences
     from bounds`,
    [month],
  );
  if (!row) throw new Error("a select without a table has one row");
  return row;
}

/**
 * Transactions of this database that began before a time and are not over. Each holds a lock on its own virtual id,
 * which every role can see. One whose start is hidden from this role counts, but a role that cannot write does not.
 */
export async function countOlderTransactions(sql: Sql, than: Date): Promise<number> {
  const [row] = await sql.rows<{ n: number }>(
    `select count(*)::int as n from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'virtualxid' and l.mode = 'ExclusiveLock' and a.datname = current_database() and has_table_privilege(a.usesysid, 'journal', 'insert')
       and a.pid <> pg_backend_pid() and coalesce(a.xact_start, '-infinity') <= $1::timestamptz + interval '1 millisecond'`,
    [than.toISOString()],
  );
  return row?.n ?? 0;
}
