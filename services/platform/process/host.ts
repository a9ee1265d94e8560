// What a service gets from the process that runs it, besides its settings. Services that share a process have a host
// each; they share the clock, the ids and `neighbours`, and nothing else.
import { type Registry, register } from "prom-client";
import type { Tracing } from "#platform/telemetry/trace.ts";

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
