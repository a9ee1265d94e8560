// The place where the journal checker's pass stands, so that replicas share one pass and a restart goes on with it.
import type { Sql } from "#platform/database/database.ts";

/**
 * Takes the next stretch of the pass, for one replica at a time.
 * @param leaseSeconds after which another replica takes a stretch that was never finished.
 * @returns the id after which it begins; undefined when nothing is due.
 */
export async function claimStretch(sql: Sql, leaseSeconds: number): Promise<string | undefined> {
  const [row] = await sql.rows<{ after_id: string }>(
    `update journal_check set due_at = now() + make_interval(secs => $1) where due_at <= now() returning after_id`,
    [leaseSeconds],
  );
  return row?.after_id;
}

/** Notes how far the pass has come and when it goes on. */
export async function finishStretch(sql: Sql, afterId: string, pauseSeconds: number): Promise<void> {
  await sql.rows(`update journal_check set after_id = $1, due_at = now() + make_interval(secs => $2)`, [
    afterId,
    pauseSeconds,
  ]);
}
