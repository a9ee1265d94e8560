// Fees, amounts, statuses and nets calculated by hand, independent of the code.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import {
  accountBalances,
  disputeBalances,
  expectedAmounts,
  feeBy,
  feeOf,
  type PaymentFacts,
  suspenseBalances,
} from "./facts.ts";

const test = suite("audit of facts");

const paid: PaymentFacts = {
  outcome: "succeeded",
  capturedAmount: 1_000n,
  captures: [{ amount: 1_000n, rate: { basisPoints: 290n, fixed: 30n } }],
  refunds: [],
  disputes: [],
  suspense: [],
};

function refund(status: string, amount: bigint) {
  return { id: "re_1", status, amount, unasked: false };
}

function dispute(status: string, amount: bigint) {
  return { id: "dp_1", status, amount };
}

test("adds the share rounded half up and the fixed part to a fee", () => {
  const examples: [amount: bigint, basisPoints: bigint, fixed: bigint, fee: bigint][] = [
    [1_000n, 290n, 30n, 59n], // 29.00
    [1_017n, 290n, 30n, 59n], // 29.493
    [1_050n, 290n, 30n, 60n], // 30.45
    [50n, 100n, 0n, 1n], // 0.50: half goes up
    [49n, 100n, 0n, 0n], // 0.49
    [150n, 100n, 0n, 2n], // 1.50
    [1n, 290n, 30n, 30n], // 0.029
    [99_999_999n, 290n, 30n, 2_900_030n], // 2,899,999.971
    [99_999_999n, 10_000n, 7n, 100_000_006n],
    [5_000n, 0n, 0n, 0n],
  ];
  for (const [amount, basisPoints, fixed, fee] of examples) {
    assert.equal(feeBy({ basisPoints, fixed }, amount), fee, `${amount} at ${basisPoints} + ${fixed}`);
  }
});

test("charges each capture at its own rate and the fixed part once", () => {
  assert.equal(feeOf([]), 0n);
  const capture = (amount: bigint, basisPoints: bigint) => ({ amount, rate: { basisPoints, fixed: 30n } });
  assert.equal(feeOf([capture(400n, 290n), capture(600n, 290n)]), 59n);
  assert.equal(feeOf([capture(400n, 290n), capture(600n, 0n)]), 42n);
  assert.equal(feeOf([capture(400n, 0n), capture(600n, 900n)]), 84n);
});

const statuses: [status: string, facts: Partial<PaymentFacts>][] = [
  ["succeeded", {}],
  ["failed", { outcome: "failed", capturedAmount: 0n }],
  ["canceled", { outcome: "canceled", capturedAmount: 0n }],
  ["processing", { outcome: "processing", capturedAmount: 0n }],
  ["succeeded", { capturedAmount: 0n }],
  ["partially_refunded", { refunds: [refund("pending", 1n)] }],
  ["partially_refunded", { refunds: [refund("succeeded", 999n)] }],
  ["refunded", { refunds: [refund("pending", 1n), refund("succeeded", 999n)] }],
  ["succeeded", { refunds: [refund("failed", 1_000n), refund("canceled", 1_000n)] }],
  ["disputed", { disputes: [dispute("needs_response", 1n)] }],
  ["disputed", { disputes: [dispute("under_review", 1n)], refunds: [refund("succeeded", 1_000n)] }],
  ["disputed", { disputes: [dispute("won", 1n), dispute("lost", 1n)] }],
  ["succeeded", { disputes: [dispute("won", 1n)] }],
  ["refunded", { disputes: [dispute("warning_needs_response", 1n)], refunds: [refund("succeeded", 1_000n)] }],
  ["succeeded", { disputes: [dispute("warning_under_review", 1n), dispute("warning_closed", 1n)] }],
  ["failed", { outcome: "failed", capturedAmount: 0n, refunds: [refund("succeeded", 300n)] }],
  ["succeeded", { capturedAmount: 0n, refunds: [refund("succeeded", 300n)] }],
  ["refunded", { capturedAmount: 200n, refunds: [refund("succeeded", 300n)] }],
];

for (const [status, facts] of statuses) {
  const label = JSON.stringify(facts, (_, value) => (typeof value === "bigint" ? Number(value) : value));
  test(`${label} is ${status}`, () => assert.equal(expectedAmounts({ ...paid, ...facts }).status, status));
}

test("counts open disputes, and lost ones if none is open", () => {
  const holdOf = (...disputes: PaymentFacts["disputes"]) => {
    const { disputeHold, disputedAmount } = expectedAmounts({ ...paid, disputes });
    return [disputeHold, Number(disputedAmount)];
  };
  assert.deepEqual(holdOf(), ["none", 0]);
  assert.deepEqual(holdOf(dispute("needs_response", 200n), dispute("under_review", 30n), dispute("lost", 4n)), [
    "open",
    230,
  ]);
  assert.deepEqual(holdOf(dispute("lost", 200n), dispute("lost", 30n), dispute("won", 4n)), ["lost", 230]);
  assert.deepEqual(holdOf(dispute("won", 200n), dispute("warning_closed", 30n)), ["none", 0]);
});

test("ignores disputes of a returned debit, also after a later payment", () => {
  const returned = { ...paid, outcome: "failed", capturedAmount: 0n };
  for (const status of ["needs_response", "lost"]) {
    const before = { ...dispute(status, 400n), released: true };
    for (const facts of [
      { ...returned, disputes: [dispute(status, 400n)] },
      { ...paid, disputes: [before] },
    ]) {
      const { disputeHold, disputedAmount } = expectedAmounts(facts);
      assert.deepEqual([disputeHold, disputedAmount], ["none", 0n], status);
    }
    assert.deepEqual(disputeBalances(before, true), {});
  }
});

test("holds an open unexpected charge in suspense without its refunds, and a closed amount in adjustments", () => {
  const charge = (state: string, kind = "second_charge", closedAmount = 0n) =>
    suspenseBalances({
      id: "su_1",
      kind,
      state,
      amount: 1_000n,
      returnedAmount: 300n,
      paidBy: "at_2",
      closedAmount,
      capturedIn: "",
    });
  const of = (processor_clearing: bigint, suspense: bigint, adjustments: bigint) => ({
    processor_clearing,
    suspense,
    adjustments,
  });
  for (const state of ["open", "refunding"]) assert.deepEqual(charge(state), of(700n, -700n, 0n), state);
  for (const kind of ["second_charge", "other_amount", "excess_capture"]) {
    assert.deepEqual(charge("closed", kind), of(0n, 0n, 0n), kind);
    assert.deepEqual(charge("closed", kind, 700n), of(700n, 0n, -700n), kind);
  }
  assert.deepEqual(charge("open", "lost_intent"), {});
  assert.deepEqual(charge("closed", "second_refund", -300n), { adjustments: 300n, suspense: -300n });
});

test("holds no disputed money of a returned debit", () => {
  const returned = { ...paid, outcome: "failed", capturedAmount: 0n, disputes: [dispute("needs_response", 400n)] };
  assert.deepEqual(
    [...accountBalances(returned, 0n).values()].filter((balance) => balance !== 0n),
    [],
  );
  const { disputeHold, disputedAmount, status } = expectedAmounts(returned);
  assert.deepEqual([disputeHold, disputedAmount, status], ["none", 0n, "failed"]);
});

test.run();
