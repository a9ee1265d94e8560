// The payment machine: facts from the processor go in, a new state, events to announce and money movements come out, or
// a reason why the fact changes nothing. Pure. The public status is derived from what is known, never set
// (docs/contract.md §5).
import { captureFee, type FeeSchedules } from "./fee.ts";
import type { Movement } from "./journal.ts";

/** What the attempts on the intent came to, apart from refunds and disputes. */
export type Outcome = "pending" | "requires_action" | "processing" | "succeeded" | "failed" | "canceled";
/** Whether a dispute holds the money: an inquiry or a won dispute does not. */
export type DisputeHold = "none" | "open" | "lost";
export type PaymentStatus = Outcome | "partially_refunded" | "refunded" | "disputed";
/** Who brought the fact: the buyer's confirm, the processor's signed webhook, or our own question. */
export type Path = "confirm" | "processor" | "reconcile";
/** Whether the processor captures what it has authorized by itself, or waits to be asked. */
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

/** One try of the buyer to pay, as the processor names it. */
export interface Attempt {
  readonly ref: string;
  readonly startedAt: Date;
  readonly card: Card | undefined;
  readonly verification: Verification | undefined;
}

/** What a processor can say about an intent; all in the past tense, all may come late, twice or out of order. */
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
      /** Minor units; 0 while only authorized. */
      readonly capturedAmount: bigint;
      readonly authorizedAt: Date;
      readonly capturedAt: Date | undefined;
      /** Until when an authorization can be captured; absent: the processor does not tell. */
      readonly captureBefore?: Date | undefined;
      readonly authorizationCode: string;
      readonly receiptUrl: string;
    }
  /** `isExpired`: it was authorized, and nobody captured it in time. */
  | { readonly kind: "intent_canceled"; readonly at: Date; readonly isExpired?: boolean };

/** The part of a payment that facts move. */
export interface PaymentState {
  readonly amount: bigint;
  readonly captureMethod: CaptureMethod;
  readonly outcome: Outcome;
  readonly capturedAmount: bigint;
  /** Pending and succeeded refunds. */
  readonly refundedAmount: bigint;
  readonly feeAmount: bigint;
  readonly disputeHold: DisputeHold;
  /** Amount of the dispute that holds the money; 0 without one. */
  readonly disputedAmount: bigint;
  /** The latest attempt known, and how many were declined. */
  readonly lastAttemptRef: string;
  readonly lastAttemptAt: Date | undefined;
  readonly failedAttempts: number;
  /** Attempts that reached their end; a fact about one of them is a repeat. */
  readonly finishedAttempts: ReadonlySet<string>;
  readonly announcedByConfirm: boolean;
  readonly announcedByProcessor: boolean;
  /** From the first evidence of an attempt on, merchants see the payment. */
  readonly visible: boolean;
  readonly card: Card | undefined;
  readonly verification: Verification | undefined;
  readonly authorizationCode: string;
  readonly receiptUrl: string;
  readonly authorizedAt: Date | undefined;
  readonly captureBefore: Date | undefined;
  readonly capturedAt: Date | undefined;
  readonly failedAt: Date | undefined;
}

/** An attempt's end, to be recorded once. */
export interface AttemptEnd {
  readonly ref: string;
  /** Undefined: there never was one. */
  readonly attempt: Attempt | undefined;
  readonly outcome: "succeeded" | "failed";
  readonly code: string;
  readonly message: string;
  readonly at: Date;
}

export interface Change {
  readonly state: PaymentState;
  /** Event types to announce, e.g. `payment.succeeded`. */
  readonly announce: readonly string[];
  readonly movements: readonly Movement[];
  readonly ended: readonly AttemptEnd[];
  /** Why the fact moved nothing; undefined when it did. */
  readonly ignored: string | undefined;
}

/** Folds one fact into the state. */
export function applyFact(state: PaymentState, fact: IntentFact, path: Path, fees: FeeSchedules): Change {
  switch (fact.kind) {
    case "action_required":
      return moveOpen(state, fact.attempt, "requires_action");
    case "processing_started":
      return moveOpen(state, fact.attempt, "processing");
    case "attempt_failed":
      return fail(state, fact);
    case "attempt_succeeded":
      return succeed(state, fact, path, fees);
    case "intent_canceled":
      return cancel(state, fact);
  }
}

/** The public status (docs/contract.md §5). The function `payment_status` says the same in SQL. */
export function statusOf(
  state: Pick<PaymentState, "outcome" | "capturedAmount" | "refundedAmount" | "disputeHold">,
): PaymentStatus {
  if (state.outcome !== "succeeded") return state.outcome;
  if (state.disputeHold !== "none") return "disputed";
  // Refunds of what is only authorized are of a debit that came back before.
  if (state.refundedAmount === 0n || state.capturedAmount === 0n) return "succeeded";
  return refundedStatus(state);
}

/**
 * What is left of a payment for its merchant, minor units: captured − refunded − fee − all lost disputes; may be
 * negative. 0 while nothing is captured. @param amounts `lostAmount`: of all disputes that are lost.
 */
export function netAmount(
  amounts: Pick<PaymentState, "capturedAmount" | "refundedAmount" | "feeAmount"> & { readonly lostAmount: bigint },
): bigint {
  if (amounts.capturedAmount === 0n) return 0n;
  return amounts.capturedAmount - amounts.refundedAmount - amounts.feeAmount - amounts.lostAmount;
}

/** What `payment.refunded` tells: by the amounts alone, whatever disputes say. */
export function refundedStatus(state: Pick<PaymentState, "capturedAmount" | "refundedAmount">): PaymentStatus {
  const isWhole = state.capturedAmount > 0n && state.refundedAmount >= state.capturedAmount;
  return isWhole ? "refunded" : "partially_refunded";
}

/** True for a payment whose capture came back: it ended, whatever its intent at the processor still allows. */
export function isReturned(state: Pick<PaymentState, "outcome" | "authorizedAt">): boolean {
  return state.outcome === "failed" && state.authorizedAt !== undefined;
}

/** True while the issuer holds the amount for us, and nothing of it is taken. */
export function isAuthorized(state: Pick<PaymentState, "outcome" | "capturedAmount">): boolean {
  return state.outcome === "succeeded" && state.capturedAmount === 0n;
}

/**
 * True for a payment whose authorization was given up, or ended by itself, before anything was captured. One whose
 * debit came back has failed, whatever was canceled afterwards.
 */
export function isReleased(state: Pick<PaymentState, "outcome" | "authorizedAt" | "failedAt">): boolean {
  return state.outcome === "canceled" && state.authorizedAt !== undefined && state.failedAt === undefined;
}

/** True while its buyer could still begin to pay it: nothing is taken, and nothing is on its way. */
export function isUnpaid(state: Pick<PaymentState, "outcome" | "authorizedAt">): boolean {
  const { outcome } = state;
  return outcome === "pending" || outcome === "requires_action" || (outcome === "failed" && !isReturned(state));
}

/**
 * Ends a payment of which the processor surely has nothing. A merchant who was shown it hears that it failed; a
 * session's intent, or a payment that nobody saw, is canceled. @param isDirect without a session.
 */
export function endUnmade(state: PaymentState, isDirect: boolean, at: Date): Change {
  if (isAuthorized(state)) return release(state, { at });
  if (state.outcome === "succeeded" || state.outcome === "canceled" || isReturned(state)) {
    return ignore(state, `a ${state.outcome} payment stays`);
  }
  if (!isDirect || !state.visible) return changed({ ...state, outcome: "canceled" }, ["payment.canceled"]);
  if (state.outcome === "failed") return ignore(state, "already known");
  const why = { code: notProcessedCode, message: "never processed" };
  const end: AttemptEnd = { ref: "", attempt: undefined, outcome: "failed", ...why, at };
  return { ...changed({ ...state, outcome: "failed", failedAt: at }, ["payment.failed"]), ended: [end] };
}

/** Why a payment failed of which nothing ever came to be at the processor. */
export const notProcessedCode = "not_processed";
/** Why a payment failed whose debit was returned after it had succeeded. */
export const returnedCode = "returned";
/** Why a payment failed whose authorization nobody captured in time. */
export const expiredCode = "expired";

// Where an attempt that is under way may move the payment from. Forward only within one attempt; a newer attempt may
// begin again after a failure.
const openMoves: { readonly [From in Outcome]: readonly Outcome[] } = {
  pending: ["requires_action", "processing"],
  requires_action: ["requires_action", "processing"],
  processing: ["processing"],
  failed: ["requires_action", "processing"],
  succeeded: [],
  canceled: [],
};

function moveOpen(state: PaymentState, attempt: Attempt, to: "requires_action" | "processing"): Change {
  if (state.finishedAttempts.has(attempt.ref)) return ignore(state, "this attempt has ended");
  if (isOlder(state, attempt)) return ignore(state, "a newer attempt is known");
  const sameAttempt = attempt.ref === state.lastAttemptRef;
  if (sameAttempt && state.outcome === to) return ignore(state, "already known");
  const newerAttempt = state.lastAttemptRef !== "" && !sameAttempt && state.outcome === "processing";
  if (!newerAttempt && !openMoves[state.outcome].includes(to)) return ignore(state, `a ${state.outcome} payment stays`);
  return changed(
    { ...state, ...attemptOf(state, attempt), outcome: to },
    to === "processing" ? ["payment.processing"] : ["payment.requires_action"],
  );
}

function fail(state: PaymentState, fact: Extract<IntentFact, { kind: "attempt_failed" }>): Change {
  if (state.finishedAttempts.has(fact.attempt.ref)) {
    const isPaying = state.outcome === "succeeded" && state.lastAttemptRef === fact.attempt.ref;
    return isPaying ? takeBack(state, fact) : ignore(state, "already known");
  }
  const end: AttemptEnd = {
    ref: fact.attempt.ref,
    attempt: fact.attempt,
    outcome: "failed",
    code: fact.code,
    message: fact.message,
    at: fact.at,
  };
  const counted = {
    ...state,
    visible: true,
    failedAttempts: state.failedAttempts + 1,
    finishedAttempts: new Set([...state.finishedAttempts, end.ref]),
  };
  if (state.outcome === "succeeded") return { ...ignore(counted, "paid by another attempt"), ended: [end] };
  if (state.outcome === "canceled") return { ...ignore(counted, "a canceled payment stays"), ended: [end] };
  // An older attempt's end does not hide a newer attempt that is under way, but the merchant hears of it.
  const next = isOlder(state, fact.attempt)
    ? counted
    : { ...counted, ...attemptOf(state, fact.attempt), outcome: "failed" as const, failedAt: fact.at };
  return { ...changed(next, ["payment.failed"]), ended: [end] };
}

/**
 * The attempt that had paid failed afterwards, as a returned debit does: the money is gone again, and the fee with it.
 */
function takeBack(state: PaymentState, fact: Extract<IntentFact, { kind: "attempt_failed" }>): Change {
  // A lost dispute has taken this money already.
  if (state.disputeHold === "lost") return ignore(state, "a lost dispute has taken the money");
  const { ref } = fact.attempt;
  const next: PaymentState = {
    ...state,
    outcome: "failed",
    capturedAmount: 0n,
    feeAmount: 0n,
    captureBefore: undefined,
    capturedAt: undefined,
    // What an open dispute holds is released by whoever knows the disputes (rules/settlement.ts).
    disputeHold: "none",
    disputedAmount: 0n,
    failedAt: fact.at,
    failedAttempts: state.failedAttempts + 1,
    // Should the buyer pay once more, the merchant hears of it anew.
    announcedByConfirm: false,
    announcedByProcessor: false,
  };
  const movements: Movement[] = [];
  if (state.capturedAmount > 0n) movements.push({ kind: "capture_returned", cause: ref, amount: state.capturedAmount });
  if (state.feeAmount > 0n) movements.push({ kind: "fee_returned", cause: ref, amount: state.feeAmount });
  const { attempt, message, at } = fact;
  const ended: AttemptEnd[] = [{ ref, attempt, outcome: "failed", code: returnedCode, message, at }];
  return { state: next, announce: ["payment.failed"], movements, ended, ignored: undefined };
}

function succeed(
  state: PaymentState,
  fact: Extract<IntentFact, { kind: "attempt_succeeded" }>,
  path: Path,
  fees: FeeSchedules,
): Change {
  if (fact.capturedAmount > state.amount) throw new RangeError("a processor never captures more than the amount");
  // Nothing is taken by it: what ended before it was heard of stays ended.
  if (state.outcome === "canceled" && fact.capturedAmount === 0n) return ignore(state, "a canceled payment stays");
  const hasEnded = state.finishedAttempts.has(fact.attempt.ref) && !isReleased(state);
  if (hasFailed(state, fact.attempt.ref)) return ignore(state, "this attempt failed afterwards");
  const announce = announcementOf(state, path);
  // Of one attempt the processor tells what was captured in all, so that less is older news.
  const increase = fact.capturedAmount - state.capturedAmount;
  const isOther = state.capturedAmount > 0n && state.lastAttemptRef !== fact.attempt.ref;
  if (state.outcome === "succeeded" && (increase <= 0n || isOther)) {
    if (announce.length === 0) return ignore(state, "already paid");
    return changed(withAnnounced(state, path), announce);
  }
  const reportedAt = fact.capturedAt ?? fact.authorizedAt;
  // A processor that only tells of its first capture does not say when it made the next one.
  const at = state.capturedAt === undefined || reportedAt > state.capturedAt ? reportedAt : undefined;
  const charged = increase > 0n ? captureFee(state.capturedAmount, fact.capturedAmount, at, fees) : 0n;
  const captured = {
    capturedAmount: fact.capturedAmount,
    feeAmount: state.feeAmount + charged,
    captureBefore: undefined,
    capturedAt: state.capturedAt ?? reportedAt,
  };
  const next: PaymentState = {
    ...(announce.length > 0 ? withAnnounced(state, path) : state),
    ...attemptOf(state, fact.attempt),
    ...(increase > 0n ? captured : { captureBefore: fact.captureBefore }),
    outcome: "succeeded",
    finishedAttempts: new Set([...state.finishedAttempts, fact.attempt.ref]),
    authorizationCode: fact.authorizationCode,
    receiptUrl: fact.receiptUrl,
    authorizedAt: state.authorizedAt ?? fact.authorizedAt,
    failedAt: undefined,
  };
  const movements: Movement[] = [];
  if (increase > 0n) movements.push({ kind: "captured", cause: fact.attempt.ref, amount: increase, at });
  if (charged > 0n) movements.push({ kind: "fee_charged", cause: fact.attempt.ref, amount: charged });
  const end = { ref: fact.attempt.ref, attempt: fact.attempt, code: "", message: "", at: reportedAt };
  const ended: AttemptEnd[] = hasEnded ? [] : [{ ...end, outcome: "succeeded" }];
  const later = state.captureMethod === "manual" && increase > 0n ? ["payment.captured"] : [];
  return { state: next, announce: [...announce, ...later], movements, ended, ignored: undefined };
}

/**
 * True for an attempt that was declined, or whose debit came back, whatever other attempts did since: reports overtake
 * each other, and no attempt succeeds after it failed. An authorization that was given up may still be captured.
 */
function hasFailed(state: PaymentState, attemptRef: string): boolean {
  const isPaying = state.lastAttemptRef === attemptRef && (state.outcome === "succeeded" || isReleased(state));
  return state.finishedAttempts.has(attemptRef) && !isPaying;
}

function cancel(state: PaymentState, fact: Extract<IntentFact, { kind: "intent_canceled" }>): Change {
  if (isAuthorized(state)) return release(state, fact);
  if (state.outcome === "succeeded") return ignore(state, "a captured payment stays");
  if (state.outcome === "canceled") return ignore(state, "already known");
  if (isReturned(state)) return ignore(state, "a returned payment stays");
  return changed({ ...state, outcome: "canceled" }, ["payment.canceled"]);
}

/** Ends an authorization of which nothing was captured; that nobody captured it in time is a failure of its attempt. */
function release(state: PaymentState, { at, isExpired }: { readonly at: Date; readonly isExpired?: boolean }): Change {
  const next: PaymentState = {
    ...state,
    outcome: "canceled",
    captureBefore: undefined,
    // As where a debit came back: what disputes held is released by whoever knows them.
    disputeHold: "none",
    disputedAmount: 0n,
  };
  if (!isExpired) return changed(next, ["payment.authorization_canceled"]);
  const why = { code: expiredCode, message: "never captured" };
  const end: AttemptEnd = { ref: state.lastAttemptRef, attempt: undefined, outcome: "failed", ...why, at };
  return { ...changed(next, ["payment.authorization_expired"]), ended: [end] };
}

/**
 * payment.succeeded fires once for the confirm path and once for the processor's webhook (docs/contract.md §9). The
 * second is left out where the payment is `refunded` or `disputed` by then: it would contradict the events before it.
 */
function announcementOf(state: PaymentState, path: Path): readonly string[] {
  const isAnnounced = state.announcedByConfirm || state.announcedByProcessor;
  if (isAnnounced && state.outcome === "succeeded" && statusOf(state) !== "succeeded") return [];
  if (path === "processor") return state.announcedByProcessor ? [] : ["payment.succeeded"];
  if (path === "confirm") return state.announcedByConfirm ? [] : ["payment.succeeded"];
  // Our own question stands in for the confirm that never came, unless somebody has announced it already.
  return isAnnounced ? [] : ["payment.succeeded"];
}

function withAnnounced(state: PaymentState, path: Path): PaymentState {
  if (path === "processor") return { ...state, announcedByProcessor: true };
  if (path === "reconcile" && state.announcedByProcessor) return state;
  return { ...state, announcedByConfirm: true };
}

function attemptOf(state: PaymentState, attempt: Attempt) {
  return {
    visible: true,
    lastAttemptRef: attempt.ref,
    lastAttemptAt: attempt.startedAt,
    card: attempt.card ?? state.card,
    verification: attempt.verification ?? state.verification,
  };
}

function isOlder(state: PaymentState, attempt: Attempt): boolean {
  return (
    state.lastAttemptAt !== undefined && attempt.ref !== state.lastAttemptRef && attempt.startedAt < state.lastAttemptAt
  );
}

function changed(state: PaymentState, announce: readonly string[]): Change {
  return { state, announce, movements: [], ended: [], ignored: undefined };
}

function ignore(state: PaymentState, reason: string): Change {
  return { state, announce: [], movements: [], ended: [], ignored: reason };
}
