// What travels with a call through a process and on to the next one: request id, actor, trace and deadline. Kept in an
// AsyncLocalStorage, so that flows need not hand it from function to function.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Tracer } from "@opentelemetry/api";
import { randomHex } from "./id.ts";

export interface CallContext {
  /** `req_…`, in logs, answers and on to other services. */
  readonly requestId: string;
  /**
   * For whom the call is made, for the audit log: `ak_…` of an API key, as the gateway names it; `operator` or
   * `reader`, as the token of the first caller names it; empty: a service itself.
   */
  readonly actor: string;
  /** Who a caller that is no service says to be: no more than a word. */
  readonly claimedActor?: string;
  /**
   * Status of the merchant at whose door the call was made, by an API key or a member; absent: made for no merchant, by
   * an operator, or by a service. It is not handed on to a third service.
   */
  readonly merchantStatus?: string;
  /** An operator calls, by command; never a process that acts for somebody, whatever its token stands for besides. */
  readonly byOperator?: boolean;
  /** W3C traceparent of the current span. */
  readonly traceparent: string;
  /** Of the service that works on the call; undefined: it records no spans. */
  readonly tracer?: Tracer | undefined;
  /** Monotonic time (performance.now) when the caller stops waiting; undefined: no one waits. See renewTime. */
  deadlineMs: number | undefined;
  /** Something was sent to a processor on behalf of the call. */
  begun?: boolean;
}

export const callContext = new AsyncLocalStorage<CallContext>();

/**
 * Before anything is sent that changes something outside: from now on a failure of the call does not say that nothing
 * was done.
 */
export function noteBegun(): void {
  const context = callContext.getStore();
  if (context) context.begun = true;
}

const traceparentFormat = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Continues a valid W3C traceparent with a new span id, or begins a new trace (docs/contract.md §1). */
export function nextTraceparent(incoming: string | undefined | null): string {
  const span = randomHex(8);
  if (incoming && traceparentFormat.test(incoming)) return `${incoming.slice(0, 36)}${span}${incoming.slice(52)}`;
  return `00-${randomHex(16)}-${span}-01`;
}

/** Whole milliseconds the current caller will still wait, at most `limitMs`; never below 1. */
export function remainingMs(limitMs: number): number {
  const deadline = callContext.getStore()?.deadlineMs;
  return deadline === undefined ? limitMs : Math.max(1, Math.floor(Math.min(limitMs, deadline - performance.now())));
}

// How long a public operation may take, handed down from process to process: whoever calls another keeps a reserve to
// answer with, and what talks to a processor ends early enough that payments can always say what it knows before its
// caller's patience ends. So money that a slow processor moved is answered as pending, never as a 503 that invites the
// same request again.

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
