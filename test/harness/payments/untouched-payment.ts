// A new payment, with its amount and nothing else.
import type { PaymentState } from "../../../services/payments/rules/payment.ts";

/** Of 10.00. */
export const untouchedPayment: PaymentState = {
  amount: 1_000n,
  captureMethod: "automatic",
  outcome: "pending",
  capturedAmount: 0n,
  refundedAmount: 0n,
  feeAmount: 0n,
  disputeHold: "none",
  disputedAmount: 0n,
  lastAttemptRef: "",
  lastAttemptAt: undefined,
  failedAttempts: 0,
  finishedAttempts: new Set(),
  announcedByConfirm: false,
  announcedByProcessor: false,
  visible: false,
  method: undefined,
  card: undefined,
  verification: undefined,
  authorizationCode: "",
  receiptUrl: "",
  authorizedAt: undefined,
  captureBefore: undefined,
  capturedAt: undefined,
  failedAt: undefined,
};
