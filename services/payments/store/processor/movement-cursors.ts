// The movement_cursors table: how far each account's movements and payouts were read, by the processor's clock, and the
// last comparison with its balance.
import { parseTime, type Sql } from "#platform/database/database.ts";
import { capturingAccounts } from "./statements.ts";

export interface MovementCursor {
  readonly accountId: string;
  readonly movementsUntil: Date | undefined;
  readonly payoutsUntil: Date | undefined;
}

/** Adds accounts with a capture or unexpected funds whose movements were never read. */
export async function addMovementCursors(sql: Sql): Promise<void> {
  await sql.rows(
    `with recursive ${capturingAccounts}
     insert into movement_cursors (connector_account_id) select id from account where id is not null
     union select p.connector_account_id from suspense s join payments p on p.id = s.payment_id where s.state <> 'closed'
     on conflict do nothing`,
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

export interface BalanceCheck {
  /** Unmatched amounts of the check before by currency, minor units: processor − movements. */
  readonly gaps: Readonly<Record<string, string>>;
  /** The check before compared payments up to this age, seconds. */
  readonly sinceSeconds: number;
}

/** Claims a check of an account that is due. @returns undefined: it is not */
export async function claimBalanceCheck(
  sql: Sql,
  accountId: string,
  everySeconds: number,
): Promise<BalanceCheck | undefined> {
  const [row] = await sql.rows<{ gaps: BalanceCheck["gaps"]; since: number | null }>(
    `update movement_cursors c set checked_at = now() from movement_cursors before
     where c.connector_account_id = $1 and before.connector_account_id = $1
       and (c.checked_at is null or c.checked_at <= now() - make_interval(secs => $2))
     returning c.balance_gaps as gaps, extract(epoch from now() - before.checked_at)::float as since`,
    [accountId, everySeconds],
  );
  return row && { gaps: row.gaps, sinceSeconds: row.since ?? Number.MAX_SAFE_INTEGER };
}

export async function saveBalanceGaps(sql: Sql, accountId: string, gaps: BalanceCheck["gaps"]): Promise<void> {
  await sql.rows(`update movement_cursors set balance_gaps = $2 where connector_account_id = $1`, [
    accountId,
    JSON.stringify(gaps),
  ]);
}
