// The one clock for times that are stored or compared: the database's, carried on by this process's monotonic time, so
// that no step of this machine's own clock is ever seen. A process without a database (the gateway, a command) has its
// machine's clock. Services of one process share it, so their databases' clocks must agree (database/sync-clock.ts).

/** What a clock showed at a moment of this process's monotonic time. */
export interface Reading {
  /** Milliseconds since 1970. */
  readonly clockMs: number;
  /** As `performance.now()` counts. */
  readonly atMs: number;
}

let reading: Reading | undefined;

/** Milliseconds since 1970 by the database's clock. */
export function clockMs(): number {
  return reading ? Math.floor(expectedMs(reading, performance.now())) : Date.now();
}

/** The same as a Date. */
export function clockNow(): Date {
  return new Date(clockMs());
}

/**
 * Goes on from this reading. @returns how much later it is than was expected, milliseconds; undefined: it is the first
 * one
 */
export function setClock(next: Reading): number | undefined {
  const stepped = reading && next.clockMs - expectedMs(reading, next.atMs);
  reading = next;
  return stepped;
}

/** True once the clock is not the machine's. */
export function isClockSet(): boolean {
  return reading !== undefined;
}

function expectedMs({ clockMs, atMs }: Reading, nowMs: number): number {
  return clockMs + (nowMs - atMs);
}
