import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import { ConnectionFailedError, errorOf, TimedOutError, type TollboothError } from "./errors.ts";
import { pauseBefore, type RetryState } from "./retry.ts";

const test = suite("Node library: retries");

const state: RetryState = { attempts: 1, maxRetries: 2, isRepeatable: true, leftMs: 60_000, random: 0.5 };
const errorWith = (status: number, headers: Record<string, string> = {}) =>
  errorOf(status, new Headers(headers), { error: { code: "some_code", message: "words" } });
const lost = new ConnectionFailedError("lost", { code: "connection_failed" });

test("retries 409, 429, 502 and 503 only", () => {
  for (let status = 400; status < 600; status++) {
    const isRetried = pauseBefore(errorWith(status), state) !== undefined;
    assert.equal(isRetried, [409, 429, 502, 503].includes(status), String(status));
  }
});

test("retries a lost connection only if the request is repeatable", () => {
  const late = new TimedOutError("late", { code: "timed_out" });
  const page = errorOf(502, new Headers(), undefined);
  for (const error of [lost, late, page]) {
    assert.notEqual(pauseBefore(error, state), undefined);
    assert.equal(pauseBefore(error, { ...state, isRepeatable: false }), undefined);
  }
  assert.notEqual(pauseBefore(errorWith(503), { ...state, isRepeatable: false }), undefined);
});

test("bounds retries by their number and the remaining time, with exponential pauses", () => {
  const errors: readonly TollboothError[] = [lost, errorWith(503), errorWith(429, { "retry-after": "7" })];
  fc.assert(
    fc.property(
      fc.constantFrom(...errors),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 0, max: 10 }),
      fc.integer({ min: 0, max: 60_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (error, attempts, maxRetries, leftMs, random) => {
        const pause = pauseBefore(error, { attempts, maxRetries, leftMs, random, isRepeatable: true });
        if (pause === undefined) return;
        const least = (error.retryAfterSeconds ?? 0) * 1_000;
        assert.ok(attempts <= maxRetries && pause < leftMs);
        assert.ok(pause >= least && pause <= least + Math.min(500 * 2 ** (attempts - 1), 8_000));
      },
    ),
  );
});

test("reads Retry-After as seconds or a date and ignores other values", () => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  assert.equal(errorWith(429, { "retry-after": "7" }).retryAfterSeconds, 7);
  assert.ok(Number(errorWith(429, { "retry-after": inAMinute }).retryAfterSeconds) > 50);
  assert.equal(errorWith(429, { "retry-after": "soon" }).retryAfterSeconds, undefined);
});

test.run();
