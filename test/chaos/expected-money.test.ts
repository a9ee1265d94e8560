import assert from "node:assert/strict";
import { suite } from "../harness/suite.ts";
import { expectedMoney, feeOf, feesOf, netOf, type Schedule } from "./expected-money.ts";

const test = suite("expected money");

test("statuses, holds and nets are those that were worked out by hand", () => {
  const plain = { captured: 1_000, refunds: [], disputes: [] };
  const fresh = expectedMoney(plain);
  assert.deepEqual(fresh, { refunded: 0, status: "succeeded", disputed: 0, hold: "none", lost: 0 });
  assert.equal(netOf(1_000, 59, fresh), 941);
  assert.equal(netOf(0, 0, fresh), 0);
  const refunds = [
    { amount: 300, status: "succeeded" },
    { amount: 100, status: "pending" },
    { amount: 50, status: "failed" },
    { amount: 7, status: "canceled" },
  ];
  const partly = expectedMoney({ ...plain, refunds });
  assert.deepEqual(partly, { refunded: 400, status: "partially_refunded", disputed: 0, hold: "none", lost: 0 });
  assert.equal(netOf(1_000, 59, partly), 541);
  assert.equal(expectedMoney({ ...plain, refunds: [{ amount: 1_000, status: "succeeded" }] }).status, "refunded");
  const disputes = [
    { amount: 200, status: "lost" },
    { amount: 30, status: "needs_response" },
    { amount: 4, status: "under_review" },
    { amount: 500, status: "won" },
    { amount: 600, status: "warning_needs_response" },
  ];
  const both = expectedMoney({ ...plain, refunds, disputes });
  assert.deepEqual(both, { refunded: 400, status: "disputed", disputed: 34, hold: "open", lost: 200 });
  assert.equal(netOf(1_000, 59, both), 341);
  const lost = expectedMoney({ ...plain, disputes: disputes.slice(0, 1) });
  assert.deepEqual(lost, { refunded: 0, status: "disputed", disputed: 200, hold: "lost", lost: 200 });
  assert.equal(expectedMoney({ ...plain, disputes: disputes.slice(3) }).status, "succeeded");
});

test("the fee is that of the narrowest schedule that had begun, rounded half up", () => {
  const rate = (merchant: string, currency: string, connector: string, from: number, bp: number, fixed: number) =>
    ({ merchant, currency, connector, from, basisPoints: bp, fixed }) satisfies Schedule;
  const schedules = [
    rate("*", "*", "*", 0, 290, 30),
    rate("*", "*", "adyen", 10, 100, 1),
    rate("*", "USD", "*", 10, 200, 2),
    rate("mer_1", "*", "*", 10, 300, 4),
    rate("mer_1", "*", "*", 20, 350, 5),
  ];
  const fee = (merchant: string, currency: string, connector: string, at: number, captured = 1_000) =>
    feeOf(captured, { merchant, currency, connector }, at, schedules);
  assert.equal(fee("mer_1", "USD", "adyen", 9), 59);
  assert.equal(fee("mer_2", "EUR", "adyen", 10), 11);
  assert.equal(fee("mer_2", "USD", "adyen", 10), 22);
  assert.equal(fee("mer_1", "USD", "adyen", 10), 34);
  assert.equal(fee("mer_1", "USD", "adyen", 20), 40);
  assert.equal(fee("mer_2", "EUR", "stripe", 10, 50), 31); // 1.45
  assert.equal(fee("mer_2", "USD", "stripe", 10, 25), 3); // 0.50
  assert.equal(fee("mer_2", "USD", "stripe", 10, 0), 0);
});

test("a later capture adds what it makes of the fee by its own schedule, and the fixed part is charged once", () => {
  const of = { merchant: "mer_1", currency: "EUR", connector: "simulator" };
  const at = (from: number, basisPoints: number) =>
    ({ merchant: "*", currency: "*", connector: "*", from, basisPoints, fixed: 30 }) satisfies Schedule;
  const captures = [
    { amount: 400, at: 5 },
    { amount: 600, at: 15 },
  ];
  const schedules = [at(0, 100), at(10, 900)];
  assert.deepEqual(feesOf([], of, schedules, 0), [0]);
  assert.deepEqual(feesOf(captures.slice(0, 1), of, schedules, 99), [34], "whenever it was booked");
  assert.deepEqual(feesOf(captures, of, schedules, 15), [40, 88], "reported at once, or one after the other");
});

test.run();
