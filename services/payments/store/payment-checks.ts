// The reconcile job's list: payments with an open outcome, each with the time of the next question to its processor.
import type { Sql } from "#platform/database/database.ts";

/**
 * Claims payments that are due for a check. Their next check is scheduled first, so that a crash delays one check only.
 * @param pausesSeconds pause after the first, second … check; the last one repeats
 * @param inProgressSeconds longest pause on the first day of an attempt in progress; a delayed method takes up to 14.
 * An authorization is also checked when it ends.
 */
export async function claimChecks(
  sql: Sql,
  pausesSeconds: readonly number[],
  inProgressSeconds: number,
  limit: number,
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `with due as materialized (
       select id from payments where next_check_at <= now() order by next_check_at limit $2 for update skip locked)
     update payments p set checks = checks + 1,
       next_check_at = now() + make_interval(secs => least(($1::float8[])[least(checks + 1, cardinality($1::float8[]))],
         case when outcome in ('requires_action', 'processing')
           and coalesce(last_attempt_at, now()) > now() - interval '1 day' then $3::float8 end,
         case when capture_before > now() then extract(epoch from capture_before - now()) + ($1::float8[])[1] end))
     from due where p.id = due.id returning p.id`,
    [pausesSeconds, limit, inProgressSeconds],
  );
  return rows.map((row) => row.id);
}

/** Postpones a check that could not ask the processor; it does not count. */
export async function deferCheck(sql: Sql, id: string, seconds: number): Promise<void> {
  await sql.rows(
    `update payments set checks = greatest(checks - 1, 0), next_check_at = now() + make_interval(secs => $2)
     where id = $1 and next_check_at is not null`,
    [id, seconds],
  );
}

/** Makes the waiting checks of a merchant due now. Replicas may do this concurrently. */
export async function makeChecksDue(sql: Sql, merchantId: string): Promise<void> {
  await sql.rows(
    `with waiting as materialized (
       select id from payments where next_check_at > now() and merchant_id = $1 for update skip locked)
     update payments p set next_check_at = now() from waiting where p.id = waiting.id`,
    [merchantId],
  );
}
