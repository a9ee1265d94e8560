import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { postings } from "./journal.ts";
import { type JournalRow, journalDifferences, type PaymentBooks } from "./journal-check.ts";

const test = suite("journal check");

function row(kind: keyof typeof postings, cause: string, amount: bigint): JournalRow {
  return { kind, cause, amount, ...postings[kind], sameOwner: true };
}

/** Captured 1,000, fee 59, a refund of 300 paid and one of 100 on its way, a dispute of 200 lost and recovered. */
const right: PaymentBooks = {
  id: "pay_1",
  outcome: "succeeded",
  status: "partially_refunded",
  capturedAmount: 1_000n,
  refundedAmount: 400n,
  feeAmount: 59n,
  disputeHold: "none",
  disputedAmount: 0n,
  paidAttempts: ["at_1"],
  refunds: [
    { id: "re_1", status: "succeeded", amount: 300n },
    { id: "re_2", status: "pending", amount: 100n },
    { id: "re_3", status: "failed", amount: 50n },
  ],
  disputes: [{ id: "dp_1", status: "won", amount: 200n }],
  journal: [
    row("captured", "at_1", 1_000n),
    row("fee_charged", "at_1", 59n),
    row("refund_reserved", "re_1", 300n),
    row("refund_paid", "re_1", 300n),
    row("refund_reserved", "re_2", 100n),
    row("refund_reserved", "re_3", 50n),
    row("refund_released", "re_3", 50n),
    row("dispute_held", "dp_1", 200n),
    row("dispute_lost", "dp_1", 200n),
    row("dispute_recovered", "dp_1", 200n),
  ],
};

const [captured, ...rest] = right.journal;
assert.ok(captured);

test("right books have no difference, and neither has a payment without money", () => {
  assert.deepEqual(journalDifferences(right), []);
  const empty = { paidAttempts: [], refunds: [], disputes: [], journal: [] };
  const amounts = { capturedAmount: 0n, refundedAmount: 0n, feeAmount: 0n, disputedAmount: 0n };
  const none = { ...right, ...empty, ...amounts, outcome: "failed", status: "failed", disputeHold: "none" } as const;
  assert.deepEqual(journalDifferences(none), []);
});

const planted: [string, Partial<PaymentBooks>, RegExp][] = [
  ["a captured amount", { capturedAmount: 999n }, /captured amount is 999/],
  ["a refunded amount", { refundedAmount: 300n }, /refunded amount is 300/],
  ["a fee", { feeAmount: 58n }, /fee is 58/],
  ["a status", { status: "succeeded" }, /status is succeeded, the books give partially_refunded/],
  ["a dispute hold", { disputeHold: "open" }, /dispute hold is open/],
  ["a disputed amount", { disputedAmount: 1n }, /disputed amount is 1/],
  ["a missing line", { journal: rest }, /captured amount is 1000, the books give 0/],
  ["a line twice", { journal: [...right.journal, captured] }, /the books give 2000/],
  ["a line of another owner", { journal: [{ ...captured, sameOwner: false }, ...rest] }, /another merchant/],
  ["a line on wrong accounts", { journal: [{ ...captured, debit: "fees_revenue" }, ...rest] }, /debits fees_revenue/],
  ["a line of an unknown kind", { journal: [...right.journal, { ...captured, kind: "gift" }] }, /no such movement/],
  ["a capture by an attempt that failed", { paidAttempts: [] }, /attempt at_1, which did not succeed/],
  ["a refund that is gone", { refunds: right.refunds.slice(1) }, /refund_reserved of re_1: nothing has this id/],
  [
    "a refund's status",
    { refunds: right.refunds.map((r) => (r.id === "re_1" ? { ...r, status: "pending" as const } : r)) },
    /refund re_1 \(pending\) holds 300, the journal gives 0/,
  ],
  [
    "a dispute's status",
    { disputes: [{ id: "dp_1", status: "lost", amount: 200n }] },
    /dispute dp_1 \(lost\) has lost 200, the journal gives 0/,
  ],
];

for (const [what, change, expected] of planted) {
  test(`${what} that was tampered with is found`, () => {
    assert.match(journalDifferences({ ...right, ...change }).join("; "), expected);
  });
}

test.run();
