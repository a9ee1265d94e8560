// Keeps the process's clock (values/clock.ts) in step with its database's.

import type { JobContext } from "#platform/jobs/job.ts";
import { Counter, Gauge } from "#platform/parts/metric.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { clockMs, isClockSet, setClock } from "#platform/values/clock.ts";
import type { Sql } from "./database.ts";

const offset = new Gauge({
  name: "tollbooth_clock_offset_seconds",
  help: "How far this machine's clock is ahead of the database's; nothing that is stored depends on it.",
});
const rebased = new Counter({
  name: "tollbooth_clock_rebased_total",
  help: "Times that the database's clock was found more than a second away from where it was expected.",
});

// Looked at this often: monotonic time drifts by microseconds a second, and a database that failed over brings its own
// clock.
const everyMs = 5_000;
// An answer that took longer says too little about when it was given.
const roundTripMsMax = 250;
const stepMs = 1_000;

/** Asks the database for its time. A slow answer is taken only while there is none. */
export async function syncClock(sql: Sql, log?: Log): Promise<void> {
  const asked = performance.now();
  const [row] = await sql.rows<{ ms: string }>("select extract(epoch from clock_timestamp()) * 1000 as ms");
  const answered = performance.now();
  if (!row || (isClockSet() && answered - asked > roundTripMsMax)) return;
  const stepped = setClock({ clockMs: Number(row.ms), atMs: (asked + answered) / 2 }) ?? 0;
  if (Math.abs(stepped) > stepMs) {
    rebased.inc();
    log?.warn({ stepped_ms: Math.round(stepped) }, "the database's clock has stepped");
  }
  offset.set((Date.now() - clockMs()) / 1_000);
}

/** Keeps the clock in step with the database's. */
export function clockJob(sql: Sql, log: Log): JobContext {
  return {
    name: "sync-clock",
    everyMs,
    runOnce: async () => {
      await syncClock(sql, log);
      return false;
    },
  };
}
