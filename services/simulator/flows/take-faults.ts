// The fault switches that fire for one API call. Delays are waited out here; what is left says how the call goes wrong.
import { setTimeout as pause } from "node:timers/promises";
import { ApiFailure } from "../failure.ts";
import type { Processor } from "../processor.ts";
import { type ApiFaultKind, type ApiTarget, type CallKind, callFaultKinds } from "../rules/fault.ts";

/** A call, as far as fault switches look at it. */
export interface FaultyCall {
  readonly target: ApiTarget;
  readonly account: string;
  /** References that the call is about; asked only when a fault switch looks at them. */
  readonly references: () => Promise<readonly string[]>;
}

/** The kinds that fire, each with its milliseconds. */
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

/** @throws ApiFailure for a call that is turned away before any work, of which nothing is kept */
export function assertLetIn(firing: Firing): void {
  if (firing.has("too_many")) throw new ApiFailure(429, "rate_limit", "rate_limited", "Too many requests.");
  if (firing.has("conflict"))
    throw new ApiFailure(409, "invalid_request", "conflict", "Another request works on this object. Try again.");
}
