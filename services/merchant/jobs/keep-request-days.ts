// Creates the request log's daily tables a week ahead and drops them after 30 days.
import type { Database } from "#platform/database/database.ts";
import type { JobContext } from "#platform/process/job.ts";
import { clockMs } from "#platform/values/clock.ts";
import { createRequestDay, dayMs, dropRequestDay, listRequestDays, lockRequestDays } from "../store/request-days.ts";

// The job may fail for a week before inserts fail.
const daysAhead = 7;
const daysKept = 30;
/** Accepted days before and after today, since clocks differ and batches may be late. */
export const daysAround = 1;

export async function keepRequestDays(db: Database, nowMs: number): Promise<boolean> {
  await ensureRequestDays(db, nowMs);
  const oldest = startOfDay(nowMs) - daysKept * dayMs;
  await db.transaction(async (tx) => {
    await lockRequestDays(tx);
    for (const day of await listRequestDays(tx)) if (day < oldest) await dropRequestDay(tx, day);
  });
  return false;
}

/** Creates missing tables. The service also calls it once at its start. */
export async function ensureRequestDays(db: Database, nowMs: number): Promise<void> {
  const today = startOfDay(nowMs);
  await db.transaction(async (tx) => {
    await lockRequestDays(tx);
    const known = await listRequestDays(tx);
    for (let day = today - daysAround * dayMs; day <= today + daysAhead * dayMs; day += dayMs) {
      if (!known.includes(day)) await createRequestDay(tx, day);
    }
  });
}

function startOfDay(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs;
}

export function keepRequestDaysJob(db: Database): JobContext {
  return { name: "keep-request-days", everyMs: 3_600_000, runOnce: () => keepRequestDays(db, clockMs()) };
}
