// The soak's definition of growth.
import assert from "node:assert/strict";
import { suite } from "../harness/suite.ts";
import { describeGrowth, type Minute } from "./soak-growth.ts";

const test = suite("soak growth");

const typical: Minute = {
  p50Ms: 10,
  p99Ms: 40,
  megabytes: { payments: 200 },
  handles: { payments: 60 },
  connections: 40,
  bytesPerPayment: 9_000,
  waiting: 3,
};
const hour = (changesOf: (share: number) => Partial<Minute>) =>
  Array.from({ length: 60 }, (_, i) => ({ ...typical, ...changesOf(i / 59) }));

test("an hour that wavers a little is flat", () => {
  assert.deepEqual(describeGrowth(hour((share) => ({ megabytes: { payments: 200 + 20 * Math.sin(20 * share) } }))), []);
});

test("garbage that piles up over half of the hour and is collected is no growth", () => {
  const pile = (share: number) => (share < 0.3 ? 184 : share < 0.9 ? 271 : 185);
  assert.deepEqual(describeGrowth(hour((share) => ({ megabytes: { merchant: pile(share) } }))), []);
});

test("a process that takes its room in the first minutes and keeps to it has not grown", () => {
  const warming = (share: number) => 290 - 72 * Math.exp(-20 * share);
  assert.deepEqual(describeGrowth(hour((share) => ({ megabytes: { gateway: warming(share) } }))), []);
});

test("what ends above where it began is named, each by itself", () => {
  const leaks: readonly (readonly [RegExp, (share: number) => Partial<Minute>])[] = [
    [/^megabytes of payments/, (share) => ({ megabytes: { payments: 200 + 100 * share } })],
    [/^handles of payments/, (share) => ({ handles: { payments: 60 + 60 * share } })],
    [/^p50Ms/, (share) => ({ p50Ms: 10 + 12 * share })],
    [/^p99Ms/, (share) => ({ p99Ms: 40 + 200 * share })],
    [/^connections/, (share) => ({ connections: 40 + 40 * share })],
    [/^bytesPerPayment/, (share) => ({ bytesPerPayment: 9_000 + 3_000 * share })],
    [/^waiting/, (share) => ({ waiting: 3 + 2_000 * share })],
  ];
  for (const [name, changesOf] of leaks) {
    const found = describeGrowth(hour(changesOf));
    assert.equal(found.length, 1, found.join("; "));
    assert.match(found[0] ?? "", name);
  }
});

test.run();
