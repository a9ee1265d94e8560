import * as assert from "uvu/assert";
import { at, paidIntent, requireChange, unpaidIntent } from "../../../test/harness/sample-intent.ts";
import { suite } from "../../../test/harness/suite.ts";
import { moveDispute, openDispute } from "./dispute.ts";
import type { Change, Intent, Refusal } from "./intent.ts";
import { captureMore, loseIntent, returnDebit } from "./mishap.ts";
import { movementsBetween } from "./movement.ts";
import { captureIntent } from "./pay-intent.ts";
import { createRefund, moveRefund } from "./refund.ts";

const test = suite("movements of the balance");

/** The intent after the decision, and its movements as text. */
function move(intent: Intent, decision: Change | Refusal | null): [Intent, string[]] {
  const { intent: after } = requireChange(decision);
  const moved = movementsBetween(intent, after);
  return [after, moved.map(({ type, amount, fee, object_id }) => `${type} ${amount} ${fee} ${object_id}`)];
}

const refund = { id: "rf_1", amount: 300, reason: null, reference: null, now: at } as const;
const dispute = { id: "dsp_1", amount: null, reason: "fraudulent", now: at } as const;

test("a capture costs 1.4 % and 25, half a unit rounded up, and one on top costs again", () => {
  const feeOf = (amount: number) =>
    movementsBetween(unpaidIntent(), { ...paidIntent(), captured_amount: amount })[0]?.fee;
  assert.equal([1_000, 1_050, 1_250, 250, 1].map(feeOf), [39, 40, 43, 29, 25]);
  const [, more] = move(paidIntent(), captureMore(paidIntent(), 500));
  assert.equal(more, ["capture 500 32 null"]);
});

test("an authorization, a lost intent and an inquiry move nothing", () => {
  const held: Intent = { ...unpaidIntent(), status: "requires_capture", capture_method: "manual" };
  assert.equal(movementsBetween(unpaidIntent(), held), []);
  assert.equal(move(held, captureIntent(held, 400, at))[1], ["capture 400 31 null"]);
  assert.equal(move(paidIntent(), loseIntent(paidIntent(), at))[1], []);
  assert.equal(move(paidIntent(), openDispute(paidIntent(), { ...dispute, status: "warning_needs_response" }))[1], []);
});

test("a refund leaves the balance when it is made, also a pending one, and comes back once if it fails", () => {
  const [pending, left] = move(paidIntent(), createRefund(paidIntent(), { ...refund, status: "pending" }));
  assert.equal(left, ["refund -300 0 rf_1"]);
  const [paid, nothing] = move(
    pending,
    moveRefund(pending, "rf_1", { status: "succeeded", failure_code: null, now: at }),
  );
  assert.equal(nothing, []);
  for (const intent of [pending, paid]) {
    const failed = moveRefund(intent, "rf_1", { status: "failed", failure_code: null, now: at });
    assert.equal(move(intent, failed)[1], ["refund_failure 300 0 rf_1"]);
  }
});

test("a dispute takes the money and a fee when it begins, and brings back the money if it is won", () => {
  const [inquiry] = move(paidIntent(), openDispute(paidIntent(), { ...dispute, status: "warning_needs_response" }));
  const [open, taken] = move(inquiry, moveDispute(inquiry, "dsp_1", "needs_response", at));
  assert.equal(taken, ["dispute -1000 1500 dsp_1"]);
  assert.equal(move(open, moveDispute(open, "dsp_1", "lost", at))[1], []);
  assert.equal(move(open, moveDispute(open, "dsp_1", "won", at))[1], ["dispute_reversal 1000 0 dsp_1"]);
});

test("a returned debit takes back all that was captured, without an object and a fee, and leaves refunds", () => {
  const [refunded] = move(paidIntent(), createRefund(paidIntent(), { ...refund, status: "succeeded" }));
  assert.equal(move(refunded, returnDebit(refunded, at))[1], ["dispute -1000 0 null"]);
});

test("a debit is not returned while a dispute about it is open or lost", () => {
  const [open] = move(paidIntent(), openDispute(paidIntent(), { ...dispute, status: "needs_response" }));
  const ended = (to: "lost" | "won") => move(open, moveDispute(open, "dsp_1", to, at))[0];
  const isRefused = (intent: Intent) => "refused" in returnDebit(intent, at);
  assert.equal([open, ended("lost"), ended("won")].map(isRefused), [true, true, false]);
});

test.run();
