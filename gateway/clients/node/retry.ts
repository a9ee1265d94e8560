// Whether a failed request is sent again, and when (docs/contract.md §2): pure, so that it is tested without waiting.
import { ConnectionFailedError, type TollboothError } from "./errors.ts";

/** Only these invite the same request again. */
const inviting = new Set([409, 429, 502, 503]);
/** The first pause is at most this; each may be twice as long as the one before. */
const pauseMs = 500;
const pauseMsMax = 8_000;

export interface Standing {
  /** How often it was sent, 1 or more. */
  readonly attempts: number;
  readonly maxRetries: number;
  /** A GET, or under an idempotency key: done once however often it arrives. */
  readonly isRepeatable: boolean;
  /** What is left of the time for all tries. */
  readonly leftMs: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** How long to wait before the next try; undefined: it is not tried again. */
export function pauseBefore(error: TollboothError, standing: Standing): number | undefined {
  if (standing.attempts > standing.maxRetries || !mayRepeat(error, standing.isRepeatable)) return undefined;
  const jitter = standing.random * Math.min(pauseMs * 2 ** (standing.attempts - 1), pauseMsMax);
  const pause = (error.retryAfterSeconds ?? 0) * 1000 + jitter;
  // Whoever waits for longer than his time waits for nothing.
  return pause < standing.leftMs ? pause : undefined;
}

function mayRepeat(error: TollboothError, isRepeatable: boolean): boolean {
  if (error instanceof ConnectionFailedError) return isRepeatable;
  if (error.status === undefined || !inviting.has(error.status)) return false;
  // A proxy's own 502 says nothing of whether the request came through.
  return isRepeatable || error.code !== "unexpected_answer";
}
