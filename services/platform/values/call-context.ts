// The context of a call: request id, actor, trace and deadline. An AsyncLocalStorage holds it, so flows need not pass
// it from function to function.
import { AsyncLocalStorage } from "node:async_hooks";
import type { Tracer } from "@opentelemetry/api";
import type { Team } from "#proto/access/v1/teams_pb.ts";
import { randomHex } from "./id.ts";

export interface CallContext {
  /** `req_…`, in logs, responses and onward calls. */
  readonly requestId: string;
  /**
   * The actor for the audit log: an API key (`ak_…`), `operator`, `reader` or `team:<name>` by the token, or empty for
   * a service itself.
   */
  readonly actor: string;
  /** The actor that a caller outside our services claims to be; unverified. */
  readonly claimedActor?: string;
  /**
   * Status of the merchant that the call was authenticated for. Absent for operators and services. It is not passed on
   * to a third service.
   */
  readonly merchantStatus?: string;
  /**
   * An operator calls by command. False for a process that acts for another actor, even when its token also holds
   * operator rights.
   */
  readonly byOperator?: boolean;
  /** The internal team that calls, and whether its token was removed meanwhile. */
  readonly team?: Team | undefined;
  readonly isTeamCut?: () => boolean;
  readonly traceparent: string;
  /** Tracer of the service that handles the call; undefined when it records no spans. */
  readonly tracer?: Tracer | undefined;
  /** Monotonic time (performance.now) when the caller stops waiting; undefined without a deadline. See renewTime. */
  deadlineMs: number | undefined;
  /** A command was sent to a processor during the call. */
  begun?: boolean;
}

export const callContext = new AsyncLocalStorage<CallContext>();

const traceparentFormat = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Continues a valid W3C traceparent with a new span id, or starts a trace (docs/contract.md §1). */
export function nextTraceparent(incoming: string | undefined | null): string {
  const span = randomHex(8);
  if (incoming && traceparentFormat.test(incoming)) return `${incoming.slice(0, 36)}${span}${incoming.slice(52)}`;
  return `00-${randomHex(16)}-${span}-01`;
}

/** Whole milliseconds until the current caller's deadline, at most `limitMs`, never below 1. */
export function remainingMs(limitMs: number): number {
  const deadline = callContext.getStore()?.deadlineMs;
  return deadline === undefined ? limitMs : Math.max(1, Math.floor(Math.min(limitMs, deadline - performance.now())));
}

// Time budgets of a public operation. Each process keeps a reserve for its own answer, and processor calls end early
// enough for payments to report what it knows. A slow processor that moved money therefore yields `pending`, never a
// 503 that invites a repeated request.

/** The longest time that the gateway works on a public request; the slowest processor answer fits in. */
export const publicOperationMs = 20_000;
/** Time that each process reserves for its own answer. */
export const hopReserveMs = 1_000;
/** Limit of an internal call whose caller has no deadline. */
const callDefaultMs = 15_000;
/** Restarts the time budget: the caller of a public operation is still sending. */
export function renewTime(call = callContext.getStore()): void {
  if (call?.deadlineMs !== undefined) call.deadlineMs = performance.now() + publicOperationMs;
}

/** Milliseconds for a call to another of our processes. */
export function callPatienceMs(): number {
  const left = remainingMs(Number.MAX_SAFE_INTEGER);
  return left === Number.MAX_SAFE_INTEGER ? callDefaultMs : Math.max(1, left - hopReserveMs);
}
