// Synchronises the process's clock (values/clock.ts) with its database's.
import { type Registry, register } from "prom-client";
import type { JobContext } from "#platform/process/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { newCounter, newGauge } from "#platform/telemetry/metrics.ts";
import { clockMs, isClockSet, type Reading, setClock } from "#platform/values/clock.ts";
import type { Sql } from "./database.ts";

// Monotonic time drifts by microseconds per second, and a failover brings another clock.
const everyMs = 5_000;
// A slower answer is too inaccurate.
const roundTripMsMax = 250;
const stepMs = 1_000;

/** Reads the database's time. A slow answer is used only for the first reading. */
export async function syncClock(sql: Sql, log?: Log, registry: Registry = register): Promise<void> {
  const offset = newGauge(registry, {
    name: "tollbooth_clock_offset_seconds",
    help: "How far this machine's clock is ahead of the database's; nothing that is stored depends on it.",
  });
  const rebased = newCounter(registry, {
    name: "tollbooth_clock_rebased_total",
    help: "Times that the database's clock was found more than a second away from where it was expected.",
  });
  const reading = await readClock(sql);
  if (!reading) return;
  const stepped = setClock(reading) ?? 0;
  if (Math.abs(stepped) > stepMs) {
    rebased.inc();
    log?.warn({ stepped_ms: Math.round(stepped) }, "database clock stepped");
  }
  offset.set((Date.now() - clockMs()) / 1_000);
}

/** @throws when the databases of two services in this process disagree: the process has one clock */
export async function assertSameClock(sql: Sql): Promise<void> {
  const reading = isClockSet() ? await readClock(sql) : undefined;
  if (!reading) return;
  const aheadMs = Math.round(reading.clockMs + performance.now() - reading.atMs - clockMs());
  if (Math.abs(aheadMs) > stepMs)
    throw new Error(`the database's clock is ${aheadMs} ms ahead of the other services' of this process`);
}

async function readClock(sql: Sql): Promise<Reading | undefined> {
  const sentAt = performance.now();
  const [row] = await sql.rows<{ ms: string }>("select extract(epoch from clock_timestamp()) * 1000 as ms");
  const answeredAt = performance.now();
  if (!row || (isClockSet() && answeredAt - sentAt > roundTripMsMax)) return undefined;
  return { clockMs: Number(row.ms), atMs: (sentAt + answeredAt) / 2 };
}

export function clockJob(sql: Sql, log: Log, registry: Registry): JobContext {
  return {
    name: "sync-clock",
    everyMs,
    runOnce: async () => {
      await syncClock(sql, log, registry);
      return false;
    },
  };
}
