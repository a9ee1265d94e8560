// When a failed delivery is retried.
import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import { ageMaxMs, pauseMs, retryAfterMs, type Schedule } from "./schedule.ts";

const test = suite("schedule");
const schedule: Schedule = { baseMs: 60_000, capMs: 3_600_000, attemptsMax: 78 };
const middle = 0.5;

// Proves limits: backoff
test("the pauses are 1, 2, 4, 8, 16, 32 minutes, then an hour each, about 72 hours in all", () => {
  const minutes = [1, 2, 3, 4, 5, 6, 7, 8, 77].map((tries) => pauseMs(schedule, tries, middle) / 60_000);
  assert.deepEqual(minutes, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
  let total = 0;
  for (let tries = 1; tries < 78; tries++) total += pauseMs(schedule, tries, middle);
  assert.equal(Math.round(total / 3_600_000), 72);
  assert.equal(Math.round(ageMaxMs(schedule) / 3_600_000), 80);
});

test("the jitter of each pause is at most a tenth", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (tries, random) => {
      const planned = pauseMs(schedule, tries, middle);
      const pause = pauseMs(schedule, tries, random);
      assert(pause >= Math.floor(planned * 0.9) && pause <= Math.ceil(planned * 1.1));
    }),
  );
});

test("Retry-After only lengthens a pause, up to the cap plus the jitter", () => {
  assert.equal(pauseMs(schedule, 1, 0, 600_000), 600_000);
  assert.equal(pauseMs(schedule, 1, middle, 1_000), 60_000);
  assert.equal(pauseMs(schedule, 1, 0, 86_400_000), 3_600_000);
  assert.equal(pauseMs(schedule, 1, 1, 86_400_000), 3_960_000);
});

test("reads Retry-After as seconds or a date and ignores other values", () => {
  const now = Date.parse("2026-11-21T10:00:00Z");
  assert.equal(retryAfterMs("120", now), 120_000);
  assert.equal(retryAfterMs("Sat, 21 Nov 2026 10:02:00 GMT", now), 120_000);
  assert.equal(retryAfterMs("Sat, 21 Nov 2026 09:00:00 GMT", now), 0);
  assert.equal(retryAfterMs("9".repeat(400), now), Number.MAX_SAFE_INTEGER);
  for (const odd of [undefined, "", "-1", "1.5", "soon", "2026-11-21", "1e3", "NaN"])
    assert.equal(retryAfterMs(odd, now), 0);
});

test.run();
