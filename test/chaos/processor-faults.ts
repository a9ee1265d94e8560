// How the processor misbehaves in walks and chaos runs: at random, by the seed, in every way that its fault switches know.
import type { MoneyRig } from "./money-rig.ts";

/** Of all calls or webhooks; the sum leaves most of them alone, so that stories get somewhere. */
const faults = [
  { target: "api.*", kind: "error_before", probability: 0.03 },
  { target: "api.*", kind: "error_after", probability: 0.03 },
  { target: "api.*", kind: "hang_after", probability: 0.01 },
  { target: "api.*", kind: "delay", probability: 0.05, ms: 100 },
  // Done long after the caller has given up, asked and asked again: only a key that stays the same keeps these from being done twice.
  { target: "api.intents.create", kind: "delay", probability: 0.03, ms: 1_800 },
  { target: "api.refunds.create", kind: "delay", probability: 0.03, ms: 1_800 },
  { target: "webhooks", kind: "delay", probability: 0.1, ms: 400 },
  { target: "webhooks", kind: "duplicate", probability: 0.1 },
  { target: "webhooks", kind: "reorder", probability: 0.1, ms: 400 },
  { target: "webhooks", kind: "drop_once", probability: 0.1 },
] as const;

/** Switches the faults on. */
export async function misbehave({ processor }: MoneyRig, seed: number): Promise<void> {
  for (const [i, fault] of faults.entries()) {
    (await processor.put("/test/faults", { ...fault, seed: (seed + i) % 2 ** 30 })).expect(201);
  }
}

/** How often they fired. */
export async function firedFaults({ processor }: MoneyRig): Promise<number> {
  const answer = (await processor.get("/test/faults")).expect(200);
  return (answer.list("data") as { fired: number }[]).reduce((sum, fault) => sum + fault.fired, 0);
}
