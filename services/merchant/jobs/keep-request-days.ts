// Keeps the request log's daily tables: a week ahead there is always one, and after 30 days a day is dropped as a
// whole.
import type { Database } from "#platform/database/database.ts";
import type { JobContext } from "#platform/process/job.ts";
import { clockMs } from "#platform/values/clock.ts";
import { createRequestDay, dayMs, dropRequestDay, listRequestDays, lockRequestDays } from "../store/request-days.ts";

// A week without a successful run passes before rows have nowhere to go.
const daysAhead = 7;
const daysKept = 30;
/** Requests of so many days before and after today are taken in: clocks differ, and a batch may be late. */
export const daysAround = 1;

/** One run. @returns false: nothing more to do now */
export async function keepRequestDays(db: Database, nowMs: number): Promise<boolean> {
  await ensureRequestDays(db, nowMs);
  const oldest = startOfDay(nowMs) - daysKept * dayMs;
  await db.transaction(async (tx) => {
    await lockRequestDays(tx);
    for (const day of await listRequestDays(tx)) if (day < oldest) await dropRequestDay(tx, day);
  });
  return false;
}

/** Makes the tables that are missing; done once before a service takes anything in. */
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
