// Double entry: every movement of money debits one account and credits another by the same amount, so that the books of
// a merchant, environment and currency sum to zero by their very shape.

/** Accounts per merchant, environment and currency. */
export type JournalAccount =
  | "processor_clearing"
  | "merchant_balance"
  | "fees_revenue"
  | "refunds_pending"
  | "disputes_held"
  // Unexpected funds: owed to a buyer, or by one.
  | "suspense"
  // The other side of what operators correct or close by hand: a debit is our loss, a credit our gain.
  | "adjustments";

export type MovementKind =
  | "captured"
  | "fee_charged"
  | "refund_reserved"
  | "refund_released"
  | "refund_paid"
  | "refund_returned"
  | "dispute_held"
  | "dispute_released"
  | "dispute_lost"
  | "dispute_recovered"
  | "capture_returned"
  | "fee_returned"
  | "suspense_held"
  | "suspense_released"
  | "suspense_refunded"
  | "suspense_refund_released"
  | "suspense_kept"
  | "suspense_written_off";

interface MovementCause {
  /** What moved it: an attempt, a refund, a dispute. One movement per kind and cause and occurrence. */
  readonly cause: string;
  /** Minor units, above zero. */
  readonly amount: bigint;
}

export type Movement =
  /** `at`: when the processor captured, which decides the fee; undefined: it does not say, so when it is booked. */
  | (MovementCause & { readonly kind: "captured"; readonly at: Date | undefined })
  | (MovementCause & { readonly kind: Exclude<MovementKind, "captured"> });

/** What each movement debits and credits. */
export const postings: {
  readonly [K in MovementKind]: { readonly debit: JournalAccount; readonly credit: JournalAccount };
} = {
  captured: { debit: "processor_clearing", credit: "merchant_balance" },
  fee_charged: { debit: "merchant_balance", credit: "fees_revenue" },
  refund_reserved: { debit: "merchant_balance", credit: "refunds_pending" },
  refund_released: { debit: "refunds_pending", credit: "merchant_balance" },
  refund_paid: { debit: "refunds_pending", credit: "processor_clearing" },
  // A refund that fails after it had succeeded: the money is back at the processor and the merchant's again.
  refund_returned: { debit: "processor_clearing", credit: "merchant_balance" },
  dispute_held: { debit: "merchant_balance", credit: "disputes_held" },
  dispute_released: { debit: "disputes_held", credit: "merchant_balance" },
  dispute_lost: { debit: "disputes_held", credit: "processor_clearing" },
  // A lost dispute that is decided again in the merchant's favour.
  dispute_recovered: { debit: "processor_clearing", credit: "merchant_balance" },
  // A debit that came back after it had succeeded takes the capture and its fee back.
  capture_returned: { debit: "merchant_balance", credit: "processor_clearing" },
  fee_returned: { debit: "fees_revenue", credit: "merchant_balance" },
  // An unexpected charge, until the processor has refunded it or it is accepted and then booked as usual.
  suspense_held: { debit: "processor_clearing", credit: "suspense" },
  suspense_released: { debit: "suspense", credit: "processor_clearing" },
  // An unexpected refund, until it fails after all or is accepted as the merchant's.
  suspense_refunded: { debit: "suspense", credit: "processor_clearing" },
  suspense_refund_released: { debit: "processor_clearing", credit: "suspense" },
  // An operator closes what is left of unexpected funds.
  suspense_kept: { debit: "suspense", credit: "adjustments" },
  suspense_written_off: { debit: "adjustments", credit: "suspense" },
};
