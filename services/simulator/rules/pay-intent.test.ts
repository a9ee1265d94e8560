import * as assert from "uvu/assert";
import {
  at,
  attemptWith,
  paidIntent,
  refusedAs,
  requireChange,
  unpaidIntent,
} from "../../../test/harness/sample-intent.ts";
import { suite } from "../../../test/harness/suite.ts";
import type { Intent } from "./intent.ts";
import {
  answerChallenge,
  cancelIntent,
  captureIntent,
  lapseAuthorization,
  payIntent,
  settleAttempt,
} from "./pay-intent.ts";

const test = suite("pay-intent");
const succeeds = "4242424242424242";
const declined = "4000000000000002";
const challenged = "4000002500003155";
const asynchronous = "4000000000006108";
const lapse = { lapses_at: "2026-11-28T12:00:00.000Z", lapses_soon_at: "2026-11-21T12:00:01.000Z" };
const facts = { authorization_code: "654321", now: at, ...lapse };

test("ignores a card for an intent that does not wait for one", () => {
  for (const status of ["requires_action", "processing", "succeeded", "canceled"] as const)
    assert.is(payIntent({ ...unpaidIntent(), status }, attemptWith(succeeds)), null);
});

test("refuses the fifty-first attempt", () => {
  let intent: Intent = unpaidIntent();
  for (let i = 0; i < 50; i++) intent = requireChange(payIntent(intent, attemptWith(declined, `at_${i}`))).intent;
  assert.is(refusedAs(payIntent(intent, attemptWith(succeeds, "at_50"))), "too_many_attempts");
});

test("cancels a challenge and accepts another card", () => {
  const pending = requireChange(payIntent(unpaidIntent(), attemptWith(challenged))).intent;
  const { intent } = requireChange(answerChallenge(pending, "at_1", "cancel", facts));
  assert.equal([intent.status, intent.attempts[0]?.failure_code], ["requires_payment_method", "canceled"]);
});

test("settles a processing attempt once", () => {
  const { intent, delayed } = requireChange(payIntent(unpaidIntent(), attemptWith(asynchronous)));
  assert.equal(delayed, [{ kind: "settle_attempt", object_id: "at_1", delays: 2 }]);
  const settled = requireChange(settleAttempt(intent, "at_1", facts)).intent;
  assert.is(settled.status, "succeeded");
  assert.is(settleAttempt(settled, "at_1", facts), null);
  assert.is(settleAttempt(unpaidIntent(), "at_1", facts), null);
});

test("cancels only an unpaid intent without an attempt in progress", () => {
  const processing = requireChange(payIntent(unpaidIntent(), attemptWith(asynchronous))).intent;
  assert.is(refusedAs(cancelIntent(processing, at)), "intent_not_cancelable");
  assert.is(refusedAs(cancelIntent(paidIntent(), at)), "intent_not_cancelable");
  const { intent, events } = requireChange(cancelIntent(unpaidIntent(), at));
  assert.equal([intent.status, intent.canceled_at, events], ["canceled", at, ["intent.canceled"]]);
  assert.is(cancelIntent(intent, at), null);
});

const heldIntent = (number = "4242424242424242") =>
  requireChange(payIntent({ ...unpaidIntent(), capture_method: "manual" }, attemptWith(number)));

test("authorizes with manual capture until the authorization lapses", () => {
  const { intent, events, delayed } = heldIntent();
  assert.equal([intent.status, intent.captured_amount, intent.paid_at], ["requires_capture", 0, null]);
  assert.equal([intent.capture_before, events], [lapse.lapses_at, ["intent.authorized"]]);
  assert.equal(delayed, [{ kind: "lapse_authorization", object_id: "at_1", delays: 0, at: lapse.lapses_at }]);
  const lapsed = requireChange(lapseAuthorization(intent, at)).intent;
  assert.equal([lapsed.status, lapsed.cancellation_reason, lapsed.capture_before], ["canceled", "expired", null]);
  assert.is(lapseAuthorization(lapsed, at), null);
  assert.is(heldIntent("4000000000006405").intent.capture_before, lapse.lapses_soon_at);
});

test("captures all or a part once", () => {
  const { intent } = heldIntent();
  assert.is(refusedAs(captureIntent(intent, 1_001, at)), "amount_too_large");
  for (const [requested, expected] of [
    [null, 1_000],
    [400, 400],
  ] as const) {
    const captured = requireChange(captureIntent(intent, requested, at));
    assert.equal([captured.intent.status, captured.intent.captured_amount], ["succeeded", expected]);
    assert.equal([captured.intent.paid_at, captured.intent.capture_before], [at, null]);
    assert.equal(captured.events, ["intent.succeeded"]);
    assert.is(refusedAs(captureIntent(captured.intent, null, at)), "intent_not_capturable");
    assert.is(lapseAuthorization(captured.intent, at), null);
    assert.is(refusedAs(cancelIntent(captured.intent, at)), "intent_not_cancelable");
  }
  assert.is(refusedAs(captureIntent(unpaidIntent(), null, at)), "intent_not_capturable");
});

test("releases an authorization unless it is to be kept", () => {
  const { intent } = heldIntent();
  assert.is(refusedAs(cancelIntent(intent, at, true)), "intent_not_cancelable");
  const released = requireChange(cancelIntent(intent, at)).intent;
  assert.equal([released.status, released.cancellation_reason], ["canceled", "requested"]);
  assert.equal([released.attempts[0]?.status, released.captured_amount], ["succeeded", 0]);
});

test.run();
