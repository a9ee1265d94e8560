// The only clock for stored or compared times: the database's, continued by monotonic time, so steps of the machine's
// clock have no effect. A process without a database uses its machine's clock. Services of one process share the clock,
// so their databases must agree (database/sync-clock.ts).

/** A clock reading and when it was taken. */
export interface Reading {
  /** Milliseconds since 1970. */
  readonly clockMs: number;
  /** By `performance.now()`. */
  readonly atMs: number;
}

let reading: Reading | undefined;

/** Milliseconds since 1970 by the database's clock. */
export function clockMs(): number {
  return reading ? Math.floor(expectedMs(reading, performance.now())) : Date.now();
}

export function clockNow(): Date {
  return new Date(clockMs());
}

/**
 * Continues from this reading.
 * @returns the difference to the expected time in milliseconds; undefined for the first reading
 */
export function setClock(next: Reading): number | undefined {
  const stepped = reading && next.clockMs - expectedMs(reading, next.atMs);
  reading = next;
  return stepped;
}

export function isClockSet(): boolean {
  return reading !== undefined;
}

function expectedMs({ clockMs, atMs }: Reading, nowMs: number): number {
  return clockMs + (nowMs - atMs);
}
