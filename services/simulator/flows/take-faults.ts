// Fires the fault switches of one API call. Delays are waited for here; the other kinds go to the caller.
import { setTimeout as pause } from "node:timers/promises";
import { ApiFailure } from "../failure.ts";
import type { Processor } from "../processor.ts";
import { type ApiFaultKind, type ApiTarget, type CallKind, callFaultKinds } from "../rules/fault.ts";

export interface FaultyCall {
  readonly target: ApiTarget;
  readonly account: string;
  /** References of the call; read only if a fault switch filters by them. */
  readonly references: () => Promise<readonly string[]>;
}

/** Firing kinds with their milliseconds. */
export type Firing = ReadonlyMap<string, number>;

export async function takeFaults(processor: Processor, call: FaultyCall, does: CallKind): Promise<Firing> {
  const { faults, stopping } = processor;
  const references = faults.needsReferences ? await call.references() : [];
  const kinds: readonly ApiFaultKind[] = callFaultKinds[does];
  const firing = await faults.take({ target: call.target, account: call.account, references, kinds });
  for (const fault of firing)
    if (fault.kind === "delay") await pause(fault.ms, undefined, { signal: stopping }).catch(() => {});
  return new Map(firing.map((fault) => [fault.kind, fault.ms]));
}

/** @throws ApiFailure for a call that is rejected before any work and not stored */
export function assertLetIn(firing: Firing): void {
  if (firing.has("too_many")) throw new ApiFailure(429, "rate_limit", "rate_limited", "Too many requests.");
  if (firing.has("conflict"))
    throw new ApiFailure(409, "invalid_request", "conflict", "Another request works on this object. Try again.");
}
