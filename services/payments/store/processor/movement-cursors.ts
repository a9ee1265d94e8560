// The movement_cursors table: how far each account's movements and payouts were read, by the processor's clock.
import { parseTime, type Sql } from "#platform/database/database.ts";
import { capturingAccounts } from "./statements.ts";

export interface MovementCursor {
  readonly accountId: string;
  readonly movementsUntil: Date | undefined;
  readonly payoutsUntil: Date | undefined;
}

/** Adds accounts with a capture whose movements were never read. */
export async function addMovementCursors(sql: Sql): Promise<void> {
  await sql.rows(
    `with recursive ${capturingAccounts}
     insert into movement_cursors (connector_account_id) select id from account where id is not null on conflict do nothing`,
  );
}

/** Leases the account that has been due the longest. */
export async function claimMovements(sql: Sql, leaseSeconds: number): Promise<MovementCursor | undefined> {
  const [row] = await sql.rows<{ id: string; movements_until: string | null; payouts_until: string | null }>(
    `update movement_cursors set due_at = now() + make_interval(secs => $1) where connector_account_id =
       (select connector_account_id from movement_cursors where due_at <= now() order by due_at limit 1 for update skip locked)
     returning connector_account_id as id, movements_until, payouts_until`,
    [leaseSeconds],
  );
  return (
    row && {
      accountId: row.id,
      movementsUntil: parseTime(row.movements_until) ?? undefined,
      payoutsUntil: parseTime(row.payouts_until) ?? undefined,
    }
  );
}

/** Stores how far the lists were read. Positions never move back. */
export async function finishMovements(
  sql: Sql,
  cursor: MovementCursor,
  done: { readonly pauseSeconds: number; readonly error: string },
): Promise<void> {
  await sql.rows(
    `update movement_cursors set movements_until = greatest(movements_until, $2), payouts_until = greatest(payouts_until, $3),
       due_at = now() + make_interval(secs => $4), read_at = case when $5 = '' then now() else read_at end, last_error = $5
     where connector_account_id = $1`,
    [
      cursor.accountId,
      cursor.movementsUntil?.toISOString() ?? null,
      cursor.payoutsUntil?.toISOString() ?? null,
      done.pauseSeconds,
      done.error.slice(0, 500),
    ],
  );
}
