// Mutants of the rules of payments: accounts, fees, refunds, disputes, statements, and the payment machine.
import { type Mutant, mutantsOf } from "./mutant.ts";

export const paymentsRules: readonly Mutant[] = [
  ...mutantsOf("services/payments/rules/journal.ts", [
    [
      'captured: { debit: "processor_clearing", credit: "merchant_balance" }',
      'captured: { debit: "merchant_balance", credit: "processor_clearing" }',
      "a capture is owed to the merchant",
    ],
    [
      'fee_charged: { debit: "merchant_balance", credit: "fees_revenue" }',
      'fee_charged: { debit: "processor_clearing", credit: "fees_revenue" }',
      "the merchant pays the fee",
    ],
    [
      'refund_reserved: { debit: "merchant_balance", credit: "refunds_pending" }',
      'refund_reserved: { debit: "processor_clearing", credit: "refunds_pending" }',
      "a refund under way is taken from the merchant's balance",
    ],
    [
      'refund_released: { debit: "refunds_pending", credit: "merchant_balance" }',
      'refund_released: { debit: "refunds_pending", credit: "processor_clearing" }',
      "a refund that was not made comes back to the merchant",
    ],
    [
      'refund_paid: { debit: "refunds_pending", credit: "processor_clearing" }',
      'refund_paid: { debit: "refunds_pending", credit: "fees_revenue" }',
      "a paid refund leaves through the processor",
    ],
    [
      'refund_returned: { debit: "processor_clearing", credit: "merchant_balance" }',
      'refund_returned: { debit: "refunds_pending", credit: "merchant_balance" }',
      "a refund that came back is at the processor again",
    ],
    [
      'dispute_held: { debit: "merchant_balance", credit: "disputes_held" }',
      'dispute_held: { debit: "merchant_balance", credit: "refunds_pending" }',
      "disputed money is held apart from refunds",
    ],
    [
      'dispute_released: { debit: "disputes_held", credit: "merchant_balance" }',
      'dispute_released: { debit: "disputes_held", credit: "fees_revenue" }',
      "a won dispute gives the money back to the merchant",
    ],
    [
      'dispute_lost: { debit: "disputes_held", credit: "processor_clearing" }',
      'dispute_lost: { debit: "disputes_held", credit: "merchant_balance" }',
      "a lost dispute's money is gone",
    ],
    [
      'dispute_recovered: { debit: "processor_clearing", credit: "merchant_balance" }',
      'dispute_recovered: { debit: "disputes_held", credit: "merchant_balance" }',
      "a dispute that is won after all brings the money back from the processor",
    ],
  ]),
  ...mutantsOf("services/payments/rules/fee.ts", [
    ["+ 5_000n) / 10_000n", "+ 4_999n) / 10_000n", "half a minor unit rounds up"],
    ["/ 10_000n + schedule.fixed", "/ 10_000n - schedule.fixed", "the fixed part is added to the share"],
    ["amount < 0n ||", "amount <= 0n &&", "a fee is never made of a negative amount"],
    ["at === undefined || effectiveFrom <= at", "effectiveFrom !== at", "the fee is that of the capture's own time"],
    ["(before > 0n ? fee(before, schedule) : 0n)", "0n", "a capture after the first pays for itself alone"],
  ]),
  ...mutantsOf("services/payments/rules/refund.ts", [
    [
      "payment.capturedAmount - payment.refundedAmount",
      "payment.capturedAmount + payment.refundedAmount",
      "refunds never exceed what was captured",
    ],
    ["left <= 0n", "left < 0n", "a payment that is refunded whole takes no further refund"],
    ["+ taken > most", "+ taken >= most", "all that is left can be refunded in one amount"],
    [
      "payment.refundedAmount + taken > most",
      "taken > most",
      "several refunds together never exceed what was captured",
    ],
    [
      "? refundedAtMost : payment",
      "? payment.capturedAmount : payment",
      "a person refunds no more of a payment than they may",
    ],
    ["refundedAtMost < payment.capturedAmount", "true", "a person's limit makes no refund exceed what was captured"],
    ['payment.disputeHold !== "none" ||', "", "disputed money is not refunded"],
    ['payment.outcome !== "succeeded" ||', "", "only a paid payment is refunded"],
    [
      'succeeded: ["failed"],',
      'succeeded: ["failed", "canceled"],',
      "a refund that succeeded is not taken for canceled",
    ],
    ["failed: [],", 'failed: ["succeeded"],', "a refund that failed stays failed"],
    ["givenBack: refund.amount", "givenBack: 0n", "a refund that failed gives its amount back to the payment"],
    [
      'refund.status === "succeeded" ? "refund_returned" : "refund_released"',
      'refund.status === "succeeded" ? "refund_released" : "refund_returned"',
      "money that came back is not taken for money that never left",
    ],
    [
      'if (refund.status !== "succeeded") return [];',
      'if (refund.status === "canceled") return [];',
      "a refund that is first heard of when it failed moves no money",
    ],
  ]),
  ...mutantsOf("services/payments/rules/dispute.ts", [
    ["rank[to] < rank[from]", "rank[to] <= rank[from]", "a decision can be overturned"],
    [
      "if (from !== undefined && rank[to] < rank[from]) return",
      "if (from !== undefined && rank[to] > rank[from]) return",
      "a late report does not move a dispute back",
    ],
    [
      'if (status === "needs_response" || status === "under_review") return "open";',
      'if (status === "needs_response") return "open";',
      "a dispute under review holds the money",
    ],
    ['return status === "lost" ? "lost" : "none";', 'return "none";', "a lost dispute is held against the payment"],
    [
      'lost: ["dispute_held", "dispute_lost"] }',
      'lost: ["dispute_lost"] }',
      "a dispute heard of only when it is lost is held before it is paid out",
    ],
    ['open: { none: ["dispute_released"],', "open: { none: [],", "a won dispute releases what it held"],
    [
      'lost: { none: ["dispute_recovered"],',
      "lost: { none: [],",
      "a dispute won after it was lost brings the money back",
    ],
    [
      "(from === undefined || isInquiry(from)) && !isInquiry(to)",
      "from === undefined && !isInquiry(to)",
      "an inquiry that becomes a dispute is announced as one",
    ],
    ["&& !isInquiry(to)", "", "an inquiry is not announced as a dispute"],
  ]),
  ...mutantsOf("services/payments/rules/statement.ts", [
    [
      "ours.amount !== theirs.amount",
      "ours.amount > theirs.amount",
      "a statement that shows more than we booked is a difference",
    ],
    [
      "if (ours.currency !== theirs.currency) return",
      "if (ours.currency > theirs.currency) return",
      "another currency is a difference",
    ],
    [
      "return ours.status === theirs.status ? undefined :",
      "return ours.status !== theirs.status ? undefined :",
      "another status is a difference",
    ],
    ['differs("unknown_to_us", ""', 'differs("amount", ""', "what we do not know at all is told as such"],
  ]),
];
