// Movements of an account's balance and payouts to the bank, as the processor lists them.
export type MovementType =
  | "capture"
  | "refund"
  /** A refund that failed: its money is back. */
  | "refund_failure"
  | "processor_fee"
  /** The processor withdrew disputed money. */
  | "dispute"
  | "dispute_reversal"
  | "dispute_fee"
  | "adjustment"
  | "payout"
  /** A payout that failed or was returned: its money is back. */
  | "payout_failure"
  | "reserve"
  | "release";

/** A line of the processor's balance. */
export interface ProcessorMovement {
  /** The processor's id of the line. */
  readonly ref: string;
  readonly type: MovementType;
  /** Effect on the balance before the fee, minor units; a capture is above zero, a refund below. */
  readonly amount: bigint;
  /** The part that the processor kept, minor units; below zero: returned. */
  readonly fee: bigint;
  /** The balance's, ISO 4217. */
  readonly currency: string;
  /** Before the processor converted it; absent: it did not. */
  readonly source?: { readonly amount: bigint; readonly currency: string };
  /** It carries our reference; without it the payment was not taken through us. */
  readonly isOurs: boolean;
  /** Its intent at the processor, as in IntentReport; absent: none. */
  readonly intentRef?: string;
  /** The refund or dispute at the processor; absent: none. */
  readonly objectRef?: string;
  readonly occurredAt: Date;
  /** When it can be paid out, not before occurredAt. */
  readonly availableAt: Date;
}

export type PayoutStatus = "pending" | "in_transit" | "paid" | "failed" | "returned";

/** A transfer of the balance to the bank. */
export interface ProcessorPayout {
  readonly ref: string;
  /** Minor units; below zero: the processor collects. */
  readonly amount: bigint;
  readonly currency: string;
  readonly status: PayoutStatus;
  readonly createdAt: Date;
  /** When the bank should have it. */
  readonly arrivesAt: Date;
  /** On the bank's statement; may be empty. */
  readonly statementDescriptor: string;
  /** Why it failed or was returned; otherwise empty. */
  readonly failureMessage: string;
}

/** The balance in one currency, minor units. */
export interface ProcessorBalance {
  readonly currency: string;
  readonly available: bigint;
  readonly pending: bigint;
  readonly reserved: bigint;
}
