// Clocks that step while everything works: a driver for each row of the fault table that is a clock's. Afterwards they
// are right again.
import { setTimeout as pause } from "node:timers/promises";
import { processOf } from "../harness/stack.ts";
import type { WalkFault } from "./fault-table.ts";
import type { Random } from "./random.ts";
import type { Run } from "./story.ts";

type Driver = (run: Run, random: Random) => Promise<void>;

const stepMs = { min: 2_000, max: 600_000 };
const driftMsMax = 120_000;
const hourMs = 3_600_000;
const hourHeldMs = 2_000;
/**
 * Longer than a request and its repeats, shorter than a processor's patience with webhooks that are refused as too old.
 */
const heldMs = { min: 1_000, max: 5_000 };

export const clockFaults = {
  "clock ahead": async (run, random) => await stepped(run, random, random.int(stepMs.min, stepMs.max)),
  "clock behind": async (run, random) => await stepped(run, random, -random.int(stepMs.min, stepMs.max)),
  "clocks drift apart": async ({ rig: { clocks } }, random) => {
    for (const name of clocks.names) clocks.step(name, random.int(-driftMsMax, driftMsMax));
    await pause(random.int(heldMs.min, heldMs.max));
    clocks.mend();
  },
  "an hour for two seconds": async ({ rig: { clocks } }, random) => {
    const name = random.pick(clocks.names.map((one) => [one, 1] as const));
    clocks.step(name, hourMs);
    await pause(hourHeldMs);
    clocks.step(name, 0);
  },
} satisfies Partial<Record<WalkFault, Driver>>;
type ClockFault = keyof typeof clockFaults;

const weights: readonly (readonly [ClockFault, number])[] = [
  ["clock ahead", 3],
  ["clock behind", 3],
  ["clocks drift apart", 1],
  ["an hour for two seconds", 2],
];

/** One of them, if the run draws it; payments and checkout, which store times of money, more often than the others. */
export async function playClock(run: Run, random: Random): Promise<void> {
  const name = random.pick(run.drawn.eager(weights));
  if (!run.drawn.may(name)) return;
  await clockFaults[name](run, random);
  run.drawn.count(name);
}

async function stepped({ rig: { clocks, shape } }: Run, random: Random, offsetMs: number): Promise<void> {
  const service = random.pick([
    ["payments", 4],
    ["checkout", 4],
    ["merchant", 1],
    ["webhook", 1],
    ["gateway", 1],
  ] as const);
  const name = processOf(shape, service);
  clocks.step(name, offsetMs);
  await pause(random.int(heldMs.min, heldMs.max));
  clocks.step(name, 0);
}
