// The schedule of a chaos run: which part is killed or frozen, which link goes bad and how, when the database takes no
// writes, when a clock steps; when and for how long. Pure: the same seed and length make the same schedule, so that a
// run can be repeated.
import { type Source, sources } from "../../services/services.ts";
import type { ChaosOnlyFault } from "./fault-table.ts";
import type { Random } from "./random.ts";

/** Processes and servers that are killed and frozen. */
export const components = [
  "gateway",
  "checkout",
  "payments",
  "merchant",
  "webhook",
  "simulator",
  "postgres",
  "nats",
] as const;
/** Links that can fail: from all clients to the gateway, and from all services to a server. */
export const links = ["gateway", "postgres", "nats"] as const;
export type Component = (typeof components)[number];
export type Link = (typeof links)[number];

/**
 * `kill`: SIGKILL, its supervisor starts a successor. `freeze`: SIGSTOP, and SIGCONT later. `cut`, `break`, `hole`,
 * `half`: what a link does to its open connections (link.ts). `readonly`: payments' database takes no writes. `lose`:
 * the broker loses a service's stream. `clock`: by clock-story.ts.
 */
export type Disturbance =
  | { readonly atMs: number; readonly kind: "kill"; readonly component: Component }
  | { readonly atMs: number; readonly kind: "freeze"; readonly component: Component; readonly forMs: number }
  | { readonly atMs: number; readonly kind: "cut" | "break"; readonly link: Link }
  | { readonly atMs: number; readonly kind: "hole" | "half"; readonly link: Link; readonly forMs: number }
  | { readonly atMs: number; readonly kind: "readonly"; readonly forMs: number }
  | { readonly atMs: number; readonly kind: "lose"; readonly source: Source }
  | { readonly atMs: number; readonly kind: "clock"; readonly seed: number };
export type DisturbanceKind = Disturbance["kind"];

const linkFaults = {
  cut: "connections cut",
  break: "answers broken off",
  hole: "black hole",
  half: "half-open connections",
} as const;

/** The row of the fault table of a disturbance; a clock's step counts its own. */
export function faultOf(one: Disturbance): ChaosOnlyFault | undefined {
  if ("link" in one) return linkFaults[one.kind];
  if (one.kind === "readonly") return "database read-only";
  if (one.kind === "lose") return "stream deleted";
  if (one.kind === "clock") return undefined;
  const victim = one.component === "postgres" ? "database" : one.component === "nats" ? "broker" : "process";
  return `${victim} ${one.kind === "kill" ? "killed" : "frozen"}`;
}

// The parts recover in a second or two: at this pace most of the time one of them is away and the others work.
const gapMs = { min: 800, max: 3_500 };
/** From a hiccup to longer than the limits of most calls. */
const freezeMs = { min: 100, max: 4_000 };
/** From a hiccup to longer than the longest limit of a statement: most are given up before the reset that ends them. */
const silenceMs = { min: 1_000, max: 15_000 };
const readOnlyMs = { min: 500, max: 3_000 };
const kindWeights = [
  ["kill", 8],
  ["freeze", 6],
  ["cut", 4],
  ["break", 2],
  ["hole", 2],
  ["half", 2],
  ["readonly", 2],
  ["lose", 2], // comes to nothing while the broker is away
  ["clock", 3],
] as const;

/** @param lengthMs the last disturbance begins before it. */
export function drawSchedule(random: Random, lengthMs: number): Disturbance[] {
  const planned: Disturbance[] = [];
  for (let atMs = gapMs.min; atMs < lengthMs; atMs += random.int(gapMs.min, gapMs.max)) {
    planned.push(drawDisturbance(random, atMs, random.pick<DisturbanceKind>(kindWeights), planned));
  }
  return planned;
}

/** Weight of a kind that is not planned yet for a component, so that short runs have each. */
const firstTimes = 10;

function drawDisturbance(
  random: Random,
  atMs: number,
  kind: DisturbanceKind,
  planned: readonly Disturbance[],
): Disturbance {
  const evenly = <T>(list: readonly T[]) => random.pick(list.map((one) => [one, 1] as const));
  const met = new Set(planned.flatMap((one) => (one.kind === kind && "component" in one ? [one.component] : [])));
  const drawComponent = () => random.pick(components.map((one) => [one, met.has(one) ? 1 : firstTimes] as const));
  switch (kind) {
    case "kill":
      return { atMs, kind, component: drawComponent() };
    case "freeze":
      return { atMs, kind, component: drawComponent(), forMs: random.int(freezeMs.min, freezeMs.max) };
    case "cut":
    case "break":
      return { atMs, kind, link: evenly(links) };
    case "hole":
    case "half":
      return { atMs, kind, link: evenly(links), forMs: random.int(silenceMs.min, silenceMs.max) };
    case "lose":
      return { atMs, kind, source: evenly(sources) };
    case "readonly":
      return { atMs, kind, forMs: random.int(readOnlyMs.min, readOnlyMs.max) };
    case "clock":
      return { atMs, kind, seed: random.int(0, 2 ** 30) };
  }
}
