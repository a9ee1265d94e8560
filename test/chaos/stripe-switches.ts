// How the stand-in of Stripe's API misbehaves all the time in walks and chaos runs, by the seed: its own faults, each
// under the row of the fault table that it is a case of.
import type { FakeStripe } from "../harness/stripe/fake-stripe.ts";
import type { StripeFault } from "../harness/stripe/stripe-faults.ts";
import type { Drawn } from "./drawn.ts";
import type { FaultName } from "./fault-table.ts";

type Misbehaving = readonly [fault: StripeFault, method: "GET" | "POST", probability: number];

const rare = 0.01;
const often = 0.02;

export const stripeSwitches = {
  "answers early, works late": [["early", "POST", often]],
  "502 page from the edge": [["502", "POST", rare]],
  "5xx before the work": [
    ["503", "POST", rare],
    ["503", "GET", rare],
  ],
  "5xx after the work": [
    ["500 done", "POST", rare],
    ["not json", "POST", rare],
  ],
  "stored 500 replayed": [["500", "POST", often]],
  "409 in progress": [["409", "POST", rare]],
  "429 too many": [
    ["429", "POST", rare],
    ["lock_timeout", "POST", rare],
    ["429", "GET", rare],
  ],
  "408 and 425": [
    ["408", "POST", rare],
    ["425", "POST", rare],
  ],
  "silence after the work": [["silent", "POST", rare]],
  "cut after the first byte": [
    ["cut", "POST", rare],
    ["cut done", "POST", rare],
    ["cut half", "POST", rare],
    ["cut half", "GET", rare],
  ],
  "slow answers": [["slow", "POST", often]],
  "404 for what was made": [["missing", "GET", rare]],
} as const satisfies Partial<Record<FaultName, readonly Misbehaving[]>>;

/** Without the account page, which operators request and retry themselves. */
const paths = /^\/v1\/(payment_intents|refunds|disputes|files|checkout|charges|events|balance_transactions)/;
const lagMs = 1_000;

type Names = keyof typeof stripeSwitches;

/** Switches on what the run draws. */
export function misbehaveAtStripe(fake: FakeStripe, seed: number, drawn: Drawn): void {
  let number = 0;
  for (const [name, list] of Object.entries(stripeSwitches) as [Names, readonly Misbehaving[]][]) {
    if (!drawn.may(name)) continue;
    for (const [fault, method, probability] of list) {
      fake.misbehave({ fault, method, path: paths, probability, seed: seed + 100 + number++ });
    }
  }
}

/** How long new objects are missing from an account's lists. */
export function lagOf(drawn: Drawn): number {
  return drawn.may("lists that lag") ? lagMs : 0;
}

/** Counts what struck, and makes it stop. @param before what had struck before the run */
export function calmStripe(fake: FakeStripe, before: ReadonlyMap<StripeFault, number>, drawn: Drawn): void {
  for (const [name, list] of Object.entries(stripeSwitches) as [Names, readonly Misbehaving[]][]) {
    for (const fault of new Set(list.map(([one]) => one))) {
      drawn.count(name, (fake.fired().get(fault) ?? 0) - (before.get(fault) ?? 0));
    }
  }
  fake.calm();
}
