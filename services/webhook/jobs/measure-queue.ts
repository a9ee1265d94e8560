// Measures how late due work is: the oldest due delivery of each active endpoint, those that answer apart from those
// that do not, since a dead endpoint's backlog is late by design and nobody must be woken for it.
import type { Database } from "#platform/database/database.ts";
import type { JobContext } from "#platform/jobs/job.ts";
import { dueLag, queueRows } from "../metrics.ts";
import { type LaneKey, oldestDue, queueEstimate } from "../store/delivery-queue.ts";

// As often as metrics are usually read.
const everyMs = 15_000;

/** @param isSilent whether an endpoint's latest attempt got no answer */
export function measureQueueJob(db: Database, isSilent: (lane: LaneKey) => boolean): JobContext {
  return { name: "measure-queue", everyMs, runOnce: () => measureQueue(db, isSilent) };
}

/** One measurement. @returns false: nothing more to do now */
export async function measureQueue(db: Database, isSilent: (lane: LaneKey) => boolean): Promise<boolean> {
  const lag = { answering: 0, silent: 0 };
  for (const lane of await oldestDue(db)) {
    const endpoints = isSilent(lane) ? "silent" : "answering";
    lag[endpoints] = Math.max(lag[endpoints], lane.lateSeconds);
  }
  dueLag.set({ endpoints: "answering" }, lag.answering);
  dueLag.set({ endpoints: "silent" }, lag.silent);
  queueRows.set(await queueEstimate(db));
  return false;
}
