// Each kind of movement with balances calculated by hand, and each way to misbook it. No row comes from the rules.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { accounts, balancesOf, movementForms } from "./accounts.ts";
import { booksDifferences, type JournalRow, type PaymentBooks } from "./books.ts";
import { accountBalances } from "./facts.ts";

const test = suite("audit of books");

type Line = readonly [kind: string, cause: string, debit: string, credit: string, amount: bigint];

function rows(...lines: Line[]): JournalRow[] {
  return lines.map(([kind, cause, debit, credit, amount]) => ({ kind, cause, debit, credit, amount, sameOwner: true }));
}

/** 1,000 captured at 2.9 % + 30: a fee of 59. */
const paid: PaymentBooks = {
  id: "pay_1",
  amount: 1_000n,
  outcome: "succeeded",
  status: "succeeded",
  capturedAmount: 1_000n,
  refundedAmount: 0n,
  feeAmount: 59n,
  disputeHold: "none",
  disputedAmount: 0n,
  captures: [{ amount: 1_000n, rate: { basisPoints: 290n, fixed: 30n } }],
  paidAttempts: ["at_1"],
  failedAttempts: 0,
  refunds: [],
  disputes: [],
  suspense: [],
  journal: rows(
    ["captured", "at_1", "processor_clearing", "merchant_balance", 1_000n],
    ["fee_charged", "at_1", "merchant_balance", "fees_revenue", 59n],
  ),
};

const authorized: PaymentBooks = { ...paid, capturedAmount: 0n, feeAmount: 0n, captures: [], journal: [] };

function having(change: Partial<PaymentBooks>, ...lines: Line[]): PaymentBooks {
  return { ...paid, ...change, journal: [...paid.journal, ...rows(...lines)] };
}

function refund(status: string, change: { unasked?: boolean } = {}) {
  return { id: "re_1", status, amount: 300n, unasked: false, ...change };
}

function charge(state: string, returnedAmount = 0n) {
  return {
    id: "su_1",
    kind: "second_charge",
    state,
    amount: 1_000n,
    returnedAmount,
    paidBy: "at_2",
    closedAmount: 0n,
    capturedIn: "",
  };
}

const disputed = { disputeHold: "open", disputedAmount: 400n, status: "disputed" };
const partly = { refundedAmount: 300n, status: "partially_refunded" };

/** Rows that several cases use. */
const line = {
  reserved: ["refund_reserved", "re_1", "merchant_balance", "refunds_pending", 300n],
  released: ["refund_released", "re_1", "refunds_pending", "merchant_balance", 300n],
  refundPaid: ["refund_paid", "re_1", "refunds_pending", "processor_clearing", 300n],
  returned: ["refund_returned", "re_1", "processor_clearing", "merchant_balance", 300n],
  held: ["dispute_held", "dp_1", "merchant_balance", "disputes_held", 400n],
  disputeReleased: ["dispute_released", "dp_1", "disputes_held", "merchant_balance", 400n],
  lost: ["dispute_lost", "dp_1", "disputes_held", "processor_clearing", 400n],
  recovered: ["dispute_recovered", "dp_1", "processor_clearing", "merchant_balance", 400n],
  suspended: ["suspense_held", "su_1", "processor_clearing", "suspense", 1_000n],
  suspenseReleased: ["suspense_released", "su_1", "suspense", "processor_clearing", 1_000n],
  suspenseKept: ["suspense_kept", "su_1", "suspense", "adjustments", 1_000n],
  suspenseWrittenOff: ["suspense_written_off", "su_1", "adjustments", "suspense", 300n],
  secondRefund: ["suspense_refunded", "re_1", "suspense", "processor_clearing", 300n],
  secondReleased: ["suspense_refund_released", "re_1", "processor_clearing", "suspense", 300n],
  captureReturned: ["capture_returned", "at_1", "merchant_balance", "processor_clearing", 1_000n],
  feeReturned: ["fee_returned", "at_1", "fees_revenue", "merchant_balance", 59n],
} as const satisfies Record<string, Line>;

/** Balances are in the order of `order`, debits positive, calculated by hand; an absent `adjustments` is 0. */
const order = [
  "processor_clearing",
  "merchant_balance",
  "fees_revenue",
  "refunds_pending",
  "disputes_held",
  "suspense",
  "adjustments",
];
const nothing = { capturedAmount: 0n, feeAmount: 0n, captures: [] };
const returnedDebit = { ...nothing, outcome: "failed", status: "failed", paidAttempts: [] };
const captureOf = (amount: bigint, basisPoints = 290n) => ({ amount, rate: { basisPoints, fixed: 30n } });
/** A refunded debit that was returned, then paid by another attempt. */
const backAfterRefund = [line.reserved, line.refundPaid, line.captureReturned, line.feeReturned] as const;
const refundedBefore = {
  refundedAmount: 300n,
  refunds: [refund("succeeded")],
  paidAttempts: ["at_2"],
  failedAttempts: 1,
};
const partial: PaymentBooks = {
  ...paid,
  capturedAmount: 400n,
  feeAmount: 42n,
  captures: [captureOf(400n)],
  journal: rows(
    ["captured", "at_1", "processor_clearing", "merchant_balance", 400n],
    ["fee_charged", "at_1", "merchant_balance", "fees_revenue", 42n], // 11.60, and 30
  ),
};
const failed = { ...authorized, outcome: "failed", status: "failed", paidAttempts: [] };
const released = { ...failed, outcome: "canceled", status: "canceled" };
const cases: [what: string, books: PaymentBooks, balances: readonly number[]][] = [
  ["a payment with its fee", paid, [1_000, -941, -59, 0, 0, 0]],
  ["a failed payment", failed, [0, 0, 0, 0, 0, 0]],
  ["an authorization", authorized, [0, 0, 0, 0, 0, 0]],
  ["a canceled authorization", released, [0, 0, 0, 0, 0, 0]],
  ["a partial capture", partial, [400, -358, -42, 0, 0, 0]],
  [
    "a pending refund",
    having({ ...partly, refunds: [refund("pending")] }, line.reserved),
    [1_000, -641, -59, -300, 0, 0],
  ],
  [
    "a paid refund",
    having({ ...partly, refunds: [refund("succeeded")] }, line.reserved, line.refundPaid),
    [700, -641, -59, 0, 0, 0],
  ],
  [
    "a refund that failed before it was paid",
    having({ refunds: [refund("failed")] }, line.reserved, line.released),
    [1_000, -941, -59, 0, 0, 0],
  ],
  [
    "a refund that was returned",
    having({ refunds: [refund("failed")] }, line.reserved, line.refundPaid, line.returned),
    [1_000, -941, -59, 0, 0, 0],
  ],
  [
    "an open dispute",
    having({ ...disputed, disputes: [{ id: "dp_1", status: "needs_response", amount: 400n }] }, line.held),
    [1_000, -541, -59, 0, -400, 0],
  ],
  [
    "a won dispute",
    having({ disputes: [{ id: "dp_1", status: "won", amount: 400n }] }, line.held, line.disputeReleased),
    [1_000, -941, -59, 0, 0, 0],
  ],
  [
    "a lost dispute",
    having(
      { ...disputed, disputeHold: "lost", disputes: [{ id: "dp_1", status: "lost", amount: 400n }] },
      line.held,
      line.lost,
    ),
    [600, -541, -59, 0, 0, 0],
  ],
  [
    "a lost dispute that was won later",
    having({ disputes: [{ id: "dp_1", status: "won", amount: 400n }] }, line.held, line.lost, line.recovered),
    [1_000, -941, -59, 0, 0, 0],
  ],
  [
    "an open and a lost dispute",
    having(
      {
        ...disputed,
        disputes: [
          { id: "dp_1", status: "lost", amount: 400n },
          { id: "dp_2", status: "under_review", amount: 250n },
        ],
        disputedAmount: 250n,
      },
      line.held,
      line.lost,
      ["dispute_held", "dp_2", "merchant_balance", "disputes_held", 250n],
    ),
    [600, -291, -59, 0, -250, 0],
  ],
  ["a second charge", having({ suspense: [charge("open")] }, line.suspended), [2_000, -941, -59, 0, 0, -1_000]],
  [
    "a second charge that was partly refunded",
    having({ suspense: [charge("open", 600n)] }, line.suspended, [
      "suspense_released",
      "su_1",
      "suspense",
      "processor_clearing",
      600n,
    ]),
    [1_400, -941, -59, 0, 0, -400],
  ],
  [
    "a second charge that was refunded",
    having({ suspense: [charge("closed", 1_000n)] }, line.suspended, line.suspenseReleased),
    [1_000, -941, -59, 0, 0, 0],
  ],
  [
    "a charge of another amount that was accepted",
    {
      ...paid,
      suspense: [{ ...charge("closed"), kind: "other_amount", paidBy: "at_1" }],
      journal: [...rows(line.suspended, line.suspenseReleased), ...paid.journal],
    },
    [1_000, -941, -59, 0, 0, 0],
  ],
  [
    "an excess capture that is held",
    having({ suspense: [{ ...charge("open"), kind: "excess_capture", paidBy: "at_1" }] }, line.suspended),
    [2_000, -941, -59, 0, 0, -1_000],
  ],
  [
    "a second charge that an operator closed",
    having({ suspense: [{ ...charge("closed"), closedAmount: 1_000n }] }, line.suspended, line.suspenseKept),
    [2_000, -941, -59, 0, 0, 0, -1_000],
  ],
  [
    "a second refund that an operator closed",
    having(
      {
        ...partly,
        refunds: [refund("succeeded", { unasked: true })],
        suspense: [{ ...charge("closed"), kind: "second_refund", amount: 300n, closedAmount: -300n }],
      },
      line.secondRefund,
      line.suspenseWrittenOff,
    ),
    [700, -941, -59, 0, 0, 0, 300],
  ],
  [
    "an intent that the processor lost",
    having({ suspense: [{ ...charge("open"), kind: "lost_intent" }] }),
    [1_000, -941, -59, 0, 0, 0],
  ],
  [
    "a second refund",
    having({ ...partly, refunds: [refund("succeeded", { unasked: true })] }, line.secondRefund),
    [700, -941, -59, 0, 0, 300],
  ],
  [
    "a second refund that failed later",
    having({ refunds: [refund("failed", { unasked: true })] }, line.secondRefund, line.secondReleased),
    [1_000, -941, -59, 0, 0, 0],
  ],
  [
    "a second refund that was accepted",
    having(
      { ...partly, refunds: [refund("succeeded")] },
      line.secondRefund,
      line.secondReleased,
      line.reserved,
      line.refundPaid,
    ),
    [700, -641, -59, 0, 0, 0],
  ],
  ["a returned debit", having(returnedDebit, line.captureReturned, line.feeReturned), [0, 0, 0, 0, 0, 0]],
  [
    "a debit that was returned after a refund",
    having(
      { ...returnedDebit, refundedAmount: 300n, refunds: [refund("succeeded")] },
      line.reserved,
      line.refundPaid,
      line.captureReturned,
      line.feeReturned,
    ),
    [-300, 300, 0, 0, 0, 0],
  ],
  [
    "an authorization after a refunded debit was returned",
    having({ ...nothing, ...refundedBefore, status: "succeeded" }, ...backAfterRefund),
    [-300, 300, 0, 0, 0, 0],
  ],
  [
    "a capture smaller than the refunds of a returned debit",
    having(
      { ...refundedBefore, capturedAmount: 200n, feeAmount: 36n, captures: [captureOf(200n)], status: "refunded" },
      ...backAfterRefund,
      ["captured", "at_2", "processor_clearing", "merchant_balance", 200n],
      ["fee_charged", "at_2", "merchant_balance", "fees_revenue", 36n], // 5.80, and 30
    ),
    [-100, 136, -36, 0, 0, 0],
  ],
  [
    "a partial capture at 2.9 % and the rest at 0 %",
    {
      ...partial,
      capturedAmount: 1_000n,
      captures: [captureOf(400n), captureOf(600n, 0n)],
      journal: [...partial.journal, ...rows(["captured", "at_1", "processor_clearing", "merchant_balance", 600n])],
    },
    [1_000, -958, -42, 0, 0, 0],
  ],
];

for (const [what, books, balances] of cases) {
  test(`accepts ${what} and computes the balances calculated by hand`, () => {
    assert.deepEqual(booksDifferences(books), []);
    const wanted = [...balances, ...(balances.length < order.length ? [0] : [])];
    const booked = balancesOf(books.journal);
    assert.deepEqual(
      order.map((account) => Number(booked.get(account) ?? 0n)),
      wanted,
    );
    const must = accountBalances(books, books.feeAmount);
    assert.deepEqual(
      order.map((account) => Number(must.get(accounts.find((one) => one === account) ?? "suspense"))),
      wanted,
    );
  });
}

/** Each case with one of its rows changed. */
function changed(change: (row: JournalRow) => JournalRow[]): { what: string; kind: string; books: PaymentBooks }[] {
  return cases.flatMap(([what, books]) =>
    books.journal.flatMap((row, at) =>
      change(row).map((other) => ({
        what: `${what}, ${row.kind} as ${JSON.stringify({ ...other, amount: String(other.amount) })}`,
        kind: row.kind,
        books: { ...books, journal: books.journal.with(at, other) },
      })),
    ),
  );
}

test("finds a row of any kind on a wrong account, by its kind and by the balances", () => {
  const wrong = changed((row) => [
    ...accounts.filter((one) => one !== row.debit).map((debit) => ({ ...row, debit })),
    ...accounts.filter((one) => one !== row.credit).map((credit) => ({ ...row, credit })),
  ]);
  for (const { what, books } of wrong) {
    const found = booksDifferences(books).join("; ");
    assert.match(found, /journal row \w+ of \w+: debits/, what);
    assert.match(found, /account \w+ has -?\d+, expected -?\d+/, what);
  }
  assert.deepEqual(new Set(wrong.map(({ kind }) => kind)), new Set(movementForms.keys()), "every kind is tried");
});

test("finds a row of any kind that is missing, duplicated, reversed or has a wrong amount", () => {
  const wrong = [
    ...changed((row) => [
      { ...row, amount: row.amount + 1n },
      { ...row, amount: -row.amount },
    ]),
    ...changed((row) => [{ ...row, debit: row.credit, credit: row.debit }]),
    ...cases.flatMap(([what, books]) =>
      books.journal.flatMap((row, at) => [
        { what: `${what}, ${row.kind} missing`, books: { ...books, journal: books.journal.toSpliced(at, 1) } },
        { what: `${what}, ${row.kind} twice`, books: { ...books, journal: [...books.journal, row] } },
      ]),
    ),
  ];
  for (const { what, books } of wrong) assert.match(booksDifferences(books).join("; "), /account \w+ has/, what);
});

test("finds a row with the name of another kind", () => {
  const wrong = changed((row) =>
    [...movementForms.keys()].filter((kind) => kind !== row.kind).map((kind) => ({ ...row, kind })),
  );
  // A recovered loss and a returned refund move the same accounts; only their causes differ.
  for (const { what, books } of wrong) assert.notDeepEqual(booksDifferences(books), [], what);
});

const partlyRefunded = having({ ...partly, refunds: [refund("succeeded")] }, line.reserved, line.refundPaid);
const [first] = paid.journal;
assert.ok(first);
const planted: [string, PaymentBooks, RegExp][] = [
  ["a captured amount", { ...paid, capturedAmount: 999n }, /captured amount is 999, expected 1000/],
  ["more captured than asked for", { ...paid, amount: 999n }, /captured 1000 of 999/],
  ["a refunded amount", { ...partlyRefunded, refundedAmount: 0n }, /refunded amount is 0, expected 300/],
  ["a fee", { ...paid, feeAmount: 58n }, /^fee is 58, expected 59$/],
  [
    "a fee that is wrong in the payment and in the journal alike",
    {
      ...paid,
      feeAmount: 58n,
      journal: [first, ...rows(["fee_charged", "at_1", "merchant_balance", "fees_revenue", 58n])],
    },
    /fee is 58, expected 59; .*account fees_revenue has -58, expected -59/,
  ],
  ["a status", { ...partlyRefunded, status: "succeeded" }, /^status is succeeded, expected partially_refunded$/],
  ["a full refund", { ...partlyRefunded, status: "refunded" }, /^status is refunded, expected partially_refunded$/],
  ["a dispute hold", { ...paid, disputeHold: "open" }, /^dispute hold is open, expected none$/],
  ["a disputed amount", { ...paid, disputedAmount: 1n }, /^disputed amount is 1, expected 0$/],
  [
    "another owner's row",
    { ...paid, journal: paid.journal.with(0, { ...first, sameOwner: false }) },
    /another merchant/,
  ],
  ["a row of an unknown kind", { ...paid, journal: [...paid.journal, { ...first, kind: "gift" }] }, /unknown movement/],
  [
    "a row without its object",
    having({}, line.reserved, line.released),
    /refund_reserved of re_1: no object has this id/,
  ],
  ["an unknown account", having({}, ["captured", "at_1", "gifts", "merchant_balance", 1n]), /account gifts is unknown/],
  ["a capture by an attempt that failed", { ...paid, paidAttempts: ["at_2"] }, /attempt at_1, which did not succeed/],
  ["a payment without a successful attempt", { ...paid, paidAttempts: [] }, /paid without a successful attempt/],
  [
    "a capture by two attempts",
    having(
      {
        paidAttempts: ["at_1", "at_2"],
        amount: 2_000n,
        capturedAmount: 2_000n,
        feeAmount: 88n,
        captures: [captureOf(1_000n), captureOf(1_000n)],
      },
      ["captured", "at_2", "processor_clearing", "merchant_balance", 1_000n],
      ["fee_charged", "at_2", "merchant_balance", "fees_revenue", 29n],
    ),
    /attempt at_1 captured 1000 of 2000; attempt at_2 captured 1000 of 2000/,
  ],
  [
    "refunds of more than was captured",
    having({ refundedAmount: 1_001n, refunds: [{ ...refund("pending"), amount: 1_001n }], status: "refunded" }, [
      "refund_reserved",
      "re_1",
      "merchant_balance",
      "refunds_pending",
      1_001n,
    ]),
    /refunds of 1001 exceed the 1000 captured/,
  ],
  [
    "a refund's status",
    { ...partlyRefunded, refunds: [refund("pending")] },
    /refund re_1 \(pending\) must leave -300 in refunds_pending, the journal has 0/,
  ],
  [
    "a dispute's status",
    having({ ...disputed, disputes: [{ id: "dp_1", status: "needs_response", amount: 400n }] }, line.held, line.lost),
    /dispute dp_1 \(needs_response\) must leave -400 in disputes_held, the journal has 0/,
  ],
  [
    "a closed charge that is still held",
    having({ suspense: [charge("closed", 1_000n)] }, line.suspended),
    /suspense su_1 \(closed\) must leave 0 in suspense, the journal has -1000/,
  ],
  [
    "one attempt's money as a capture and in suspense",
    having({ suspense: [{ ...charge("open"), paidBy: "at_1" }] }, line.suspended),
    /^suspense su_1 holds 1000 of attempt at_1, which captured 1000$/,
  ],
  [
    "a closed charge without its movement",
    having({ suspense: [{ ...charge("closed"), closedAmount: 1_000n }] }, line.suspended),
    /suspense su_1 \(closed\) must leave -1000 in adjustments, the journal has 0/,
  ],
  [
    "one attempt's money as another payment's capture and in suspense",
    having({ suspense: [{ ...charge("open"), capturedIn: "pay_2" }] }, line.suspended),
    /^suspense su_1 holds 1000 of attempt at_2, which captured in pay_2$/,
  ],
  ["a fee of an authorization", { ...authorized, feeAmount: 59n }, /fee is 59, expected 0/],
  ["a fee of a partial capture", { ...partial, feeAmount: 59n }, /fee is 59, expected 42/],
  [
    "a capture of an authorization",
    { ...authorized, journal: paid.journal.slice(0, 1) },
    /captured amount is 0, expected 1000/,
  ],
  [
    "refunds of an authorization",
    { ...authorized, refunds: [refund("succeeded")], refundedAmount: 300n },
    /refunds of 300 exceed the 0 captured/,
  ],
  [
    "a capture of a canceled authorization",
    { ...paid, outcome: "canceled", status: "canceled", paidAttempts: [] },
    /captured 1000, but the outcome is canceled/,
  ],
];

for (const [what, books, expected] of planted) {
  test(`finds a tampered record: ${what}`, () => {
    assert.match(booksDifferences(books).join("; "), expected);
  });
}

test.run();
