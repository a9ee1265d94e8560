// What a service gets from the process that runs it, besides its settings. Services that share a process have a host
// each; they share the clock, the ids and `neighbours`, and nothing else.
import { type Registry, register } from "prom-client";
import type { Tracing } from "#platform/telemetry/trace.ts";
import { integer, withDefault } from "./config.ts";

/** Another service of the same process, as its callers reach it. */
export interface Neighbour {
  /** @throws Error with a code, as a broken connection */
  call(
    path: string,
    headers: Record<string, string>,
    body: Uint8Array,
  ): Promise<{ readonly status: number; readonly bytes: Uint8Array }>;
}

export interface Host {
  /** Of its metrics. */
  readonly registry: Registry;
  /** Undefined: no spans are recorded. */
  readonly tracing?: Tracing | undefined;
  /** Those that serve now, by name; undefined: the service has a process of its own. */
  readonly neighbours?: Map<string, Neighbour> | undefined;
}

/** Of a process with one service. */
export const ownHost: Host = { registry: register };

// A name that no DNS has (RFC 6761): a process with one service that is given such a URL reaches no peer.
const neighbourDomain = ".neighbour.invalid";

/** What a setting says for a service of the same process. */
export function neighbourUrl(name: string): string {
  return `http://${name}${neighbourDomain}`;
}

/** @returns the service's name; undefined: the URL leads out of the process */
export function neighbourIn(url: string): string | undefined {
  const { hostname } = new URL(url);
  return hostname.endsWith(neighbourDomain) ? hostname.slice(0, -neighbourDomain.length) : undefined;
}

// How a process stops taking work, in two steps: as a lame duck it still answers whatever comes, but is not ready and
// asks every caller to leave (HTTP/1.1 `Connection: close`, HTTP/2 GOAWAY); then it takes nothing new and finishes what
// it has.

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
