// The processor's continuous faults in walks and chaos runs, drawn by seed from its fault switches. Faults of one
// payment are in payment-faults.ts.
import type { Drawn } from "./drawn.ts";
import type { FaultName } from "./fault-table.ts";
import { lagOf, misbehaveAtStripe } from "./stripe-switches.ts";
import type { WideRig } from "./wide-rig.ts";

interface Switch {
  readonly target: string;
  readonly kind: string;
  /** Of all calls or webhooks that are meant. */
  readonly probability: number;
  readonly ms?: number;
}

const creations = ["api.intents.create", "api.refunds.create", "api.intents.capture", "api.disputes.evidence"];
const lists = ["api.intents.get", "api.refunds.get"];
const moneyLists = ["api.movements.get", "api.payouts.get", "api.balance.get"];
const at = (targets: readonly string[], fault: Omit<Switch, "target">): Switch[] =>
  targets.map((target) => ({ target, ...fault }));

/** The sum leaves most calls alone, so that stories get somewhere. */
export const switches = {
  "answers early, works late": at(creations, { kind: "answer_early", probability: 0.02, ms: 2_500 }),
  "502 page from the edge": at(["api.*"], { kind: "edge_error", probability: 0.01 }),
  "5xx before the work": at(["api.*"], { kind: "error_before", probability: 0.02 }),
  "5xx during the work": at(creations, { kind: "error_during", probability: 0.02, ms: 800 }),
  "5xx after the work": at(["api.*"], { kind: "error_after", probability: 0.02 }),
  "409 in progress": at(creations, { kind: "conflict", probability: 0.01 }),
  "429 too many": at(["api.*"], { kind: "too_many", probability: 0.01 }),
  "silence after the work": at(["api.*"], { kind: "hang_after", probability: 0.01 }),
  "cut after the first byte": at(["api.*"], { kind: "cut", probability: 0.01 }),
  "slow answers": [
    ...at(["api.*"], { kind: "delay", probability: 0.05, ms: 100 }),
    // Done long after the caller has given up, asked and asked again: only a key that stays the same keeps these from
    // being done twice.
    ...at(creations, { kind: "delay", probability: 0.03, ms: 1_800 }),
  ],
  "slow lists": [
    ...at(lists, { kind: "delay", probability: 0.02, ms: 900 }),
    ...at(["api.statement.get", "api.events.get", ...moneyLists], { kind: "delay", probability: 0.2, ms: 900 }),
  ],
  "lists that lag": at([...lists, ...moneyLists], { kind: "stale_list", probability: 0.1, ms: 2_000 }),
  "404 for what was made": at(lists, { kind: "missing", probability: 0.01 }),
  "events late": at(["webhooks"], { kind: "delay", probability: 0.1, ms: 400 }),
  "events doubled": at(["webhooks"], { kind: "duplicate", probability: 0.1 }),
  "events reordered": at(["webhooks"], { kind: "reorder", probability: 0.1, ms: 400 }),
  "events dropped once": at(["webhooks"], { kind: "drop_once", probability: 0.1 }),
  "events lost permanently": at(["webhooks"], { kind: "lose", probability: 0.02 }),
  "event list lags": at(["api.events.get"], { kind: "stale_list", probability: 0.2, ms: 1_500 }),
} as const satisfies Partial<Record<FaultName, readonly Switch[]>>;

/** By the switch's id: whose row it is. */
type FaultSwitches = Map<string, FaultName>;

/** Switches on what the run draws. */
export async function switchFaultsOn(
  { processor, fake, shops }: WideRig,
  seed: number,
  drawn: Drawn,
): Promise<FaultSwitches> {
  // Releases webhooks that another run withheld.
  (await processor.delete("/test/faults")).expect(204);
  misbehaveAtStripe(fake, seed, drawn);
  for (const { stripe } of shops) if (stripe) stripe.account.lagMs = lagOf(drawn);
  const set: FaultSwitches = new Map();
  let number = 0;
  for (const [name, list] of Object.entries(switches) as [keyof typeof switches, readonly Switch[]][]) {
    for (const fault of drawn.may(name) ? list : []) {
      const body = { ...fault, seed: (seed + number++) % 2 ** 30 };
      set.set((await processor.put("/test/faults", body)).expect(201).text("id"), name);
    }
  }
  return set;
}

/** Counts how often they fired since they were set. Before they are switched off. */
export async function countFired({ processor }: WideRig, set: FaultSwitches, drawn: Drawn): Promise<void> {
  const answer = (await processor.get("/test/faults")).expect(200);
  for (const { id, fired } of answer.list("data") as { id: string; fired: number }[]) {
    const name = set.get(id);
    if (name) drawn.count(name, fired);
  }
}
