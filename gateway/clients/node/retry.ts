// Decides whether and when a failed request is retried (docs/contract.md §2).
import { ConnectionFailedError, type TollboothError } from "./errors.ts";

const retryableStatuses = new Set([409, 429, 502, 503]);
/** Limit of the first pause; the limit doubles with each attempt. */
const pauseMs = 500;
const pauseMsMax = 8_000;

export interface RetryState {
  /** Attempts so far, 1 or more. */
  readonly attempts: number;
  readonly maxRetries: number;
  /** A GET or a request with an idempotency key: a repeat has no further effect. */
  readonly isRepeatable: boolean;
  /** Rest of the time for all attempts. */
  readonly leftMs: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** Milliseconds to wait before the next attempt; undefined: no retry. */
export function pauseBefore(error: TollboothError, state: RetryState): number | undefined {
  if (state.attempts > state.maxRetries || !mayRetry(error, state.isRepeatable)) return undefined;
  const jitter = state.random * Math.min(pauseMs * 2 ** (state.attempts - 1), pauseMsMax);
  const pause = (error.retryAfterSeconds ?? 0) * 1000 + jitter;
  // A pause beyond the remaining time would be in vain.
  return pause < state.leftMs ? pause : undefined;
}

function mayRetry(error: TollboothError, isRepeatable: boolean): boolean {
  if (error instanceof ConnectionFailedError) return isRepeatable;
  if (error.status === undefined || !retryableStatuses.has(error.status)) return false;
  // A proxy's own 502 does not show whether the request arrived.
  return isRepeatable || error.code !== "unexpected_answer";
}
