// The payment graph: a processor's fact moves a payment along a named edge, with events and journal movements, or is
// ignored for a reason. Pure.
import assert from "node:assert/strict";
import { captureFee, type FeeSchedules } from "./fee.ts";
import type { Movement } from "./journal.ts";
import {
  type Attempt,
  type AttemptEnd,
  type IntentFact,
  isAuthorized,
  isReleased,
  isReturned,
  type Outcome,
  type Path,
  type PaymentState,
  statusOf,
} from "./payment.ts";

/** Failure code of a payment that the processor never made. */
export const notProcessedCode = "not_processed";
const returnedCode = "returned";
const expiredCode = "expired";

const unpaid = ["pending", "requires_action", "processing", "failed"] as const;
const edges = {
  action_required: { from: unpaid, to: "requires_action" },
  processing_started: { from: unpaid, to: "processing" },
  declined: { from: unpaid, to: "failed" },
  // A capture may be reported after the authorization was canceled: the money counts.
  paid: { from: [...unpaid, "succeeded", "canceled"], to: "succeeded" },
  returned: { from: ["succeeded"], to: "failed" },
  canceled: { from: unpaid, to: "canceled" },
  released: { from: ["succeeded"], to: "canceled" },
} as const satisfies Record<string, { readonly from: readonly Outcome[]; readonly to: Outcome }>;

export interface Change {
  readonly state: PaymentState;
  /** Event types to announce, e.g. `payment.succeeded`. */
  readonly announce: readonly string[];
  readonly movements: readonly Movement[];
  readonly ended: readonly AttemptEnd[];
  /** Why the fact changed nothing; undefined when it did. */
  readonly ignored: string | undefined;
}

/** Applies one fact to the state. */
export function applyFact(state: PaymentState, fact: IntentFact, path: Path, fees: FeeSchedules): Change {
  switch (fact.kind) {
    case "action_required":
    case "processing_started":
      return beginAttempt(state, fact.attempt, fact.kind);
    case "attempt_failed":
      return failAttempt(state, fact);
    case "attempt_succeeded":
      return succeedAttempt(state, fact, path, fees);
    case "intent_canceled":
      return cancel(state, fact);
  }
}

/**
 * Ends a payment that the processor provably does not have. It fails if a merchant has seen it; a session's intent, or
 * a payment that no one has seen, is canceled. @param isDirect without a session
 */
export function endUnmade(state: PaymentState, isDirect: boolean, at: Date): Change {
  if (isAuthorized(state)) return release(state, { at });
  if (state.outcome === "succeeded" || state.outcome === "canceled" || isReturned(state)) {
    return ignore(state, `a ${state.outcome} payment stays`);
  }
  if (!isDirect || !state.visible) return changed(move(state, "canceled"), ["payment.canceled"]);
  if (state.outcome === "failed") return ignore(state, "already known");
  const why = { code: notProcessedCode, message: "never processed" };
  const end: AttemptEnd = { ref: "", attempt: undefined, outcome: "failed", ...why, at };
  return { ...changed(move(state, "declined", { failedAt: at }), ["payment.failed"]), ended: [end] };
}

/** The state at the other end of the edge. */
function move(state: PaymentState, edge: keyof typeof edges, change: Partial<PaymentState> = {}): PaymentState {
  const { from, to } = edges[edge];
  assert(
    from.some((outcome) => outcome === state.outcome),
    `a ${state.outcome} payment has no edge ${edge}`,
  );
  return { ...state, ...change, outcome: to };
}

function beginAttempt(state: PaymentState, attempt: Attempt, edge: "action_required" | "processing_started"): Change {
  if (state.finishedAttempts.has(attempt.ref)) return ignore(state, "this attempt has ended");
  if (isOlder(state, attempt)) return ignore(state, "a newer attempt is known");
  const { outcome } = state;
  if (outcome === "succeeded" || outcome === "canceled") return ignore(state, `a ${outcome} payment stays`);
  const isSame = attempt.ref === state.lastAttemptRef;
  if (isSame && outcome === edges[edge].to) return ignore(state, "already known");
  // Within one attempt only forward: the buyer's challenge comes before processing.
  if (outcome === "processing" && (isSame || state.lastAttemptRef === "")) {
    return ignore(state, "a processing payment stays");
  }
  return changed(move(state, edge, attemptOf(state, attempt)), [`payment.${edges[edge].to}`]);
}

function failAttempt(state: PaymentState, fact: Extract<IntentFact, { kind: "attempt_failed" }>): Change {
  const { attempt, code, message, at } = fact;
  if (state.finishedAttempts.has(attempt.ref)) {
    const isPaying = state.outcome === "succeeded" && state.lastAttemptRef === attempt.ref;
    return isPaying ? returnCapture(state, fact) : ignore(state, "already known");
  }
  const ended: AttemptEnd[] = [{ ref: attempt.ref, attempt, outcome: "failed", code, message, at }];
  const counted = {
    ...state,
    visible: true,
    failedAttempts: state.failedAttempts + 1,
    finishedAttempts: new Set([...state.finishedAttempts, attempt.ref]),
  };
  if (state.outcome === "succeeded") return { ...ignore(counted, "paid by another attempt"), ended };
  if (state.outcome === "canceled") return { ...ignore(counted, "a canceled payment stays"), ended };
  // The end of an older attempt is announced and leaves a newer attempt that is under way as it is.
  const next = isOlder(state, attempt)
    ? counted
    : move(counted, "declined", { ...attemptOf(state, attempt), failedAt: at });
  return { ...changed(next, ["payment.failed"]), ended };
}

/** The attempt that had paid failed afterwards, as a returned debit does: the capture and its fee are reversed. */
function returnCapture(state: PaymentState, fact: Extract<IntentFact, { kind: "attempt_failed" }>): Change {
  if (state.disputeHold === "lost") return ignore(state, "a lost dispute has taken the money");
  const { attempt, message, at } = fact;
  const { ref } = attempt;
  const next = move(state, "returned", {
    ...unheld,
    capturedAmount: 0n,
    feeAmount: 0n,
    capturedAt: undefined,
    failedAt: at,
    failedAttempts: state.failedAttempts + 1,
    // If the buyer pays again, the success is announced again.
    announcedByConfirm: false,
    announcedByProcessor: false,
  });
  const movements: Movement[] = [];
  if (state.capturedAmount > 0n) movements.push({ kind: "capture_returned", cause: ref, amount: state.capturedAmount });
  if (state.feeAmount > 0n) movements.push({ kind: "fee_returned", cause: ref, amount: state.feeAmount });
  const end: AttemptEnd = { ref, attempt, outcome: "failed", code: returnedCode, message, at };
  return { ...changed(next, ["payment.failed"]), movements, ended: [end] };
}

/** Ends every hold on the money; rules/settlement.ts books the release of open disputes. */
const unheld = { captureBefore: undefined, disputeHold: "none", disputedAmount: 0n } as const;

function succeedAttempt(
  state: PaymentState,
  fact: Extract<IntentFact, { kind: "attempt_succeeded" }>,
  path: Path,
  fees: FeeSchedules,
): Change {
  const { attempt, capturedAmount } = fact;
  assert(capturedAmount <= state.amount, "only what was asked for is the payment's own capture");
  if (state.outcome === "canceled" && capturedAmount === 0n) return ignore(state, "a canceled payment stays");
  if (hasFailed(state, attempt.ref)) return ignore(state, "this attempt failed afterwards");
  const announce = successEvents(state, path);
  // The processor reports the total captured by one attempt, so a lower total is an older report.
  const increase = capturedAmount - state.capturedAmount;
  const isOther = state.capturedAmount > 0n && state.lastAttemptRef !== attempt.ref;
  if (state.outcome === "succeeded" && (increase <= 0n || isOther)) {
    if (announce.length === 0) return ignore(state, "already paid");
    return changed({ ...state, ...announcedBy(state, path) }, announce);
  }
  const reportedAt = fact.capturedAt ?? fact.authorizedAt;
  // A processor that reports only its first capture time does not date a later capture.
  const at = state.capturedAt === undefined || reportedAt > state.capturedAt ? reportedAt : undefined;
  const charged = increase > 0n ? captureFee(state.capturedAmount, capturedAmount, at, fees) : 0n;
  const captured = {
    capturedAmount,
    feeAmount: state.feeAmount + charged,
    captureBefore: undefined,
    capturedAt: state.capturedAt ?? reportedAt,
  };
  const next = move(state, "paid", {
    ...(announce.length > 0 && announcedBy(state, path)),
    ...attemptOf(state, attempt),
    ...(increase > 0n ? captured : { captureBefore: fact.captureBefore }),
    finishedAttempts: new Set([...state.finishedAttempts, attempt.ref]),
    authorizationCode: fact.authorizationCode,
    receiptUrl: fact.receiptUrl,
    authorizedAt: state.authorizedAt ?? fact.authorizedAt,
    failedAt: undefined,
  });
  const movements: Movement[] = [];
  if (increase > 0n) movements.push({ kind: "captured", cause: attempt.ref, amount: increase, at });
  if (charged > 0n) movements.push({ kind: "fee_charged", cause: attempt.ref, amount: charged });
  const isEnded = state.finishedAttempts.has(attempt.ref) && !isReleased(state);
  const end: AttemptEnd = { ref: attempt.ref, attempt, outcome: "succeeded", code: "", message: "", at: reportedAt };
  const later = state.captureMethod === "manual" && increase > 0n ? ["payment.captured"] : [];
  return { ...changed(next, [...announce, ...later]), movements, ended: isEnded ? [] : [end] };
}

/**
 * True for an attempt that was declined or returned. No attempt succeeds after it failed, though reports arrive out of
 * order. A canceled authorization may still be captured.
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
  return changed(move(state, "canceled"), ["payment.canceled"]);
}

/** Ends an authorization without a capture. Its expiry counts as a failure of its attempt. */
function release(state: PaymentState, { at, isExpired }: { readonly at: Date; readonly isExpired?: boolean }): Change {
  const next = move(state, "released", unheld);
  if (!isExpired) return changed(next, ["payment.authorization_canceled"]);
  const why = { code: expiredCode, message: "never captured" };
  const end: AttemptEnd = { ref: state.lastAttemptRef, attempt: undefined, outcome: "failed", ...why, at };
  return { ...changed(next, ["payment.authorization_expired"]), ended: [end] };
}

/**
 * payment.succeeded is announced once by the confirm path and once by the processor's webhook (docs/contract.md §9).
 * The second is omitted if the payment is `refunded` or `disputed` by then: it would contradict the events before it.
 */
function successEvents(state: PaymentState, path: Path): readonly string[] {
  const isAnnounced = state.announcedByConfirm || state.announcedByProcessor;
  if (isAnnounced && state.outcome === "succeeded" && statusOf(state) !== "succeeded") return [];
  if (path === "processor") return state.announcedByProcessor ? [] : ["payment.succeeded"];
  if (path === "confirm") return state.announcedByConfirm ? [] : ["payment.succeeded"];
  // Our own query replaces a confirm that never came.
  return isAnnounced ? [] : ["payment.succeeded"];
}

function announcedBy(state: PaymentState, path: Path): Partial<PaymentState> {
  if (path === "processor") return { announcedByProcessor: true };
  return path === "reconcile" && state.announcedByProcessor ? {} : { announcedByConfirm: true };
}

function attemptOf(state: PaymentState, attempt: Attempt) {
  return {
    visible: true,
    lastAttemptRef: attempt.ref,
    lastAttemptAt: attempt.startedAt,
    method: attempt.method ?? state.method,
    // An attempt by another method does not keep the card of the one before.
    card: attempt.card ?? ((attempt.method?.type ?? "card") === "card" ? state.card : undefined),
    verification: attempt.verification ?? state.verification,
  };
}

function isOlder(state: PaymentState, attempt: Attempt): boolean {
  const { lastAttemptAt } = state;
  return lastAttemptAt !== undefined && attempt.ref !== state.lastAttemptRef && attempt.startedAt < lastAttemptAt;
}

function changed(state: PaymentState, announce: readonly string[]): Change {
  return { state, announce, movements: [], ended: [], ignored: undefined };
}

function ignore(state: PaymentState, reason: string): Change {
  return { state, announce: [], movements: [], ended: [], ignored: reason };
}
