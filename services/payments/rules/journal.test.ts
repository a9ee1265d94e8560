// The accounts of every movement, written down a second time, and what lives of a payment leave on them.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type MovementKind, postings } from "./journal.ts";

const test = suite("journal accounts");

/** By kind: from the account that is debited to the one that is credited. */
const wanted: Readonly<Record<string, string>> = {
  captured: "processor_clearing → merchant_balance",
  capture_returned: "merchant_balance → processor_clearing",
  fee_charged: "merchant_balance → fees_revenue",
  fee_returned: "fees_revenue → merchant_balance",
  refund_reserved: "merchant_balance → refunds_pending",
  refund_released: "refunds_pending → merchant_balance",
  refund_paid: "refunds_pending → processor_clearing",
  refund_returned: "processor_clearing → merchant_balance",
  dispute_held: "merchant_balance → disputes_held",
  dispute_released: "disputes_held → merchant_balance",
  dispute_lost: "disputes_held → processor_clearing",
  dispute_recovered: "processor_clearing → merchant_balance",
  suspense_held: "processor_clearing → suspense",
  suspense_released: "suspense → processor_clearing",
  suspense_refunded: "suspense → processor_clearing",
  suspense_refund_released: "processor_clearing → suspense",
  suspense_kept: "suspense → adjustments",
  suspense_written_off: "adjustments → suspense",
};

test("every movement debits and credits its two different accounts", () => {
  for (const [kind, { debit, credit }] of Object.entries(postings)) {
    assert.equal(`${debit} → ${credit}`, wanted[kind], kind);
    assert.notEqual(debit, credit, kind);
  }
});

/** Debits minus credits of each account that is not zero, after movements in this order. */
function balancesAfter(movements: readonly (readonly [MovementKind, number])[]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const [kind, amount] of movements) {
    const { debit, credit } = postings[kind];
    sums.set(debit, (sums.get(debit) ?? 0) + amount);
    sums.set(credit, (sums.get(credit) ?? 0) - amount);
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0));
}

const paid = [
  ["captured", 1_000],
  ["fee_charged", 59],
] as const;
const untouched = { processor_clearing: 1_000, merchant_balance: -941, fees_revenue: -59 };

test("movements that cancel out leave the accounts of the payment alone", () => {
  assert.deepEqual(balancesAfter(paid), untouched);
  const back: readonly (readonly [MovementKind, number])[][] = [
    [
      ["refund_reserved", 300],
      ["refund_released", 300],
    ],
    [
      ["refund_reserved", 300],
      ["refund_paid", 300],
      ["refund_returned", 300],
    ],
    [
      ["dispute_held", 500],
      ["dispute_released", 500],
    ],
    [
      ["dispute_held", 500],
      ["dispute_lost", 500],
      ["dispute_recovered", 500],
    ],
  ];
  for (const movements of back) assert.deepEqual(balancesAfter([...paid, ...movements]), untouched, String(movements));
});

test("pending money has its own account, and paid out money left the merchant and the processor", () => {
  const after = (...movements: (readonly [MovementKind, number])[]) => balancesAfter([...paid, ...movements]);
  const [reserved, held] = [["refund_reserved", 300] as const, ["dispute_held", 500] as const];
  assert.deepEqual(after(reserved), { ...untouched, merchant_balance: -641, refunds_pending: -300 });
  assert.deepEqual(after(held), { ...untouched, merchant_balance: -441, disputes_held: -500 });
  const gone = (left: number, merchant: number) => ({
    ...untouched,
    processor_clearing: left,
    merchant_balance: merchant,
  });
  assert.deepEqual(after(reserved, ["refund_paid", 300]), gone(700, -641));
  assert.deepEqual(after(held, ["dispute_lost", 500]), gone(500, -441));
});

test.run();
