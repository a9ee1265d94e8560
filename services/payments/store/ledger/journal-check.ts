// The position of the journal checker. Replicas share one pass, and a restart continues it.
import type { Sql } from "#platform/database/database.ts";

/**
 * Claims the next batch of the pass for one replica.
 * @param leaseSeconds after which another replica takes an unfinished batch
 * @returns the id after which the batch begins; undefined: nothing is due
 */
export async function claimStretch(sql: Sql, leaseSeconds: number): Promise<string | undefined> {
  const [row] = await sql.rows<{ after_id: string }>(
    `update journal_check set due_at = now() + make_interval(secs => $1) where due_at <= now() returning after_id`,
    [leaseSeconds],
  );
  return row?.after_id;
}

/** Stores how far the pass has come and when it continues. */
export async function finishStretch(sql: Sql, afterId: string, pauseSeconds: number): Promise<void> {
  await sql.rows(`update journal_check set after_id = $1, due_at = now() + make_interval(secs => $2)`, [
    afterId,
    pauseSeconds,
  ]);
}
