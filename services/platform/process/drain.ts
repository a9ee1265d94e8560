// How a process stops taking work, in two steps: as a lame duck it still answers whatever comes, but is not ready and
// asks every caller to leave (HTTP/1.1 `Connection: close`, HTTP/2 GOAWAY); then it takes nothing new and finishes what
// it has.
import { integer, withDefault } from "./config.ts";

export interface Drain {
  /** Time for balancers and for callers with idle connections to turn to another replica. */
  readonly lameDuckMs: number;
  /** Time for calls in flight after that. */
  readonly graceMs: number;
}

/** For a process whose callers have stopped before it, as in a local stack and in tests. */
export const drainAtOnce: Drain = { lameDuckMs: 0, graceMs: 7_500 };

export const drainSettings = {
  // At least as long as a caller keeps an idle connection (rpc/transport.ts: 2 s); 0 where callers stop first.
  LAME_DUCK_SECONDS: withDefault(integer(0, 120), 0),
  // Longer than any call (15 s) in production; the default leaves a supervisor that kills after 10 s time to hear why.
  DRAIN_SECONDS: withDefault(integer(2, 300), 9),
} as const;

// Of the time to drain, what closing the broker's connection and the database's pool may need.
const closingMs = 1_500;

/** The settings as times. `stopMaxMs` bounds everything. */
export function drainOf(config: { LAME_DUCK_SECONDS: number; DRAIN_SECONDS: number }): Drain & { stopMaxMs: number } {
  const lameDuckMs = config.LAME_DUCK_SECONDS * 1_000;
  const drainMs = config.DRAIN_SECONDS * 1_000;
  return { lameDuckMs, graceMs: drainMs - closingMs, stopMaxMs: lameDuckMs + drainMs };
}
