// Double entry: every movement debits one account and credits another by the same amount, so the books of a merchant,
// environment and currency always sum to zero.
import assert from "node:assert/strict";
import type { PaymentState } from "./payment.ts";

/** Accounts per merchant, environment and currency. */
export type JournalAccount =
  | "processor_clearing"
  | "merchant_balance"
  | "fees_revenue"
  | "refunds_pending"
  | "disputes_held"
  // Unexpected funds: owed to a buyer, or by one.
  | "suspense"
  // The other side of operators' corrections and closings: a debit is our loss, a credit our gain.
  | "adjustments";

/** The accounts that each movement debits and credits. */
export const postings = {
  captured: { debit: "processor_clearing", credit: "merchant_balance" },
  fee_charged: { debit: "merchant_balance", credit: "fees_revenue" },
  refund_reserved: { debit: "merchant_balance", credit: "refunds_pending" },
  refund_released: { debit: "refunds_pending", credit: "merchant_balance" },
  refund_paid: { debit: "refunds_pending", credit: "processor_clearing" },
  // A refund that fails after it succeeded: the money is back at the processor and the merchant's again.
  refund_returned: { debit: "processor_clearing", credit: "merchant_balance" },
  dispute_held: { debit: "merchant_balance", credit: "disputes_held" },
  dispute_released: { debit: "disputes_held", credit: "merchant_balance" },
  dispute_lost: { debit: "disputes_held", credit: "processor_clearing" },
  // A lost dispute that is overturned in the merchant's favour.
  dispute_recovered: { debit: "processor_clearing", credit: "merchant_balance" },
  // A debit that is returned after it succeeded reverses the capture and its fee.
  capture_returned: { debit: "merchant_balance", credit: "processor_clearing" },
  fee_returned: { debit: "fees_revenue", credit: "merchant_balance" },
  // An unexpected charge, until the processor has refunded it, or an operator accepts it and it is booked as usual.
  suspense_held: { debit: "processor_clearing", credit: "suspense" },
  suspense_released: { debit: "suspense", credit: "processor_clearing" },
  // An unexpected refund, until it fails or an operator accepts it as the merchant's.
  suspense_refunded: { debit: "suspense", credit: "processor_clearing" },
  suspense_refund_released: { debit: "processor_clearing", credit: "suspense" },
  // An operator closes what is left of unexpected funds.
  suspense_kept: { debit: "suspense", credit: "adjustments" },
  suspense_written_off: { debit: "adjustments", credit: "suspense" },
} as const satisfies Record<string, { readonly debit: JournalAccount; readonly credit: JournalAccount }>;

export type MovementKind = keyof typeof postings;

interface MovementCause {
  /** Id of the attempt, refund, dispute or row. A movement is unique by kind, cause and occurrence. */
  readonly cause: string;
  /** Minor units, above zero. */
  readonly amount: bigint;
}

export type Movement =
  /** `at`: time of the capture at the processor, which decides the fee; undefined: time of the booking. */
  | (MovementCause & { readonly kind: "captured"; readonly at: Date | undefined })
  | (MovementCause & { readonly kind: Exclude<MovementKind, "captured"> });

type Amounts = Pick<PaymentState, "capturedAmount" | "feeAmount" | "refundedAmount">;

/** The movements explain each change of a payment's amounts; so only a return lowers the captured amount. */
export function assertBooked(before: Amounts, after: Amounts, movements: readonly Movement[]): void {
  const sums = new Map<MovementKind, bigint>();
  for (const { kind, amount } of movements) {
    assert(amount > 0n, "a movement moves money");
    sums.set(kind, (sums.get(kind) ?? 0n) + amount);
  }
  const sum = (...kinds: readonly MovementKind[]) => kinds.reduce((total, kind) => total + (sums.get(kind) ?? 0n), 0n);
  const captured = sum("captured") - sum("capture_returned");
  assert(after.capturedAmount - before.capturedAmount === captured, "each capture is booked");
  const fee = sum("fee_charged") - sum("fee_returned");
  assert(after.feeAmount - before.feeAmount === fee, "each fee is booked");
  const restored = sum("refund_released", "refund_returned", "suspense_refund_released");
  const refunded = sum("refund_reserved", "suspense_refunded") - restored;
  assert(after.refundedAmount - before.refundedAmount === refunded, "each refund is booked");
}
