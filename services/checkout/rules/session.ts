// The session machine (docs/contract.md §4): a fact about the payment gives the session's new state and event, or a
// reason why nothing changes. Pure. A completed session stays completed, and received money is never refused.
import { type Id, idSuffix } from "#platform/values/id.ts";

export type SessionStatus = "open" | "processing" | "completed" | "expired" | "canceled";
/** The payment's outcome for its session (payments.v1.SessionOutcome). */
export type PaymentOutcome = "open" | "processing" | "paid" | "canceled";
export type SessionEvent =
  | "session.created"
  | "session.processing"
  | "session.reopened"
  | "session.completed"
  | "session.expired"
  | "session.canceled";

/** The part of a session that facts move. */
export interface SessionState {
  readonly status: SessionStatus;
  /** Last known status; empty: no attempt yet. */
  readonly paymentStatus: string;
  readonly receiptUrl: string;
  /** By the newest fact, minor units; undefined: the fact has none. */
  readonly capturedAmount: bigint | undefined;
  readonly failedAttempts: number;
  /** Version of the payment at the newest fact; 0: no fact had one. */
  readonly paymentVersion: bigint;
  /** Time of the newest payment event; orders only facts without a version. */
  readonly paymentEventAt: Date | undefined;
}

export interface PaymentFact {
  readonly outcome: PaymentOutcome;
  readonly paymentStatus: string;
  readonly receiptUrl: string;
  /** Minor units; undefined: an old release does not send it. */
  readonly capturedAmount: bigint | undefined;
  readonly failedAttempts: number;
  /** Counts the payment's changes, which orders facts without a clock; 0: an old release does not send it. */
  readonly version: bigint;
  /**
   * Orders facts without a version. `now`: the processor's answer about a session that has not changed since the
   * question; a time: an event, which may be late; undefined: an answer that another change overtook.
   */
  readonly at: "now" | Date | undefined;
}

type Decision =
  | { readonly kind: "changed"; readonly state: SessionState; readonly event: SessionEvent | undefined }
  | { readonly kind: "ignored"; readonly reason: string };

type Move = SessionStatus | "closed" | "reopened" | "kept" | "final";

/**
 * The move of each fact in each status. `closed` is expired or canceled. `kept`: the session stays, and a newer version
 * updates its payment status (`failed` for a returned bank debit).
 */
const moves: { readonly [S in SessionStatus]: { readonly [O in PaymentOutcome]: Move } } = {
  open: { open: "open", processing: "processing", paid: "completed", canceled: "closed" },
  // A declined attempt leaves the session open for another try, even if the decline arrives late.
  processing: { open: "reopened", processing: "processing", paid: "completed", canceled: "closed" },
  completed: { open: "kept", processing: "kept", paid: "completed", canceled: "kept" },
  // The intent is canceled before its session ends, so `paid` is not expected; if it comes, the money counts.
  expired: { open: "final", processing: "final", paid: "completed", canceled: "expired" },
  canceled: { open: "final", processing: "final", paid: "completed", canceled: "canceled" },
};

const events: { readonly [S in SessionStatus]: SessionEvent } = {
  open: "session.reopened",
  processing: "session.processing",
  completed: "session.completed",
  expired: "session.expired",
  canceled: "session.canceled",
};

/** @param ifCanceled status of the session if its intent is canceled */
export function decideSession(session: SessionState, fact: PaymentFact, ifCanceled: "expired" | "canceled"): Decision {
  const move = moves[session.status][fact.outcome];
  const stays = move === "final" || (move === "kept" && fact.version <= session.paymentVersion);
  if (stays) return ignored(`a session that is ${session.status} does not change`);
  const status = statusAfter(move, ifCanceled);
  const late = isLate(session, fact);
  const wins = status === "completed" && session.status !== "completed";
  if (late && !wins) return ignored("newer facts are known");
  if (move === "reopened" && !mayReopen(session, fact)) return ignored("no attempt has ended since");
  const state = {
    ...(late && fact.version > 0n ? applyEarlierPayment(session, fact) : applyNewest(session, fact)),
    status,
  };
  if (isSame(session, state)) return ignored("already known");
  return { kind: "changed", state, event: status === session.status ? undefined : events[status] };
}

function statusAfter(move: Exclude<Move, "final">, ifCanceled: "expired" | "canceled"): SessionStatus {
  if (move === "closed") return ifCanceled;
  if (move === "reopened") return "open";
  return move === "kept" ? "completed" : move;
}

/** Applies the newest fact. */
function applyNewest(session: SessionState, fact: PaymentFact): SessionState {
  // The payment is not visible before its first attempt, so the session has no payment status.
  const isSilent = session.paymentStatus === "" && fact.paymentStatus === "pending";
  return {
    ...session,
    paymentStatus: isSilent ? "" : fact.paymentStatus,
    receiptUrl: fact.receiptUrl || session.receiptUrl,
    capturedAmount: isSilent ? undefined : fact.capturedAmount,
    failedAttempts: Math.max(fact.failedAttempts, session.failedAttempts),
    paymentVersion: fact.version || session.paymentVersion,
    paymentEventAt: laterOf(session.paymentEventAt, fact.at),
  };
}

/** Applies a payment in an earlier version; the newer version keeps the payment status. */
function applyEarlierPayment(session: SessionState, fact: PaymentFact): SessionState {
  return {
    ...session,
    paymentStatus: session.paymentStatus || fact.paymentStatus,
    receiptUrl: session.receiptUrl || fact.receiptUrl,
    failedAttempts: Math.max(fact.failedAttempts, session.failedAttempts),
  };
}

/** After this many declined attempts, intent and session are canceled (docs/contract.md §4). */
export const failedAttemptsMax = 10;

/** True if the buyer has no attempt left. */
export function isExhausted(state: Pick<SessionState, "status" | "failedAttempts">): boolean {
  return state.status === "open" && state.failedAttempts >= failedAttemptsMax;
}

export function isLive(status: SessionStatus): boolean {
  return status === "open" || status === "processing";
}

/** True while the processor or the buyer's bank works on an attempt. */
export function isInProgress({ status, paymentStatus }: Pick<SessionState, "status" | "paymentStatus">): boolean {
  return isLive(status) && (paymentStatus === "processing" || paymentStatus === "requires_action");
}

/** True if merchants can read the payment: it has had an attempt, or was paid once, captured or not. */
export function isPaymentReadable(state: Pick<SessionState, "status" | "paymentStatus" | "failedAttempts">): boolean {
  const { status, paymentStatus, failedAttempts } = state;
  return status === "completed" || failedAttempts > 0 || (paymentStatus !== "" && paymentStatus !== "canceled");
}

export function statusIfCanceled(
  session: { expiresAt: Date; expiryRequested: boolean },
  now: Date,
): "expired" | "canceled" {
  return session.expiryRequested || session.expiresAt <= now ? "expired" : "canceled";
}

/** The payment's id has the same 26 characters, so that one reserved id serves both. */
export function paymentIdOf(sessionId: Id<"session">): Id<"payment"> {
  return `pay_${idSuffix(sessionId)}`;
}

/** Whether or not the payment has a session. */
export function sessionIdOf(paymentId: string): Id<"session"> {
  return `cs_${idSuffix(paymentId)}`;
}

function isLate(session: SessionState, fact: PaymentFact): boolean {
  if (fact.version > 0n) return fact.version < session.paymentVersion;
  if (fact.failedAttempts < session.failedAttempts) return true;
  return fact.at instanceof Date && session.paymentEventAt !== undefined && fact.at < session.paymentEventAt;
}

/** True if the fact may reopen a processing session: without a version it must prove that it is newer. */
function mayReopen(session: SessionState, fact: PaymentFact): boolean {
  return fact.version > 0n || fact.at === "now" || fact.failedAttempts !== session.failedAttempts;
}

function laterOf(current: Date | undefined, at: PaymentFact["at"]): Date | undefined {
  if (!(at instanceof Date)) return current;
  return current && current > at ? current : at;
}

function isSame(a: SessionState, b: SessionState): boolean {
  return (
    a.status === b.status &&
    a.paymentStatus === b.paymentStatus &&
    a.receiptUrl === b.receiptUrl &&
    a.capturedAmount === b.capturedAmount &&
    a.failedAttempts === b.failedAttempts &&
    // A new version is stored even without other changes, because it detects late facts.
    a.paymentVersion === b.paymentVersion
  );
}

function ignored(reason: string): Decision {
  return { kind: "ignored", reason };
}
