// The simulator's JSON as facts, by its API's description (services/simulator/README.md).
import assert from "node:assert/strict";
import { suite } from "../../../../test/harness/suite.ts";
import { parseEvent, readEventPage, readIntent, SimulatorIntent } from "./objects.ts";

const test = suite("the simulator's objects");
const card = { brand: "visa", last4: "4242", funding: "credit", fingerprint: "fp_1", exp_month: 12, exp_year: 2031 };
const checks = { avs_line1: "unchecked", avs_zip: "pass", cvc_check: "pass" };
const secure = { three_ds_result: null, three_ds_version: null };
const verification = { ...checks, ...secure, risk_level: "normal", risk_score: 12 };

function attempt(members: object = {}) {
  return {
    id: "att_1",
    status: "succeeded",
    failure_code: null,
    failure_message: null,
    authorization_code: "A1B2C3",
    created_at: "2026-11-22T10:00:00.000Z",
    settled_at: null,
    card,
    verification,
    ...members,
  };
}

function intent(members: object = {}) {
  return {
    id: "pi_1",
    account: "acct_1",
    amount: 1_000,
    currency: "EUR",
    reference: "pay_1",
    status: "succeeded",
    client_secret: "secret_1",
    captured_amount: 1_000,
    canceled_at: null,
    receipt_url: null,
    attempts: [attempt()],
    refunds: [],
    disputes: [],
    ...members,
  };
}

function refund(members: object = {}) {
  const reasons = { reason: null, failure_code: null, failure_message: null };
  const made = { id: "re_1", amount: 300, status: "succeeded", created_at: "2026-11-22T11:00:00.000Z", ...reasons };
  return { ...made, reference: "re_ours", ...members };
}

function event(members: object = {}) {
  const made = { id: "evt_1", type: "intent.succeeded", account: "acct_1", created_at: "2026-11-22T10:00:01.000Z" };
  return { ...made, data: { intent: intent() }, ...members };
}

const report = (members: object = {}) => readIntent(SimulatorIntent.parse(intent(members)));

test("a capture has its own time, which an earlier simulator does not report", () => {
  const at = (members: object) => {
    const [paid] = report(members).facts;
    return paid?.kind === "attempt_succeeded" && paid.capturedAt?.toISOString();
  };
  assert.equal(at({ captured_at: "2026-11-25T08:00:00.000Z" }), "2026-11-25T08:00:00.000Z");
  assert.equal(at({}), "2026-11-22T10:00:00.000Z");
});

test("an intent with an invalid part is rejected", () => {
  for (const members of [{ captured_amount: "1000" }, { amount: -1 }, { refunds: [refund({ status: "new" })] }]) {
    assert.throws(() => report(members), JSON.stringify(members));
  }
});

test("an event of another account is rejected with its whole page", () => {
  const ours = parseEvent(event(), "acct_1");
  assert.deepEqual([ours.id, ours.report?.ref, ours.createdAt.getTime()], ["evt_1", "pi_1", 1_795_341_601_000]);
  assert.throws(() => parseEvent(event(), "acct_2"));
  assert.throws(() => parseEvent(event({ created_at: "yesterday" }), "acct_1"));
  const page = { data: [event(), event({ id: "evt_2", account: "acct_2" })], next: "more" };
  assert.throws(() => readEventPage(page, "acct_1"));
  assert.equal(readEventPage({ ...page, data: [event()] }, "acct_1").next, "more");
});

test.run();
