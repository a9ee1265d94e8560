// Provisions of a process for a service: registry, tracing, neighbours and the time to stop. Services of one process
// have a host each; they share the clock, the ids and `neighbours`, and nothing else.
import { type Registry, register } from "prom-client";
import type { Tracing } from "#platform/telemetry/trace.ts";
import { integerSetting, withDefault } from "./config.ts";

/** Another service of the same process. */
export interface Neighbour {
  /** @throws Error with a code, like a broken connection */
  call(
    path: string,
    headers: Record<string, string>,
    body: Uint8Array,
  ): Promise<{ readonly status: number; readonly bytes: Uint8Array }>;
}

export interface Host {
  readonly registry: Registry;
  /** Undefined when no spans are recorded. */
  readonly tracing?: Tracing | undefined;
  /** The services that serve now, by name; undefined when the service has its own process. */
  readonly neighbours?: Map<string, Neighbour> | undefined;
}

export const ownHost: Host = { registry: register };

// A reserved name (RFC 6761): a process that is given such a URL by mistake reaches no peer.
const neighbourDomain = ".neighbour.invalid";

/** The URL setting of a service in the same process. */
export function neighbourUrl(name: string): string {
  return `http://${name}${neighbourDomain}`;
}

/** @returns the service's name; undefined for a URL outside the process */
export function neighbourIn(url: string): string | undefined {
  const { hostname } = new URL(url);
  return hostname.endsWith(neighbourDomain) ? hostname.slice(0, -neighbourDomain.length) : undefined;
}

// A process stops in two steps. As a lame duck it still answers, but is not ready and asks callers to leave (HTTP/1.1
// `Connection: close`, HTTP/2 GOAWAY). Then it accepts nothing new and finishes active work.

export interface Drain {
  /** Time for load balancers and callers with idle connections to switch to another replica. */
  readonly lameDuckMs: number;
  /** Time for active calls after that. */
  readonly graceMs: number;
}

/** For a process whose callers stopped first, as in a local stack and in tests. */
export const drainAtOnce: Drain = { lameDuckMs: 0, graceMs: 7_500 };

export const drainSettings = {
  // At least as long as a caller keeps an idle connection (rpc/transport.ts: 2 s); 0 where callers stop first.
  LAME_DUCK_SECONDS: withDefault(integerSetting(0, 120), 0),
  // Longer than any call (15 s) in production; the default ends before supervisors that kill after 10 s.
  DRAIN_SECONDS: withDefault(integerSetting(2, 300), 9),
} as const;

// Part of the drain time that is reserved for closing the broker connection and the database pool.
const closingMs = 1_500;

/** Converts the settings to times. `stopMaxMs` bounds the whole stop. */
export function drainOf(config: { LAME_DUCK_SECONDS: number; DRAIN_SECONDS: number }): Drain & { stopMaxMs: number } {
  const lameDuckMs = config.LAME_DUCK_SECONDS * 1_000;
  const drainMs = config.DRAIN_SECONDS * 1_000;
  return { lameDuckMs, graceMs: drainMs - closingMs, stopMaxMs: lameDuckMs + drainMs };
}
