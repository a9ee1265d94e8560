// The simulator's JSON as facts, by its API's description (services/simulator/README.md).
import assert from "node:assert/strict";
import { suite } from "../../../../test/harness/suite.ts";
import { parseEvent, readEventPage, readIntent, readStatementPage, SimulatorIntent } from "./objects.ts";

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

test("the captured amount is the reported one, not the ordered one", () => {
  const [partial] = report({ captured_amount: 400 }).facts;
  assert(partial?.kind === "attempt_succeeded");
  assert.equal(partial.capturedAmount, 400n);
  const [authorized] = report({ captured_amount: 0 }).facts;
  assert(authorized?.kind === "attempt_succeeded");
  assert.deepEqual([authorized.capturedAmount, authorized.capturedAt], [0n, undefined]);
});

test("a capture has its own time, which an earlier simulator does not report", () => {
  const at = (members: object) => {
    const [paid] = report(members).facts;
    return paid?.kind === "attempt_succeeded" && paid.capturedAt?.toISOString();
  };
  assert.equal(at({ captured_at: "2026-11-25T08:00:00.000Z" }), "2026-11-25T08:00:00.000Z");
  assert.equal(at({}), "2026-11-22T10:00:00.000Z");
});

test("facts are in chronological order: attempts, then a cancellation", () => {
  const failed = { status: "failed", failure_code: "card_declined" };
  const attempts = [attempt({ id: "att_1", ...failed }), attempt({ id: "att_2", ...failed })];
  const { facts } = report({ status: "canceled", canceled_at: "2026-11-22T12:00:00.000Z", attempts });
  const order = facts.map((fact) => (fact.kind === "intent_canceled" ? fact.at.toISOString() : fact.attempt.ref));
  assert.deepEqual(order, ["att_1", "att_2", "2026-11-22T12:00:00.000Z"]);
});

test("a failed attempt has its settlement time, which can be days later", () => {
  const [fact] = report({
    attempts: [attempt({ status: "failed", failure_code: "debit_returned", settled_at: "2026-11-27T10:00:00.000Z" })],
  }).facts;
  assert(fact?.kind === "attempt_failed");
  assert.deepEqual([fact.code, fact.at.toISOString()], ["debit_returned", "2026-11-27T10:00:00.000Z"]);
  assert.equal(fact.attempt.startedAt.toISOString(), "2026-11-22T10:00:00.000Z");
});

test("a refund carries our reference, and one of the dashboard has none", () => {
  const { refunds } = report({ refunds: [refund(), refund({ id: "re_2", reference: null })] });
  assert.deepEqual(
    refunds.map(({ ref, reference, amount }) => [ref, reference, amount]),
    [
      ["re_1", "re_ours", 300n],
      ["re_2", "", 300n],
    ],
  );
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

test("a statement's payment has its captured amount, its refunds and disputes also their status", () => {
  const row = { intent: "pi_1", currency: "EUR", reference: null, reason: null };
  const data = [
    { ...row, type: "intent", id: "pi_1", amount: 1_000, status: "refunded" },
    { ...row, type: "refund", id: "re_1", amount: 300, status: "failed" },
    { ...row, type: "dispute", id: "dp_1", amount: 700, status: "needs_response" },
  ];
  const { lines, next } = readStatementPage({ data, next: null });
  const line = { intentRef: "pi_1", currency: "EUR" };
  assert.deepEqual(lines, [
    { ...line, object: "payment", ref: "pi_1", amount: 1_000n, status: "" },
    { ...line, object: "refund", ref: "re_1", amount: 300n, status: "failed" },
    { ...line, object: "dispute", ref: "dp_1", amount: 700n, status: "needs_response" },
  ]);
  assert.equal(next, "", "null is the end");
});

test.run();
