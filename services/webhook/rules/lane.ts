// The in-flight limit of one endpoint: additive increase on answers, multiplicative decrease on failures, and pauses
// while it is silent. Times are parameters, in milliseconds of any monotonic clock.

/** An endpoint's recent behaviour. */
export interface LaneState {
  /** Concurrent sends. */
  readonly limit: number;
  /** Answers since the limit last changed that arrived while the limit was reached. */
  readonly answers: number;
  /** Smoothed time of an attempt, milliseconds. */
  readonly latencyMs: number;
  /** Whether the endpoint answered the latest attempt. */
  readonly isProven: boolean;
  /** Consecutive attempts without an answer. */
  readonly silences: number;
  /** When the first of them ended. */
  readonly silentSinceMs: number;
  /** The lane sends no delivery before this time. */
  readonly pausedUntilMs: number;
}

/** An attempt's signal: the endpoint answered, was overloaded (429, 503), or did not answer. */
export type Signal = "answered" | "overloaded" | "silent";

const limitStart = 4;
const limitMin = 1;
// Allows 6,000 deliveries per second to an endpoint that answers in 5 ms.
const limitMax = 32;
const answersPerRaise = 10;
const smoothing = 0.2;
// An endpoint with a higher average is slow.
const slowMs = 1_000;
// An attempt that takes this much longer than usual marks the endpoint as slow before the attempt ends.
const suspectFactor = 8;
const suspectMsMin = 250;
// After this many consecutive silences the lane pauses for a tenth of the silence, at most 30 s. Otherwise a dead
// host's backlog would use up its attempts at the speed of refused connections. One delivery on the regular schedule
// needs 13 hours for as many.
const silencesFree = 20;
const pauseRatio = 0.1;
const pauseMaxMs = 30_000;

export const newLane: LaneState = {
  limit: limitStart,
  answers: 0,
  latencyMs: 0,
  isProven: false,
  silences: 0,
  silentSinceMs: 0,
  pausedUntilMs: 0,
};

interface EndedAttempt {
  readonly signal: Signal;
  readonly tookMs: number;
  readonly nowMs: number;
  /** The limit was reached, and there were free slots for more. */
  readonly isAtLimit: boolean;
}

/**
 * The lane after an attempt. A limit that is not reached does not grow (as in TCP, RFC 2861). Otherwise lanes would
 * open many connections after a stall of this process, and their handshakes would cause the next stall.
 */
export function afterAttempt(lane: LaneState, { signal, tookMs, nowMs, isAtLimit }: EndedAttempt): LaneState {
  const latencyMs = lane.isProven ? lane.latencyMs + smoothing * (tookMs - lane.latencyMs) : tookMs;
  if (signal === "answered") {
    const answers = lane.answers + (isAtLimit ? 1 : 0);
    const raises = answers >= answersPerRaise && lane.limit < limitMax;
    return {
      limit: raises ? lane.limit + 1 : lane.limit,
      answers: raises ? 0 : answers,
      latencyMs,
      isProven: true,
      silences: 0,
      silentSinceMs: 0,
      pausedUntilMs: 0,
    };
  }
  const limit = Math.max(limitMin, Math.floor(lane.limit / 2));
  if (signal === "overloaded") return { ...lane, limit, answers: 0, latencyMs, isProven: true, silences: 0 };
  const silences = lane.silences + 1;
  const silentSinceMs = silences === 1 ? nowMs : lane.silentSinceMs;
  const pauseMs = silences < silencesFree ? 0 : Math.min((nowMs - silentSinceMs) * pauseRatio, pauseMaxMs);
  return { limit, answers: 0, latencyMs, isProven: false, silences, silentSinceMs, pausedUntilMs: nowMs + pauseMs };
}

/**
 * Quick lanes share all slots. Slow lanes share half: new ones, slow ones, and those with an unusually late attempt.
 * Silent lanes share a quarter, since their next attempt will probably hold its slot for the whole time limit.
 */
export type Standing = "quick" | "slow" | "silent";

/** @param oldestMs age of its oldest attempt in flight, or 0 */
export function classifyLane(lane: LaneState, oldestMs: number): Standing {
  if (!lane.isProven) return lane.silences > 0 ? "silent" : "slow";
  if (lane.latencyMs > slowMs || oldestMs > Math.max(suspectMsMin, lane.latencyMs * suspectFactor)) return "slow";
  return "quick";
}

/** Concurrent sends now: one until the latest was answered. */
export function inFlightLimit(lane: LaneState): number {
  return lane.isProven ? lane.limit : 1;
}

// A lane keeps about this much work in memory: claims must not wait long.
const waitingMs = 1_000;
const waitingMax = 1_024;

/** Limit of claimed deliveries that wait in memory. */
export function waitingLimit(lane: LaneState): number {
  if (!lane.isProven) return lane.silences > 0 ? 1 : lane.limit;
  return Math.min(
    waitingMax,
    Math.max(2 * lane.limit, Math.floor((lane.limit * waitingMs) / Math.max(1, lane.latencyMs))),
  );
}
