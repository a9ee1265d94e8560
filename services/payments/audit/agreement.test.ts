// Compares the independent booking rules and auditor: the auditor accepts the rows of every path through the rules.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type DisputeStatus, holdOf, moveDispute } from "../rules/dispute.ts";
import { computeFee } from "../rules/fee.ts";
import { type Movement, postings } from "../rules/journal.ts";
import { statusOf } from "../rules/payment.ts";
import { moveRefund, openingMovements, type RefundStatus } from "../rules/refund.ts";
import { movementForms } from "./accounts.ts";
import { booksDifferences, type PaymentBooks } from "./books.ts";
import { feeBy } from "./facts.ts";

const test = suite("agreement of rules and auditor");

/** 1,000 captured with a fee of 59. */
function booksOf(movements: readonly Movement[], change: Partial<PaymentBooks>): PaymentBooks {
  const stored = {
    outcome: "succeeded",
    capturedAmount: 1_000n,
    refundedAmount: 0n,
    disputeHold: "none",
    ...change,
  } as const;
  const disputeHold = stored.disputeHold as "none" | "open" | "lost";
  const captured: Movement[] = [
    { kind: "captured", cause: "at_1", amount: 1_000n, at: undefined },
    { kind: "fee_charged", cause: "at_1", amount: 59n },
  ];
  return {
    id: "pay_1",
    amount: 1_000n,
    feeAmount: 59n,
    disputedAmount: 0n,
    captures: [{ amount: 1_000n, rate: { basisPoints: 290n, fixed: 30n } }],
    paidAttempts: ["at_1"],
    failedAttempts: 0,
    refunds: [],
    disputes: [],
    suspense: [],
    ...stored,
    status: statusOf({ ...stored, outcome: "succeeded", disputeHold }),
    journal: [...captured, ...movements].map((row) => ({ ...row, ...postings[row.kind], sameOwner: true })),
  };
}

test("posts each kind of movement to the same accounts in both tables", () => {
  for (const [kind, { debit, credit }] of Object.entries(postings)) {
    const form = movementForms.get(kind);
    assert.deepEqual({ debit, credit }, { debit: form?.debit, credit: form?.credit }, kind);
  }
});

test("computes the same fee in rules and audit", () => {
  for (const amount of [0n, 1n, 49n, 50n, 51n, 1_017n, 1_050n, 1_100n, 5_000n, 99_999_999n]) {
    for (const basisPoints of [0n, 1n, 100n, 150n, 290n, 9_999n, 10_000n]) {
      for (const fixed of [0n, 30n]) {
        assert.equal(
          computeFee(amount, { basisPoints, fixed }),
          feeBy({ basisPoints, fixed }, amount),
          `${amount} ${basisPoints}`,
        );
      }
    }
  }
});

const refundStatuses: readonly RefundStatus[] = ["pending", "succeeded", "failed", "canceled"];

for (const amount of [300n, 1_000n]) {
  test(`accepts any status sequence of a refund of ${amount} of 1000`, () => {
    for (const sequence of listSequences(refundStatuses, 3)) {
      const [first, ...later] = sequence;
      const refund = { id: "re_1", amount, status: first };
      const movements = [...openingMovements(refund)];
      let refunded = first === "pending" || first === "succeeded" ? amount : 0n;
      for (const to of later) {
        const change = moveRefund(refund, to);
        if (change.kind === "ignored") continue;
        refund.status = to;
        movements.push(...change.movements);
        refunded -= change.restoredAmount;
      }
      const books = booksOf(movements, { refundedAmount: refunded, refunds: [{ ...refund, unasked: false }] });
      assert.deepEqual(booksDifferences(books), [], sequence.join(" → "));
    }
  });
}

const disputeStatuses: readonly DisputeStatus[] = [
  "warning_needs_response",
  "warning_under_review",
  "warning_closed",
  "needs_response",
  "under_review",
  "won",
  "lost",
];

test("accepts any status sequence of a dispute", () => {
  for (const sequence of listSequences(disputeStatuses, 4)) {
    const dispute = { id: "dp_1", amount: 400n };
    const movements: Movement[] = [];
    let status: DisputeStatus | undefined;
    for (const to of sequence) {
      const change = moveDispute(dispute, status, to);
      if (change.kind === "ignored") continue;
      assert.equal(change.hold, holdOf(to));
      status = to;
      movements.push(...change.movements);
    }
    assert.ok(status);
    const disputeHold = holdOf(status);
    const disputedAmount = disputeHold === "none" ? 0n : 400n;
    const books = booksOf(movements, { disputeHold, disputedAmount, disputes: [{ ...dispute, status }] });
    assert.deepEqual(booksDifferences(books), [], sequence.join(" → "));
  }
});

function listSequences<S>(statuses: readonly S[], length: number): (readonly [S, ...S[]])[] {
  let sequences = statuses.map((status): readonly [S, ...S[]] => [status]);
  for (let i = 1; i < length; i++) {
    sequences = sequences.flatMap((sequence) => statuses.map((status): readonly [S, ...S[]] => [...sequence, status]));
  }
  return sequences;
}

test.run();
