import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { captureMore, changeAmount, loseIntent, returnDebit } from "./mishap.ts";
import { cancelIntent, payIntent } from "./pay-intent.ts";
import { createRefund } from "./refund.ts";
import { at, attemptWith, paidIntent, refusedAs, requireChange, unpaidIntent } from "./sample-intent.ts";

const test = suite("mishap");
const later = "2026-11-26T09:00:00.000Z";

test("a debit that comes back takes the capture away, fails the attempt that had succeeded and is told", () => {
  const { intent, events } = requireChange(returnDebit(paidIntent(), later));
  assert.equal([intent.status, intent.captured_amount, intent.paid_at], ["requires_payment_method", 0, null]);
  const [attempt, ...others] = intent.attempts;
  assert.equal([attempt?.id, attempt?.status, attempt?.failure_code], ["at_1", "failed", "debit_returned"]);
  assert.equal([attempt?.settled_at, intent.returned_at, others.length], [later, later, 0]);
  assert.equal(events, ["intent.attempt_failed"]);
  assert.is(refusedAs(returnDebit(intent, later)), "intent_not_returnable");
});

test("what was refunded before the debit came back stays refunded, and another card can pay", () => {
  const facts = { id: "rf_1", amount: 400, status: "succeeded", reason: null, reference: null, now: at } as const;
  const refunded = requireChange(createRefund(paidIntent(), facts)).intent;
  const returned = requireChange(returnDebit(refunded, later)).intent;
  assert.equal([returned.refunded_amount, returned.refunds.length], [400, 1]);
  const again = requireChange(payIntent(returned, attemptWith("4242424242424242", "at_2"))).intent;
  assert.equal([again.status, again.captured_amount, again.attempts.length], ["succeeded", 1_000, 2]);
});

test("a debit whose money a lost dispute has taken does not come back", () => {
  const paid = paidIntent();
  const unanswered = { evidence_reference: null, evidence: null, evidence_at: null };
  const times = { ...unanswered, opened_at: at, evidence_due_at: later, closed_at: later, moved_at: later };
  const dispute = {
    id: "dsp_1",
    account: paid.account,
    intent_id: paid.id,
    amount: 1_000,
    reason: "general",
    ...times,
  };
  const lost = { ...paid, disputes: [{ ...dispute, status: "lost" } as const] };
  assert.is(refusedAs(returnDebit(lost, later)), "intent_not_returnable");
  const won = { ...lost, disputes: [{ ...dispute, status: "won" } as const] };
  assert.is(requireChange(returnDebit(won, later)).intent.captured_amount, 0);
});

test("only an unpaid intent gets another amount", () => {
  const { intent } = requireChange(changeAmount(unpaidIntent(), 60_000));
  assert.is(intent.amount, 60_000);
  assert.is(changeAmount(intent, 60_000), null);
  assert.is(refusedAs(changeAmount(paidIntent(), 1)), "intent_not_changeable");
  assert.is(refusedAs(changeAmount(requireChange(cancelIntent(intent, at)).intent, 1)), "intent_not_changeable");
});

test("an intent is lost once", () => {
  const { intent } = requireChange(loseIntent(paidIntent(), at));
  assert.is(intent.lost_at, at);
  assert.is(loseIntent(intent, later), null);
});

test("more is captured only of what a capture has left", () => {
  const partial = { ...paidIntent(), capture_method: "manual" as const, captured_amount: 400 };
  assert.is(requireChange(captureMore(partial, null)).intent.captured_amount, 1_000);
  assert.is(requireChange(captureMore(partial, 100)).intent.captured_amount, 500);
  assert.is(requireChange(captureMore(partial, 700)).intent.captured_amount, 1_100);
  for (const over of [captureMore(paidIntent(), null), captureMore(unpaidIntent(), 1)]) {
    assert.is(refusedAs(over), "intent_not_capturable");
  }
});

test.run();
