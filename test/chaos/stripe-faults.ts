// How the fake of Stripe's API misbehaves in walks and chaos runs: before some stories one of its next calls is set to go wrong, by the
// story's seed. The rows are those that the simulator's switches have too, and the stored 500, which Stripe documents.
import type { FakeStripe, StripeFault } from "../harness/fake-stripe.ts";
import type { Drawn } from "./drawn.ts";
import type { FaultName } from "./fault-table.ts";
import type { Random } from "./random.ts";

/** Each is one of the fake's own faults, on calls that create. */
export const stripeFaults = {
  "stored 500 replayed": ["500"],
  "5xx after the work": ["not json"],
  "409 in progress": ["409"],
  "429 too many": ["429", "lock_timeout"],
  "silence after the work": ["silent"],
  "cut after the first byte": ["cut"],
} as const satisfies Partial<Record<FaultName, readonly StripeFault[]>>;

const share = 0.25;
const creations = [
  [/payment_intents$/, 4],
  [/refunds$/, 3],
  [/checkout\/sessions$/, 1],
] as const;

/** Sets one of the next calls to go wrong, now and then. */
export function misbehaveAtStripe(fake: FakeStripe, random: Random, drawn: Drawn): void {
  if (!random.chance(share)) return;
  const names = Object.keys(stripeFaults) as (keyof typeof stripeFaults)[];
  const name = random.pick(names.map((one) => [one, 1] as const));
  if (!drawn.may(name)) return;
  const faults: readonly StripeFault[] = stripeFaults[name];
  const fault = random.pick(faults.map((one) => [one, 1] as const));
  fake.failNext("POST", random.pick(creations), fault);
  drawn.count(name);
}
