// When a failed delivery is tried again, and when it is given up (docs/contract.md §9): 1, 2, 4, 8, 16, 32 minutes,
// then hourly, each ±10 %, 78 attempts. An endpoint's own Retry-After may make a pause longer, never longer than the
// cap.

export interface Schedule {
  /** Pause after the first failed attempt, milliseconds; doubles with each further one. */
  readonly baseMs: number;
  /** Longest pause, milliseconds. */
  readonly capMs: number;
  /** Attempts until a delivery is given up. */
  readonly attemptsMax: number;
}

const jitterRatio = 0.1;
// Beyond this the cap has long been reached; keeps the power finite.
const doublingsMax = 40;

/**
 * The pause before the next attempt, milliseconds.
 * @param tries failed attempts since the schedule began, this one included; at least 1
 * @param random 0 to 1, decides the jitter
 * @param retryAfterMs what the endpoint asked for, 0: nothing
 */
export function pauseMs(schedule: Schedule, tries: number, random: number, retryAfterMs = 0): number {
  const planned = Math.min(schedule.baseMs * 2 ** Math.min(tries - 1, doublingsMax), schedule.capMs);
  const requestedMs = Math.min(retryAfterMs, schedule.capMs);
  // Never before the endpoint asked for; a little after, so that its deliveries do not come back all at once.
  return Math.round(
    Math.max(planned * (1 - jitterRatio + 2 * jitterRatio * random), requestedMs * (1 + jitterRatio * random)),
  );
}

// A lane that answers nobody is probed slowly, so that its deliveries may see fewer attempts than planned; past this
// part of the whole schedule (72 h: 80 h) they are given up all the same.
const overtimeRatio = 1.11;
// What claims, slow answers and a busy machine may add, which matters for short schedules only.
const overtimeMs = 600_000;

/** Age since the schedule began, milliseconds, at which a delivery that fails is given up even with attempts left. */
export function ageMaxMs(schedule: Schedule): number {
  let total = 0;
  for (let tries = 1; tries < schedule.attemptsMax; tries++) {
    total += Math.min(schedule.baseMs * 2 ** Math.min(tries - 1, doublingsMax), schedule.capMs);
  }
  return Math.round(total * overtimeRatio) + overtimeMs;
}

// Longest value that makes sense to read; the cap cuts it anyway.
const retryAfterDigitsMax = 9;

/**
 * Milliseconds that a Retry-After header asks for (RFC 9110 §10.2.3): seconds or an HTTP date. Absent or malformed: 0.
 * @param nowMs milliseconds since 1970, for dates
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0;
  if (/^\d+$/.test(header))
    return header.length <= retryAfterDigitsMax ? Number(header) * 1_000 : Number.MAX_SAFE_INTEGER;
  const at = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs);
}
