// The session machine (docs/contract.md §4): what is known of the payment goes in, the session's new state and the
// event to announce come out, or a reason why nothing changes. Pure. A completed session stays completed; money that
// arrived is never refused.
import { type Id, idSuffix } from "#platform/values/id.ts";

export type SessionStatus = "open" | "processing" | "completed" | "expired" | "canceled";
/** Where the payment stands for its session (payments.v1.SessionOutcome). */
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
  /** As last heard; empty: no attempt yet. */
  readonly paymentStatus: string;
  readonly receiptUrl: string;
  /** Of the payment, minor units, as the newest news says; undefined: it does not say. */
  readonly capturedAmount: bigint | undefined;
  readonly failedAttempts: number;
  /** Version of the payment at the newest news taken in; 0: none told one. */
  readonly paymentVersion: bigint;
  /** Time of the newest payment event taken in; decides only about news without a version. */
  readonly paymentEventAt: Date | undefined;
}

/** What is known of the payment. */
export interface PaymentFact {
  readonly outcome: PaymentOutcome;
  readonly paymentStatus: string;
  readonly receiptUrl: string;
  /** Minor units; undefined: a release that does not say. */
  readonly capturedAmount: bigint | undefined;
  readonly failedAttempts: number;
  /** Counts the payment's changes, so that news can be put in order without any clock; 0: a release that told none. */
  readonly version: bigint;
  /**
   * Decides about a fact without a version: when it was so. `now` for the processor's own answer to a session that has
   * not changed since it was asked; a time for an event, which may come late; undefined for an answer that another
   * change overtook.
   */
  readonly at: "now" | Date | undefined;
}

export type Decision =
  | { readonly kind: "changed"; readonly state: SessionState; readonly event: SessionEvent | undefined }
  | { readonly kind: "ignored"; readonly reason: string };

type Move = SessionStatus | "closed" | "reopened" | "kept" | "final";

/**
 * What each fact does to each status; `closed` is expired or canceled, by what the cancellation means; `kept`: the
 * session stays, and a newer version says where its payment stands (a bank debit that came back is `failed`).
 */
const moves: { readonly [S in SessionStatus]: { readonly [O in PaymentOutcome]: Move } } = {
  open: { open: "open", processing: "processing", paid: "completed", canceled: "closed" },
  // A declined attempt leaves the session open for another try, also when the decline comes late.
  processing: { open: "reopened", processing: "processing", paid: "completed", canceled: "closed" },
  completed: { open: "kept", processing: "kept", paid: "completed", canceled: "kept" },
  // The intent is canceled at the processor before a session ends, so `paid` should not come; if it does, the money
  // counts.
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

/** @param cancelMeans what the session becomes when its intent is canceled. */
export function decideSession(session: SessionState, fact: PaymentFact, cancelMeans: "expired" | "canceled"): Decision {
  const move = moves[session.status][fact.outcome];
  const stays = move === "final" || (move === "kept" && fact.version <= session.paymentVersion);
  if (stays) return ignored(`a session that is ${session.status} stays`);
  const status = statusAfter(move, cancelMeans);
  const late = isLate(session, fact);
  const wins = status === "completed" && session.status !== "completed";
  if (late && !wins) return ignored("newer facts are known");
  if (move === "reopened" && !mayReopen(session, fact)) return ignored("no attempt has ended since");
  const state = { ...(late && fact.version > 0n ? paidBefore(session, fact) : newest(session, fact)), status };
  if (isSame(session, state)) return ignored("already known");
  return { kind: "changed", state, event: status === session.status ? undefined : events[status] };
}

function statusAfter(move: Exclude<Move, "final">, cancelMeans: "expired" | "canceled"): SessionStatus {
  if (move === "closed") return cancelMeans;
  if (move === "reopened") return "open";
  return move === "kept" ? "completed" : move;
}

/** What the fact says, which nothing newer contradicts. */
function newest(session: SessionState, fact: PaymentFact): SessionState {
  // Until the first attempt the payment is not visible, and the session says nothing of it.
  const isSilent = session.paymentStatus === "" && fact.paymentStatus === "pending";
  return {
    ...session,
    paymentStatus: isSilent ? "" : fact.paymentStatus,
    receiptUrl: fact.receiptUrl || session.receiptUrl,
    capturedAmount: isSilent ? undefined : fact.capturedAmount,
    failedAttempts: Math.max(fact.failedAttempts, session.failedAttempts),
    paymentVersion: fact.version || session.paymentVersion,
    paymentEventAt: latest(session.paymentEventAt, fact.at),
  };
}

/** It was paid in an earlier version than the one that is known: the newer one says where the payment stands. */
function paidBefore(session: SessionState, fact: PaymentFact): SessionState {
  return {
    ...session,
    paymentStatus: session.paymentStatus || fact.paymentStatus,
    receiptUrl: session.receiptUrl || fact.receiptUrl,
    failedAttempts: Math.max(fact.failedAttempts, session.failedAttempts),
  };
}

/**
 * A declined attempt leaves the session open; after this many, intent and session are canceled (docs/contract.md §4).
 */
export const failedAttemptsMax = 10;

/** True when the buyer has no try left. */
export function isExhausted(state: Pick<SessionState, "status" | "failedAttempts">): boolean {
  return state.status === "open" && state.failedAttempts >= failedAttemptsMax;
}

/** True when the session has not ended: the buyer or the processor can still move it. */
export function isLive(status: SessionStatus): boolean {
  return status === "open" || status === "processing";
}

/** True while the processor, or the buyer at their bank, works on an attempt: the next look is minutes away. */
export function isInProgress({ status, paymentStatus }: Pick<SessionState, "status" | "paymentStatus">): boolean {
  return isLive(status) && (paymentStatus === "processing" || paymentStatus === "requires_action");
}

/**
 * True when merchants can read the payment, which needs an attempt: an intent that was canceled without one was never a
 * payment. What was paid once stays one, also when nobody captured it.
 */
export function isPaymentReadable(state: Pick<SessionState, "status" | "paymentStatus" | "failedAttempts">): boolean {
  const { status, paymentStatus, failedAttempts } = state;
  return status === "completed" || failedAttempts > 0 || (paymentStatus !== "" && paymentStatus !== "canceled");
}

/** What the session becomes when its intent is canceled at this time. */
export function cancelMeaning(
  session: { expiresAt: Date; expiryRequested: boolean },
  now: Date,
): "expired" | "canceled" {
  return session.expiryRequested || session.expiresAt <= now ? "expired" : "canceled";
}

/** The id of a session's payment: the same 26 characters, so that one reserved id is enough for both. */
export function paymentIdOf(sessionId: Id<"session">): Id<"payment"> {
  return `pay_${idSuffix(sessionId)}`;
}

function isLate(session: SessionState, fact: PaymentFact): boolean {
  if (fact.version > 0n) return fact.version < session.paymentVersion;
  if (fact.failedAttempts < session.failedAttempts) return true;
  return fact.at instanceof Date && session.paymentEventAt !== undefined && fact.at < session.paymentEventAt;
}

/**
 * True when a fact about a session that is processing may reopen it: a version orders itself, all else must prove that
 * it is newer.
 */
function mayReopen(session: SessionState, fact: PaymentFact): boolean {
  return fact.version > 0n || fact.at === "now" || fact.failedAttempts !== session.failedAttempts;
}

function latest(known: Date | undefined, at: PaymentFact["at"]): Date | undefined {
  if (!(at instanceof Date)) return known;
  return known && known > at ? known : at;
}

function isSame(a: SessionState, b: SessionState): boolean {
  return (
    a.status === b.status &&
    a.paymentStatus === b.paymentStatus &&
    a.receiptUrl === b.receiptUrl &&
    a.capturedAmount === b.capturedAmount &&
    a.failedAttempts === b.failedAttempts &&
    // Kept for its own sake too: what comes late is told from news by it.
    a.paymentVersion === b.paymentVersion
  );
}

function ignored(reason: string): Decision {
  return { kind: "ignored", reason };
}
