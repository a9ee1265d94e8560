// How much one endpoint may have in flight: more while it answers well, half as much when it chokes (additive increase,
// multiplicative decrease), and pauses when it answers nobody. Times are handed in, milliseconds of any monotonic
// clock.

/** What is known of an endpoint's behaviour. */
export interface LaneState {
  /** Sends at once. */
  readonly limit: number;
  /** Answers since the limit last changed that came while it was reached. */
  readonly answers: number;
  /** Smoothed time of an attempt, milliseconds. */
  readonly latencyMs: number;
  /** The latest attempt got an answer. */
  readonly isProven: boolean;
  /** Attempts in a row that got no answer. */
  readonly silences: number;
  /** When the first of them was over. */
  readonly silentSinceMs: number;
  /** Nothing is sent before this time. */
  readonly pausedUntilMs: number;
}

/** What an attempt says about the endpoint: it answered, it asked for less (429, 503), or it gave no answer. */
export type Signal = "answered" | "overloaded" | "silent";

const limitStart = 4;
const limitMin = 1;
// Enough for 6,000 deliveries a second to an endpoint that answers in 5 ms.
const limitMax = 32;
const answersPerRaise = 10;
const smoothing = 0.2;
// Slower than this on average, and an endpoint shares the slow half of all slots.
const slowMs = 1_000;
// An attempt that takes this much longer than usual announces a slow endpoint before it is over.
const suspectFactor = 8;
const suspectMsMin = 250;
// A backlog behind a dead host is not burnt through at the speed of refused connections: after this many silences in a
// row the lane pauses for a tenth of the time that the silence has lasted, so that a short outage costs little and a
// long one is probed every 30 s. On the regular schedule a single delivery gets there after 13 hours only.
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

/** An attempt that is over. */
export interface Landing {
  readonly signal: Signal;
  readonly tookMs: number;
  readonly nowMs: number;
  /** As many were under way as the limit allows, and there are slots for more. */
  readonly isAtLimit: boolean;
}

/**
 * The lane after an attempt. A limit that is not reached does not grow (as in TCP, RFC 2861): after a stall of this
 * process the lanes would otherwise open connections by the dozen, whose handshakes are the next stall.
 */
export function afterAttempt(lane: LaneState, { signal, tookMs, nowMs, isAtLimit }: Landing): LaneState {
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
 * What a lane has shown lately. `quick` ones share all slots; `slow` ones half of them: those that have shown nothing
 * yet, are slow on average, or have an attempt under way for suspiciously long; `silent` ones a quarter: their latest
 * attempt got no answer, so that what is tried next most likely holds its slot for the whole time limit.
 */
export type Standing = "quick" | "slow" | "silent";

/** @param oldestMs age of its oldest attempt under way, 0: none */
export function classifyLane(lane: LaneState, oldestMs: number): Standing {
  if (!lane.isProven) return lane.silences > 0 ? "silent" : "slow";
  if (lane.latencyMs > slowMs || oldestMs > Math.max(suspectMsMin, lane.latencyMs * suspectFactor)) return "slow";
  return "quick";
}

/** Sends at once as of now: one, until the latest one was answered. */
export function inFlightLimit(lane: LaneState): number {
  return lane.isProven ? lane.limit : 1;
}

// A lane holds in memory what it sends within about this time, so that nothing waits on a claim for long.
const waitingMs = 1_000;
const waitingMax = 1_024;

/** How many claimed deliveries a lane may hold waiting in memory. */
export function waitingLimit(lane: LaneState): number {
  if (!lane.isProven) return lane.silences > 0 ? 1 : lane.limit;
  return Math.min(
    waitingMax,
    Math.max(2 * lane.limit, Math.floor((lane.limit * waitingMs) / Math.max(1, lane.latencyMs))),
  );
}
