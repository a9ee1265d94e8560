// How long a public operation may take, handed down from process to process: whoever calls another keeps a reserve to
// answer with, and what talks to a processor ends early enough that payments can always say what it knows before its
// caller's patience ends. So money that a slow processor moved is answered as pending, never as a 503 that invites the
// same request again.
import { callContext, remainingMs } from "./call-context.ts";

/** Longest that the gateway works on a public request; the slowest answer of a processor fits in. */
export const publicOperationMs = 20_000;
/** What each process keeps of its caller's patience for its own answer. */
export const hopReserveMs = 1_000;
/** What payments keeps to settle and to answer after the last call to a processor. */
export const settleReserveMs = 3_000;
/** Longest call between our own processes when nobody says how long there is. */
const callDefaultMs = 15_000;
// Less than this is not worth to begin a call with.
const worthwhileMs = 250;

/** The caller of a public operation is still sending: its time begins anew. */
export function renewTime(call = callContext.getStore()): void {
  if (call?.deadlineMs !== undefined) call.deadlineMs = performance.now() + publicOperationMs;
}

/** The patience of a call to another of our processes, milliseconds. */
export function callPatienceMs(): number {
  const left = remainingMs(Number.MAX_SAFE_INTEGER);
  return left === Number.MAX_SAFE_INTEGER ? callDefaultMs : Math.max(1, left - hopReserveMs);
}

/** How long a call to a processor may take, at most `limitMs`; 0: there is no time left to begin one. */
export function processorShareMs(limitMs: number): number {
  const left = remainingMs(Number.MAX_SAFE_INTEGER) - settleReserveMs;
  const share = Math.min(limitMs, left);
  return share < worthwhileMs ? 0 : share;
}
