import assert from "node:assert/strict";
import { Code, ConnectError } from "@connectrpc/connect";
import { suite } from "../../../test/harness/suite.ts";
import { asFailure, Failure, invalidField, toConnectError } from "./failure.ts";

const test = suite("failures");

test("a failure keeps reason, violations and pause over RPC", () => {
  const sent = new Failure("IDEMPOTENCY_CONFLICT", { retryAfterMs: 1_000, violations: [{ field: "a", problem: "b" }] });
  const received = asFailure(toConnectError(sent));
  assert.deepEqual(
    [received.reason, received.retryAfterMs, received.violations],
    [sent.reason, 1_000, sent.violations],
  );
});

test("network and database outages are SERVICE_UNAVAILABLE, whatever wraps them", () => {
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  const shutdown = Object.assign(new Error("terminating"), { code: "57P01" });
  const demoted = Object.assign(new Error("cannot execute INSERT in a read-only transaction"), { code: "25006" });
  // PgBouncer's answer without a free connection.
  const pooler = Object.assign(new Error("query_wait_timeout"), { code: "08P01" });
  const pool = new Error("timeout exceeded when trying to connect");
  for (const error of [
    refused,
    shutdown,
    demoted,
    pooler,
    pool,
    new Error("x", { cause: refused }),
    new AggregateError([refused]),
  ]) {
    assert.equal(asFailure(error).reason, "SERVICE_UNAVAILABLE");
  }
  for (const code of [Code.Unavailable, Code.DeadlineExceeded]) {
    assert.equal(asFailure(new ConnectError("x", code)).reason, "SERVICE_UNAVAILABLE");
  }
});

test("everything else is INTERNAL_ERROR, and its message does not travel", () => {
  const failure = asFailure(new TypeError("secret detail"));
  assert.equal(failure.reason, "INTERNAL_ERROR");
  assert.ok(!toConnectError(failure).message.includes("secret detail"));
});

test("returns at most twenty violations", () => {
  const violations = Array.from({ length: 30 }, (_, i) => ({ field: `f${i}`, problem: "bad" }));
  assert.equal(new Failure("INVALID_BODY", { violations }).violations.length, 20);
  assert.deepEqual(invalidField("url", "must be https").violations, [{ field: "url", problem: "must be https" }]);
});

test.run();
