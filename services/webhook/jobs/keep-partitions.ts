// Creates daily partitions a week ahead and drops those past their retention time.
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

// The job may fail for a week before inserts fail.
const daysAhead = 7;
// Contract: 90 days for deliveries, 30 for attempts and events. A delivery retried on its last day is pending for at
// most 80 h more.
const daysKept = { deliveries: 90 + 4, attempts: 30, events: 30 } as const;
// A delivery's id carries its event's day.
const daysBehind = { deliveries: offerDaysMax + 1, attempts: 1, events: offerDaysMax + 1 } as const;
const everyMs = 3_600_000;
// A day of unsent deliveries leaves the queue in many small transactions.
const limitMs = 3_600_000;

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

/** Creates missing partitions. The service also calls it once before it consumes events. */
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
