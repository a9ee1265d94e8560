// When a failed delivery is retried and given up (docs/contract.md §9): after 1, 2, 4, 8, 16, 32 minutes, then hourly,
// each ±10 %, 78 attempts. An endpoint's Retry-After may lengthen a pause up to the cap.

export interface Schedule {
  /** Pause after the first failed attempt, milliseconds; doubles with each further failure. */
  readonly baseMs: number;
  /** Longest pause, milliseconds. */
  readonly capMs: number;
  readonly attemptsMax: number;
}

const jitterRatio = 0.1;
// Keeps the power finite; the cap is reached long before.
const doublingsMax = 40;

/**
 * The pause before the next attempt, milliseconds.
 * @param tries failed attempts since the schedule began, this one included; at least 1
 * @param random 0 to 1, decides the jitter
 * @param retryAfterMs the endpoint's Retry-After, or 0
 */
export function pauseMs(schedule: Schedule, tries: number, random: number, retryAfterMs = 0): number {
  const planned = Math.min(schedule.baseMs * 2 ** Math.min(tries - 1, doublingsMax), schedule.capMs);
  const requestedMs = Math.min(retryAfterMs, schedule.capMs);
  // Never before the requested time; the jitter after it spreads the endpoint's deliveries.
  return Math.round(
    Math.max(planned * (1 - jitterRatio + 2 * jitterRatio * random), requestedMs * (1 + jitterRatio * random)),
  );
}

// A silent lane is probed slowly, so its deliveries may get fewer attempts than planned. They are given up after this
// multiple of the schedule (72 h: 80 h).
const overtimeRatio = 1.11;
// Delay by claims, slow answers and a busy machine; matters for short schedules only.
const overtimeMs = 600_000;

/** Age since the schedule began, milliseconds, at which a failing delivery is given up even with attempts left. */
export function ageMaxMs(schedule: Schedule): number {
  let total = 0;
  for (let tries = 1; tries < schedule.attemptsMax; tries++) {
    total += Math.min(schedule.baseMs * 2 ** Math.min(tries - 1, doublingsMax), schedule.capMs);
  }
  return Math.round(total * overtimeRatio) + overtimeMs;
}

// Longer values are above every cap.
const retryAfterDigitsMax = 9;

/**
 * Milliseconds that a Retry-After header requests (RFC 9110 §10.2.3): seconds or an HTTP date. 0 if absent or
 * malformed.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0;
  if (/^\d+$/.test(header))
    return header.length <= retryAfterDigitsMax ? Number(header) * 1_000 : Number.MAX_SAFE_INTEGER;
  const at = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs);
}
