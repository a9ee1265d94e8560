// How an attempt's outcome changes a delivery.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { attemptErrors, errorCode, judgeOutcome, type Outcome } from "./delivery.ts";

const test = suite("delivery");
const schedule = { baseMs: 1_000, capMs: 8_000, attemptsMax: 5 };
const fresh = { tries: 0, ageMs: 0 };
const answered = (statusCode: number, retryAfterMs = 0): Outcome => ({ kind: "answered", statusCode, retryAfterMs });

test("a 2xx status delivers, any other status retries", () => {
  for (let status = 200; status <= 599; status++) {
    const { kind } = judgeOutcome(answered(status), fresh, schedule, 0.5);
    assert.equal(kind, status <= 299 ? "delivered" : "retry", String(status));
  }
});

test("410 Gone and redirects are retried like other failures", () => {
  const gone = judgeOutcome(answered(410), fresh, schedule, 0.5);
  assert.deepEqual(gone, {
    kind: "retry",
    pauseMs: 1_000,
    statusCode: 410,
    lastError: "http_410: the endpoint answered 410",
  });
  const moved = judgeOutcome(answered(301), fresh, schedule, 0.5);
  assert(moved.kind === "retry" && moved.lastError.startsWith("redirect: "));
});

test("the last attempt of the budget gives the delivery up and keeps its error", () => {
  const outcome: Outcome = { kind: "unanswered", error: "tls_expired" };
  assert.equal(judgeOutcome(outcome, { tries: 3, ageMs: 0 }, schedule, 0.5).kind, "retry");
  assert.deepEqual(judgeOutcome(outcome, { tries: 4, ageMs: 0 }, schedule, 0.5), {
    kind: "failed",
    statusCode: 0,
    lastError: "tls_expired: the TLS certificate is not valid at this time",
  });
  assert.equal(judgeOutcome(answered(204), { tries: 4, ageMs: 0 }, schedule, 0.5).kind, "delivered");
});

test("an overdue delivery is given up with attempts left", () => {
  assert.equal(judgeOutcome(answered(500), { tries: 1, ageMs: 3_600_000 }, schedule, 0.5).kind, "failed");
});

test("a failure of the egress proxy costs no attempt", () => {
  assert.equal(judgeOutcome({ kind: "not_made" }, { tries: 4, ageMs: 0 }, schedule, 0.5).kind, "postponed");
});

test("honours the endpoint's Retry-After", () => {
  const verdict = judgeOutcome(answered(429, 5_000), fresh, schedule, 0);
  assert(verdict.kind === "retry" && verdict.pauseMs === 5_000);
});

test("last_error reveals no address, resolver or stack", () => {
  for (const error of Object.keys(attemptErrors)) assert(/^[a-z_]+$/.test(error));
  for (const text of Object.values(attemptErrors)) assert(!/\d|::|node:|Error/.test(text), text);
  assert.equal(errorCode(answered(200)), "");
  assert.equal(errorCode(answered(503)), "http_503");
});

test.run();
