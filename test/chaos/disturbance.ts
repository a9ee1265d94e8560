// The schedule of a chaos run: which part is killed, frozen or cut off, when and for how long. Pure: the same seed and length make
// the same schedule, so that a run can be repeated.
import type { Random } from "./random.ts";

/** `kill`: SIGKILL, its supervisor starts a successor. `freeze`: SIGSTOP, and SIGCONT later. `cut`: its connections are broken. */
export type DisturbanceKind = "kill" | "freeze" | "cut";

/** Processes and servers that are killed and frozen. */
export const parts = [
  "gateway",
  "checkout",
  "payments",
  "merchant",
  "webhook",
  "simulator",
  "postgres",
  "nats",
] as const;
/** Whose connections are cut: all clients' to the gateway, all services' to a server. */
export const links = ["gateway", "postgres", "nats"] as const;
export type Part = (typeof parts)[number];
export type Link = (typeof links)[number];

export type Disturbance =
  | { readonly atMs: number; readonly kind: "kill"; readonly part: Part }
  | { readonly atMs: number; readonly kind: "freeze"; readonly part: Part; readonly forMs: number }
  | { readonly atMs: number; readonly kind: "cut"; readonly link: Link };

// The parts recover in a second or two: at this pace most of the time one of them is away and the others work.
const gapMs = { min: 800, max: 3_500 };
/** From a hiccup to longer than the limits of most calls. */
const freezeMs = { min: 100, max: 4_000 };
const kindWeights = [
  ["kill", 4],
  ["freeze", 3],
  ["cut", 3],
] as const;

/** @param lengthMs the last disturbance begins before it. */
export function schedule(random: Random, lengthMs: number): Disturbance[] {
  const planned: Disturbance[] = [];
  const evenly = <T>(list: readonly T[]) => random.pick(list.map((one) => [one, 1] as const));
  for (let atMs = gapMs.min; atMs < lengthMs; atMs += random.int(gapMs.min, gapMs.max)) {
    const kind = random.pick<DisturbanceKind>(kindWeights);
    if (kind === "cut") planned.push({ atMs, kind, link: evenly(links) });
    else if (kind === "kill") planned.push({ atMs, kind, part: evenly(parts) });
    else planned.push({ atMs, kind, part: evenly(parts), forMs: random.int(freezeMs.min, freezeMs.max) });
  }
  return planned;
}
