// A payment's state, and what follows from it: the public status, the net amount and what may still happen
// (docs/contract.md §5). rules/payment-transition.ts changes it.
import assert from "node:assert/strict";

/** Result of the attempts on the intent, apart from refunds and disputes. */
export type Outcome = "pending" | "requires_action" | "processing" | "succeeded" | "failed" | "canceled";
/** Whether a dispute holds the money: an inquiry or a won dispute does not. */
export type DisputeHold = "none" | "open" | "lost";
export type PaymentStatus = Outcome | "partially_refunded" | "refunded" | "disputed";
/** Source of a fact: the buyer's confirm, the processor's signed webhook, or our own query. */
export type Path = "confirm" | "processor" | "reconcile";
/** The processor captures what it has authorized by itself, or waits for our capture. */
export type CaptureMethod = "automatic" | "manual";

export interface Card {
  readonly brand: string;
  readonly last4: string;
  readonly funding: string;
  readonly fingerprint: string;
  readonly expMonth: number;
  readonly expYear: number;
}

export interface Verification {
  readonly avsLine1: string;
  readonly avsZip: string;
  readonly cvcCheck: string;
  readonly threeDsResult: string;
  readonly threeDsVersion: string;
  readonly riskLevel: string;
  readonly riskScore: number;
}

/** How the buyer pays. `type` is a name of docs/contract.md §5, e.g. `sepa_debit`, or else the processor's own name. */
export interface PaymentMethod {
  readonly type: string;
  /** The buyer's account: ISO 3166 country and last four characters; may be empty. */
  readonly bank?: { readonly country: string; readonly last4: string };
  readonly wallet?: string;
}

/** One attempt of the buyer to pay; `ref` is the processor's id. */
export interface Attempt {
  readonly ref: string;
  readonly startedAt: Date;
  /** Absent: not reported. */
  readonly method?: PaymentMethod | undefined;
  readonly card: Card | undefined;
  readonly verification: Verification | undefined;
}

/** A processor's fact about an intent. Facts may arrive late, twice and out of order. */
export type IntentFact =
  | { readonly kind: "action_required"; readonly attempt: Attempt }
  | { readonly kind: "processing_started"; readonly attempt: Attempt }
  | {
      readonly kind: "attempt_failed";
      readonly attempt: Attempt;
      readonly code: string;
      readonly message: string;
      readonly at: Date;
    }
  | {
      readonly kind: "attempt_succeeded";
      readonly attempt: Attempt;
      /** Minor units captured in total; 0 while only authorized. */
      readonly capturedAmount: bigint;
      readonly authorizedAt: Date;
      readonly capturedAt: Date | undefined;
      /** Deadline for capturing an authorization; absent: not reported. */
      readonly captureBefore?: Date | undefined;
      readonly authorizationCode: string;
      readonly receiptUrl: string;
    }
  /** `isExpired`: an authorization that was not captured in time. */
  | { readonly kind: "intent_canceled"; readonly at: Date; readonly isExpired?: boolean };

/** The part of a payment that facts change. Amounts are minor units. */
export interface PaymentState {
  readonly amount: bigint;
  readonly captureMethod: CaptureMethod;
  readonly outcome: Outcome;
  readonly capturedAmount: bigint;
  /** Pending and succeeded refunds. */
  readonly refundedAmount: bigint;
  readonly feeAmount: bigint;
  readonly disputeHold: DisputeHold;
  /** Amount of the disputes that hold the money; 0 without one. */
  readonly disputedAmount: bigint;
  readonly lastAttemptRef: string;
  readonly lastAttemptAt: Date | undefined;
  /** Number of declined attempts. */
  readonly failedAttempts: number;
  /** Attempts that have ended; another fact about one of them is a repeat. */
  readonly finishedAttempts: ReadonlySet<string>;
  readonly announcedByConfirm: boolean;
  readonly announcedByProcessor: boolean;
  /** Merchants see the payment from the first evidence of an attempt on. */
  readonly visible: boolean;
  readonly method: PaymentMethod | undefined;
  readonly card: Card | undefined;
  readonly verification: Verification | undefined;
  readonly authorizationCode: string;
  readonly receiptUrl: string;
  readonly authorizedAt: Date | undefined;
  readonly captureBefore: Date | undefined;
  readonly capturedAt: Date | undefined;
  readonly failedAt: Date | undefined;
}

/** The end of an attempt, recorded once. */
export interface AttemptEnd {
  readonly ref: string;
  /** undefined: the processor has no attempt. */
  readonly attempt: Attempt | undefined;
  readonly outcome: "succeeded" | "failed";
  readonly code: string;
  readonly message: string;
  readonly at: Date;
}

/** The public status (docs/contract.md §5). The SQL function `payment_status` computes the same. */
export function statusOf(
  state: Pick<PaymentState, "outcome" | "capturedAmount" | "refundedAmount" | "disputeHold">,
): PaymentStatus {
  if (state.outcome !== "succeeded") return state.outcome;
  if (state.disputeHold !== "none") return "disputed";
  // While only authorized, refunds belong to an earlier debit that was returned.
  if (state.refundedAmount === 0n || state.capturedAmount === 0n) return "succeeded";
  return refundedStatus(state);
}

/** By the amounts alone, whatever the disputes. */
function refundedStatus(state: Pick<PaymentState, "capturedAmount" | "refundedAmount">): PaymentStatus {
  const isWhole = state.capturedAmount > 0n && state.refundedAmount >= state.capturedAmount;
  return isWhole ? "refunded" : "partially_refunded";
}

/** The status that an event carries (docs/contract.md §9). */
export function eventStatus(type: string, state: PaymentState): PaymentStatus {
  if (type === "payment.succeeded") return "succeeded";
  if (type === "payment.failed") return "failed";
  // A later fact of the same report may have moved the payment on.
  if (type === "payment.processing") return "processing";
  return type === "payment.refunded" ? refundedStatus(state) : statusOf(state);
}

/**
 * Captured − refunded − fee − lost disputes, minor units; may be negative. 0 while nothing is captured.
 * @param amounts `lostAmount`: sum of all lost disputes
 */
export function netAmount(
  amounts: Pick<PaymentState, "capturedAmount" | "refundedAmount" | "feeAmount"> & { readonly lostAmount: bigint },
): bigint {
  if (amounts.capturedAmount === 0n) return 0n;
  return amounts.capturedAmount - amounts.refundedAmount - amounts.feeAmount - amounts.lostAmount;
}

/** True for a payment whose capture was returned. It has ended, even if its intent can still be paid. */
export function isReturned(state: Pick<PaymentState, "outcome" | "authorizedAt">): boolean {
  return state.outcome === "failed" && state.authorizedAt !== undefined;
}

/** True while the issuer holds the amount and nothing is captured. */
export function isAuthorized(state: Pick<PaymentState, "outcome" | "capturedAmount">): boolean {
  return state.outcome === "succeeded" && state.capturedAmount === 0n;
}

/**
 * True for a payment whose authorization was canceled or expired before a capture. A payment whose debit was returned
 * stays failed, even if it is canceled later.
 */
export function isReleased(state: Pick<PaymentState, "outcome" | "authorizedAt" | "failedAt">): boolean {
  return state.outcome === "canceled" && state.authorizedAt !== undefined && state.failedAt === undefined;
}

/** True while the buyer could still begin to pay. */
export function isUnpaid(state: Pick<PaymentState, "outcome" | "authorizedAt">): boolean {
  const { outcome } = state;
  return outcome === "pending" || outcome === "requires_action" || (outcome === "failed" && !isReturned(state));
}

/** The invariants of every state, which the table checks, too. */
export function assertPossible(state: PaymentState): void {
  const { amount, capturedAmount, refundedAmount, feeAmount, disputedAmount } = state;
  assert(capturedAmount >= 0n && capturedAmount <= amount, "the captured amount is within the amount");
  // Not within the captured amount: a refunded debit may be returned, and less be captured by another attempt.
  assert(refundedAmount >= 0n && refundedAmount <= amount, "the refunded amount is within the amount");
  assert(feeAmount >= 0n && disputedAmount >= 0n, "fee and disputed amount are not negative");
  assert(capturedAmount > 0n === (state.capturedAt !== undefined), "a capture has its time");
  const isPaid = state.outcome === "succeeded";
  assert(isPaid || (capturedAmount === 0n && state.disputeHold === "none"), "only a paid payment holds money");
}
