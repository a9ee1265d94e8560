// The session machine (CONTRACT.md §4): what is known of the payment goes in, the session's new state and the event to announce
// come out, or a reason why nothing changes. Pure. A completed session stays completed; money that arrived is never refused.
import { type Id, idSuffix } from "#platform/id.ts";

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
  readonly failedAttempts: number;
  /** Time of the newest payment event taken in. */
  readonly heardAt: Date | undefined;
}

/** What is known of the payment. */
export interface PaymentFact {
  readonly outcome: PaymentOutcome;
  readonly paymentStatus: string;
  readonly receiptUrl: string;
  readonly failedAttempts: number;
  /**
   * When it was so: `now` for the processor's own answer to a session that has not changed since it was asked; a time for an
   * event, which may come late; undefined for an answer that another change overtook.
   */
  readonly at: "now" | Date | undefined;
}

export type Decision =
  | { readonly kind: "changed"; readonly state: SessionState; readonly event: SessionEvent | undefined }
  | { readonly kind: "ignored"; readonly reason: string };

type Move = SessionStatus | "closed" | "reopened" | "final";

/** What each fact does to each status; `closed` is expired or canceled, by what the cancellation means. */
const moves: { readonly [S in SessionStatus]: { readonly [O in PaymentOutcome]: Move } } = {
  open: { open: "open", processing: "processing", paid: "completed", canceled: "closed" },
  // A declined attempt leaves the session open for another try, also when the decline comes late.
  processing: { open: "reopened", processing: "processing", paid: "completed", canceled: "closed" },
  completed: { open: "final", processing: "final", paid: "completed", canceled: "final" },
  // The intent is canceled at the processor before a session ends, so `paid` should not come; if it does, the money counts.
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
export function decide(session: SessionState, fact: PaymentFact, cancelMeans: "expired" | "canceled"): Decision {
  const move = moves[session.status][fact.outcome];
  if (move === "final") return ignored(`a session that is ${session.status} stays`);
  const status = move === "closed" ? cancelMeans : move === "reopened" ? "open" : move;
  const wins = status === "completed" && session.status !== "completed";
  if (!wins && isStale(session, fact)) return ignored("newer facts are known");
  if (move === "reopened" && fact.at !== "now" && fact.failedAttempts === session.failedAttempts) {
    return ignored("no attempt has ended since");
  }
  const state: SessionState = {
    status,
    // Until the first attempt the payment is not visible, and the session says nothing of it.
    paymentStatus: session.paymentStatus === "" && fact.paymentStatus === "pending" ? "" : fact.paymentStatus,
    receiptUrl: fact.receiptUrl || session.receiptUrl,
    failedAttempts: Math.max(fact.failedAttempts, session.failedAttempts),
    heardAt: latest(session.heardAt, fact.at),
  };
  if (isSame(session, state)) return ignored("already known");
  return { kind: "changed", state, event: status === session.status ? undefined : events[status] };
}

/** A declined attempt leaves the session open; after this many, intent and session are canceled (CONTRACT.md §4). */
export const failedAttemptsMax = 10;

/** True when the buyer has no try left. */
export function isExhausted(state: Pick<SessionState, "status" | "failedAttempts">): boolean {
  return state.status === "open" && state.failedAttempts >= failedAttemptsMax;
}

/** True when the session has not ended: the buyer or the processor can still move it. */
export function isLive(status: SessionStatus): boolean {
  return status === "open" || status === "processing";
}

/** What the session becomes when its intent is canceled at this time. */
export function cancelMeaning(session: { expiresAt: Date; expiryAsked: boolean }, now: Date): "expired" | "canceled" {
  return session.expiryAsked || session.expiresAt <= now ? "expired" : "canceled";
}

/** The id of a session's payment: the same 26 characters, so that one reserved id is enough for both. */
export function paymentIdOf(sessionId: Id<"session">): Id<"payment"> {
  return `pay_${idSuffix(sessionId)}`;
}

function isStale(session: SessionState, fact: PaymentFact): boolean {
  if (fact.failedAttempts < session.failedAttempts) return true;
  return fact.at instanceof Date && session.heardAt !== undefined && fact.at < session.heardAt;
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
    a.failedAttempts === b.failedAttempts
  );
}

function ignored(reason: string): Decision {
  return { kind: "ignored", reason };
}
