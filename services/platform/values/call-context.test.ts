// The time budgets of a public operation add up.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { processorShareMs, settleReserveMs } from "../../payments/connectors/processor-time.ts";
import { paymentsSettings } from "../../payments/settings.ts";
import { callContext, callPatienceMs, hopReserveMs, publicOperationMs } from "./call-context.ts";

const test = suite("time budgets");

const within = <T>(ms: number, work: () => T): T => {
  const context = { requestId: "req_1", actor: "", traceparent: "", deadlineMs: performance.now() + ms };
  return callContext.run(context, work);
};

test("a processor call that uses its whole budget leaves payments and each caller time to answer", () => {
  const slowest = Number(paymentsSettings.PROCESSOR_TIMEOUT_SECONDS.parse("12")) * 1_000;
  // gateway > checkout > payments, the longest chain.
  const checkout = within(publicOperationMs, callPatienceMs);
  const payments = within(checkout, callPatienceMs);
  const processor = within(payments, () => processorShareMs(Number.MAX_SAFE_INTEGER));
  assert.ok(checkout <= publicOperationMs - hopReserveMs);
  assert.ok(payments <= checkout - hopReserveMs);
  assert.ok(processor <= payments - settleReserveMs);
  assert.ok(processor >= slowest, `one call of ${slowest} ms fits into ${processor} ms`);
});

test("does not start a call without time left", () => {
  assert.equal(
    within(settleReserveMs + 100, () => processorShareMs(8_000)),
    0,
  );
  assert.equal(within(settleReserveMs + 2_000, () => processorShareMs(8_000)) <= 2_000, true);
});

test("work without a caller has only the call's own limit", () => {
  assert.equal(processorShareMs(8_000), 8_000);
});

test.run();
