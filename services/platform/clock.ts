// The one clock for times that are stored or compared: the database's, carried on by this process's monotonic time, so that no step of
// this machine's own clock is ever seen. A process without a database (the gateway, a command) has its machine's clock.
import { Counter, Gauge } from "prom-client";
import type { Sql } from "./database.ts";
import type { JobContext } from "./job.ts";
import type { Log } from "./log.ts";

const offset = new Gauge({
  name: "tollbooth_clock_offset_seconds",
  help: "How far this machine's clock is ahead of the database's; nothing that is stored depends on it.",
});
const rebased = new Counter({
  name: "tollbooth_clock_rebased_total",
  help: "Times that the database's clock was found more than a second away from where it was expected.",
});

// Looked at this often: monotonic time drifts by microseconds a second, and a database that failed over brings its own clock.
const everyMs = 5_000;
// An answer that took longer says too little about when it was given.
const roundTripMsMax = 250;
const stepMs = 1_000;

let anchor: { readonly databaseMs: number; readonly atMs: number } | undefined;

/** Milliseconds since 1970 by the database's clock. */
export function clockMs(): number {
  return anchor ? Math.floor(anchor.databaseMs + (performance.now() - anchor.atMs)) : Date.now();
}

/** The same as a Date. */
export function clockNow(): Date {
  return new Date(clockMs());
}

/** Asks the database for its time. A slow answer is taken only while there is none. */
export async function syncClock(sql: Sql, log?: Log): Promise<void> {
  const asked = performance.now();
  const [row] = await sql.rows<{ ms: string }>("select extract(epoch from clock_timestamp()) * 1000 as ms");
  const answered = performance.now();
  if (!row || (anchor && answered - asked > roundTripMsMax)) return;
  const [databaseMs, atMs] = [Number(row.ms), (asked + answered) / 2];
  const stepped = anchor ? databaseMs - (anchor.databaseMs + (atMs - anchor.atMs)) : 0;
  if (Math.abs(stepped) > stepMs) {
    rebased.inc();
    log?.warn({ stepped_ms: Math.round(stepped) }, "the database's clock has stepped");
  }
  anchor = { databaseMs, atMs };
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
