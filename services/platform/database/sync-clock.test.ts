import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { register } from "prom-client";
import { clockMs, clockNow } from "#platform/values/clock.ts";
import { eventually } from "../../../test/harness/eventually.ts";
import { suite } from "../../../test/harness/suite.ts";
import type { Sql } from "./database.ts";
import { assertSameClock, syncClock } from "./sync-clock.ts";

const test = suite("clock");

/** A database with this clock and response time. */
function database(ms: number, answersAfterMs = 0): Sql {
  return {
    rows: async <Row>() => {
      if (answersAfterMs > 0) await pause(answersAfterMs);
      return [{ ms: String(ms) } as Row];
    },
  };
}

async function steps(): Promise<number> {
  const metric = await register.getSingleMetric("tollbooth_clock_rebased_total")?.get();
  return metric?.values[0]?.value ?? 0;
}

const noon = Date.parse("2035-01-01T12:00:00Z");

test("follows the database's clock regardless of the machine's", async () => {
  await syncClock(database(noon));
  assert.ok(clockMs() >= noon && clockMs() < noon + 5_000, clockNow().toISOString());
  const first = clockMs();
  await eventually("time to pass", () => clockMs() > first);
});

test("reports the offset of a wrong machine clock in the alert's metric and stores the database's time", async () => {
  for (const aheadSeconds of [360, -360]) {
    await syncClock(database(Date.now() - aheadSeconds * 1_000));
    const metric = await register.getSingleMetric("tollbooth_clock_offset_seconds")?.get();
    assert.equal(Math.round(metric?.values[0]?.value ?? 0), aheadSeconds);
    assert.ok(Math.abs(Date.now() - clockMs() - aheadSeconds * 1_000) < 1_000);
  }
  await syncClock(database(noon));
});

test("follows and counts a step of the database's clock, forwards and backwards", async () => {
  const counted = await steps();
  await syncClock(database(noon + 7_200_000));
  assert.ok(clockMs() >= noon + 7_200_000 && clockMs() < noon + 7_205_000);
  assert.equal(await steps(), counted + 1);
  await syncClock(database(noon));
  assert.ok(clockMs() >= noon && clockMs() < noon + 5_000);
  assert.equal(await steps(), counted + 2);
  await syncClock(database(clockMs() + 300));
  assert.equal(await steps(), counted + 2, "less is no step");
});

test("ignores a slow answer", async () => {
  await syncClock(database(noon));
  await syncClock(database(noon + 3_600_000, 300));
  assert.ok(clockMs() < noon + 5_000, clockNow().toISOString());
});

test("refuses a service whose database clock differs from the process's", async () => {
  await syncClock(database(noon));
  await assertSameClock(database(noon + 300));
  await assert.rejects(assertSameClock(database(noon + 7_200_000)), /clock is 7[12]\d+ ms ahead/);
  assert.ok(clockMs() < noon + 5_000, "and moves nothing");
});

test.run();
