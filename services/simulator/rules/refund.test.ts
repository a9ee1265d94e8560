import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { moveDispute, openDispute } from "./dispute.ts";
import type { Intent, RefundStatus } from "./intent.ts";
import { createRefund, moveRefund } from "./refund.ts";
import { at, paidIntent, refusedAs, requireChange, unpaidIntent } from "./sample-intent.ts";

const test = suite("refund");
const refund = (intent: Intent, amount: number, id = "rf_1", status: "pending" | "succeeded" = "succeeded") =>
  createRefund(intent, { id, amount, status, reason: null, reference: "re_1", now: at });
const move = (intent: Intent, status: RefundStatus, id = "rf_1") =>
  moveRefund(intent, id, { status, failure_code: null, now: at });

test("refunds add up to the captured amount and not beyond, pending ones included", () => {
  const first = requireChange(refund(paidIntent(), 600, "rf_1", "pending")).intent;
  assert.is(refusedAs(refund(first, 401, "rf_2")), "amount_too_large");
  const full = requireChange(refund(first, 400, "rf_2")).intent;
  assert.is(full.refunded_amount, 1_000);
  assert.is(refusedAs(refund(full, 1, "rf_3")), "charge_already_refunded");
});

test("only a paid intent is refundable", () => {
  assert.is(refusedAs(refund(unpaidIntent(), 1)), "intent_not_refundable");
});

test("a refund that fails or is canceled gives its amount back, and stays so", () => {
  for (const status of ["failed", "canceled"] as const) {
    const pending = requireChange(refund(paidIntent(), 1_000, "rf_1", "pending")).intent;
    const { intent, events } = requireChange(move(pending, status));
    assert.equal([intent.refunded_amount, events], [0, ["refund.updated"]]);
    assert.is(refusedAs(move(intent, "succeeded")), "refund_not_movable");
  }
});

test("a refund that succeeded can still fail, but not become pending or canceled", () => {
  const { intent } = requireChange(refund(paidIntent(), 10));
  assert.is(requireChange(move(intent, "failed")).intent.refunded_amount, 0);
  assert.is(refusedAs(move(intent, "pending")), "refund_not_movable");
  assert.is(refusedAs(move(intent, "canceled")), "refund_not_movable");
  assert.is(move(intent, "succeeded"), null);
  assert.is(move(intent, "failed", "rf_unknown"), null);
});

test("a failing refund is planned for the card whose refunds fail, and for no other", () => {
  const fails = requireChange(refund(paidIntent("4000000000005126"), 10));
  assert.equal(fails.delayed, [{ kind: "fail_refund", object_id: "rf_1", delays: 1 }]);
  assert.equal(requireChange(refund(paidIntent(), 10)).delayed, []);
});

test("an open or lost dispute blocks refunds; an inquiry and a won one do not", () => {
  const open = (status: "needs_response" | "warning_needs_response") =>
    requireChange(openDispute(paidIntent(), { id: "dsp_1", amount: null, reason: "x", status, now: at })).intent;
  const disputed = open("needs_response");
  const reviewed = requireChange(moveDispute(disputed, "dsp_1", "under_review", at)).intent;
  for (const blocked of [disputed, reviewed, requireChange(moveDispute(reviewed, "dsp_1", "lost", at)).intent])
    assert.is(refusedAs(refund(blocked, 1)), "charge_disputed");
  requireChange(refund(open("warning_needs_response"), 1));
  requireChange(refund(requireChange(moveDispute(reviewed, "dsp_1", "won", at)).intent, 1));
});

test.run();
