// Keeps the daily partitions: a week ahead there is always one for every row, and days past their keeping time are
// dropped.

import type { Database } from "#platform/database/database.ts";
import { offerDaysMax } from "#platform/events/streams.ts";
import type { JobContext } from "#platform/process/job.ts";
import { clockMs } from "#platform/values/clock.ts";
import { dropExpiredFromQueue } from "../store/delivery-queue.ts";
import {
  createPartition,
  dayMs,
  dropPartition,
  firstDeliveryIdOf,
  listPartitions,
  lockPartitions,
  partitionedTables,
} from "../store/partitions.ts";

// A week without a successful run passes before rows have nowhere to go.
const daysAhead = 7;
// Deliveries are kept 90 days, attempts and events 30. A delivery that was retried on its last day is pending for at
// most 80 h more.
const daysKept = { deliveries: 90 + 4, attempts: 30, events: 30 } as const;
// A delivery's id carries its event's day.
const daysBehind = { deliveries: offerDaysMax + 1, attempts: 1, events: offerDaysMax + 1 } as const;
const everyMs = 3_600_000;
// A day of deliveries that were never sent leaves the queue in steps of a transaction each.
const limitMs = 3_600_000;

/** One run. @returns false: nothing more to do now */
export async function keepPartitions(db: Database, nowMs: number): Promise<boolean> {
  await ensurePartitions(db, nowMs);
  const today = Math.floor(nowMs / dayMs);
  for (const table of partitionedTables) {
    const oldest = (today - daysKept[table]) * dayMs;
    const expired = (await listPartitions(db, table)).filter((day) => day < oldest);
    if (expired.length > 0 && table === "deliveries") {
      while (await dropExpiredFromQueue(db, firstDeliveryIdOf(oldest))) {}
    }
    for (const day of expired) await dropPartition(db, table, day);
  }
  return false;
}

/** Makes the partitions that are missing; done once before a service takes anything in. */
export async function ensurePartitions(db: Database, nowMs: number): Promise<void> {
  const today = Math.floor(nowMs / dayMs);
  for (const table of partitionedTables) {
    await db.transaction(async (tx) => {
      await lockPartitions(tx);
      const known = new Set(await listPartitions(tx, table));
      for (let day = today - daysBehind[table]; day <= today + daysAhead; day++) {
        if (!known.has(day * dayMs)) await createPartition(tx, table, day * dayMs);
      }
    });
  }
}

export function keepPartitionsJob(db: Database): JobContext {
  return { name: "keep-partitions", everyMs, limitMs, runOnce: () => keepPartitions(db, clockMs()) };
}
