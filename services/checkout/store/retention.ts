// Deletes sessions that were never paid, days after their end. Sessions are read once, in the order of their ids: the
// retention_cursor table has the last one that was decided. A run without work reads that row and one page of an index.
import type { Database } from "#platform/database/database.ts";
import { clockMs } from "#platform/values/clock.ts";
import { idFloor } from "#platform/values/id.ts";
import { deleteSessions, isUnpaid } from "./sessions.ts";

const dayMs = 86_400_000;
const batchMax = 1_000;

/**
 * Deletes one batch; replicas take turns. Paid sessions, and those that are still open after this time, are kept for
 * good.
 * @returns how many sessions were read and decided
 */
export async function deleteUnpaidSessions(db: Database, days: number): Promise<number> {
  const endedBefore = clockMs() - days * dayMs;
  return await db.transaction(async (tx) => {
    const [cursor] = await tx.rows<{ after: string }>("select after from retention_cursor for update skip locked");
    if (!cursor) return 0;
    const page = await tx.rows<{ id: string; unpaid: boolean; recent: boolean }>(
      `select id, ${isUnpaid} as unpaid, $3 <= greatest(expires_at, heard_at) as recent from sessions
       where id > $1 and id < $2 order by id limit ${batchMax}`,
      [cursor.after, idFloor("session", endedBefore), new Date(endedBefore).toISOString()],
    );
    // The cursor waits for an unpaid session that was open for long and ended a shorter time ago.
    const next = page.findIndex(({ unpaid, recent }) => unpaid && recent);
    const decided = next === -1 ? page : page.slice(0, next);
    const last = decided.at(-1);
    if (!last) return 0;
    await deleteSessions(
      tx,
      decided.flatMap(({ id, unpaid }) => (unpaid ? [id] : [])),
    );
    await tx.rows("update retention_cursor set after = $1", [last.id]);
    return decided.length;
  });
}
