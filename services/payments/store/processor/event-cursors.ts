// The event_cursors table: how far each account's event list was read, by the processor's clock.
import { parseTime, type Sql } from "#platform/database/database.ts";
import { capturingAccounts } from "./statements.ts";

/** Adds accounts whose list was never read: those that this process used and those with a capture. */
export async function addNewCursors(sql: Sql, used: readonly string[]): Promise<void> {
  await sql.rows(
    `with recursive ${capturingAccounts}
     insert into event_cursors (connector_account_id)
     select id from account where id is not null union select unnest($1::text[]) on conflict do nothing`,
    [used],
  );
}

/** Leases accounts that are due. */
export async function claimCursors(
  sql: Sql,
  leaseSeconds: number,
  limit: number,
): Promise<{ accountId: string; readUntil: Date | undefined }[]> {
  const rows = await sql.rows<{ connector_account_id: string; read_until: string | null }>(
    `update event_cursors set due_at = now() + make_interval(secs => $1) where connector_account_id in
       (select connector_account_id from event_cursors where due_at <= now() order by due_at limit $2 for update skip locked)
     returning connector_account_id, read_until`,
    [leaseSeconds, limit],
  );
  return rows.map((row) => ({
    accountId: row.connector_account_id,
    readUntil: parseTime(row.read_until) ?? undefined,
  }));
}

/** Stores how far a list was read and when it is read again. The position never moves back. */
export async function finishCursor(
  sql: Sql,
  accountId: string,
  done: { readUntil: Date | undefined; pauseSeconds: number; error: string },
): Promise<void> {
  await sql.rows(
    `update event_cursors set read_until = greatest(read_until, $2), due_at = now() + make_interval(secs => $3),
       read_at = case when $4 = '' then now() else read_at end, last_error = $4
     where connector_account_id = $1`,
    [accountId, done.readUntil?.toISOString() ?? null, done.pauseSeconds, done.error.slice(0, 500)],
  );
}

/**
 * Accounts whose events or movements could not be read at the last attempt. The tables have one row per account, so
 * counting each second is cheap.
 */
export async function countBehind(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ n: string }>(
    `select count(*) as n from (select connector_account_id from event_cursors where last_error <> ''
     union select connector_account_id from movement_cursors where last_error <> '') behind`,
  );
  return Number(row?.n ?? 0);
}
