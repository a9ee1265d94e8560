// Wrong edits of the money rules, each with the unit test that must notice it. `npm run prove -- mutants` makes them.

export interface Mutant {
  /** Paths from the root. */
  readonly file: string;
  readonly test: string;
  /** Text that the file contains exactly once. */
  readonly find: string;
  readonly replace: string;
}

export const mutants: readonly Mutant[] = [
  ...mutantsOf("payments", "journal", "journal", [
    ['captured: { debit: "processor_clearing"', 'captured: { debit: "suspense"'],
    ['fee_charged: { debit: "merchant_balance"', 'fee_charged: { debit: "processor_clearing"'],
    ['capture_returned: { debit: "merchant_balance"', 'capture_returned: { debit: "refunds_pending"'],
    ['refund_reserved: { debit: "merchant_balance"', 'refund_reserved: { debit: "processor_clearing"'],
    ['refund_paid: { debit: "refunds_pending"', 'refund_paid: { debit: "merchant_balance"'],
    ['dispute_lost: { debit: "disputes_held"', 'dispute_lost: { debit: "merchant_balance"'],
  ]),
  ...mutantsOf("payments", "fee", "fee", [
    ["+ 5_000n) / 10_000n", "+ 4_999n) / 10_000n"],
    ["/ 10_000n + schedule.fixed", "/ 10_000n - schedule.fixed"],
    ["at === undefined || effectiveFrom <= at", "effectiveFrom !== at"],
    ["(before > 0n ? computeFee(before, schedule) : 0n)", "0n"],
  ]),
  ...mutantsOf("payments", "capture", "capture", [
    ["payment.capturedAmount === amount) return", "payment.capturedAmount > 0n) return"],
    ["if (amount > payment.amount) return", "if (amount > 2n * payment.amount) return"],
    ['active.kind === "capture" && active.amount === amount', 'active.kind === "capture"'],
    ["isPaid || isOver ||", "isOver ||"],
  ]),
  ...mutantsOf("payments", "refund", "refund", [
    ["payment.capturedAmount - payment.refundedAmount", "payment.capturedAmount"],
    ["payment.refundedAmount + requested > most", "requested > most"],
    ["refundedAtMost < payment.capturedAmount", "true"],
    ['payment.disputeHold !== "none" ||', ""],
    ['succeeded: ["failed"],', 'succeeded: ["failed", "canceled"],'],
    ["restoredAmount: refund.amount", "restoredAmount: 0n"],
  ]),
  ...mutantsOf("payments", "dispute", "dispute", [
    ["rank[to] < rank[from]", "rank[to] > rank[from]"],
    ['return status === "lost" ? "lost" : "none";', 'return "none";'],
    ['lost: ["dispute_held", "dispute_lost"] }', 'lost: ["dispute_lost"] }'],
    ['open: { none: ["dispute_released"],', "open: { none: [],"],
  ]),
  ...mutantsOf("payments", "payment", "payment", [["amounts.feeAmount - amounts.lostAmount", "amounts.feeAmount"]]),
  ...mutantsOf("payments", "payment-transition", "payment", [
    ['if (state.disputeHold === "lost") return ignore(', "if (false) return ignore("],
    ['if (isOlder(state, attempt)) return ignore(state, "a newer attempt is known");', ""],
    ['returned: { from: ["succeeded"]', 'returned: { from: ["failed"]'],
  ]),
  ...mutantsOf("payments", "payment-transition", "authorization", [
    ["(increase <= 0n || isOther)", "(state.capturedAmount > 0n || isOther)"],
    ["cause: attempt.ref, amount: increase, at", "cause: attempt.ref, amount: capturedAmount, at"],
  ]),
  ...mutantsOf("payments", "refund", "settlement", [
    ["known.amount !== report.amount ||", ""],
    ["(isReturned ? amount : capturedAmount)", "capturedAmount"],
    ["refunded: isCounted(status) ? amount : 0n,", "refunded: 0n,"],
    ["? -move.restoredAmount : 0n", "? 0n : 0n"],
    ["movements: openingMovements(refund),", "movements: [],"],
  ]),
  ...mutantsOf("payments", "settlement", "settlement", [["this.addRefunded(change.refunded);", ""]]),
  ...mutantsOf("payments", "settlement", "unexpected-funds", [["hasCaptured(fact, report.amount)", "false"]]),
  ...mutantsOf("payments", "statement", "statement", [
    ["ours.amount !== theirs.amount", "ours.amount > theirs.amount"],
    ["if (ours.currency !== theirs.currency) return", "if (ours.currency > theirs.currency) return"],
  ]),
  ...mutantsOf("checkout", "session", "session", [
    [
      'open: "open", processing: "processing", paid: "completed"',
      'open: "open", processing: "completed", paid: "completed"',
    ],
    [
      'expired: { open: "final", processing: "final", paid: "completed"',
      'expired: { open: "final", processing: "final", paid: "final"',
    ],
    ["return fact.version < session.paymentVersion;", "return fact.version > session.paymentVersion;"],
    ["state.failedAttempts >= failedAttemptsMax", "state.failedAttempts > failedAttemptsMax"],
  ]),
];

function mutantsOf(service: string, rule: string, test: string, edits: readonly [string, string][]): Mutant[] {
  const rules = `services/${service}/rules`;
  return edits.map(([find, replace]) => ({
    file: `${rules}/${rule}.ts`,
    test: `${rules}/${test}.test.ts`,
    find,
    replace,
  }));
}
