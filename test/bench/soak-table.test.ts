// What a soak calls grown: without this the hour could prove nothing.
import assert from "node:assert/strict";
import { suite } from "../harness/suite.ts";
import { grown, type Minute, soakTable } from "./soak-table.ts";

const test = suite("soak table");

/** A minute like all others; `i` from 0. */
function minute(changes: Partial<Minute> = {}): Minute {
  return {
    orders: 600,
    busy: 0.7,
    latencies: { create: { p50Ms: 10, p99Ms: 40 } },
    megabytes: { payments: 200 },
    connections: 40,
    deadRows: 5,
    bytesPerPayment: 9_000,
    handles: { payments: 60 },
    waiting: 3,
    ...changes,
  };
}

const hour = (changesOf: (share: number) => Partial<Minute>) =>
  Array.from({ length: 60 }, (_, i) => minute(changesOf(i / 59)));

test("an hour that wavers a little is flat", () => {
  assert.deepEqual(grown(hour((share) => ({ megabytes: { payments: 200 + 20 * Math.sin(20 * share) } }))), []);
});

test("garbage that piles up over half of the hour and is collected is no growth", () => {
  const pile = (share: number) => (share < 0.3 ? 184 : share < 0.9 ? 271 : 185);
  assert.deepEqual(grown(hour((share) => ({ megabytes: { merchant: pile(share) } }))), []);
});

test("a process that takes its room in the first minutes and keeps to it has not grown", () => {
  const warming = (share: number) => 290 - 72 * Math.exp(-20 * share);
  assert.deepEqual(grown(hour((share) => ({ megabytes: { gateway: warming(share) } }))), []);
});

test("what ends above where it began is named, each by itself", () => {
  const leaks: readonly (readonly [RegExp, (share: number) => Partial<Minute>])[] = [
    [/^memory of payments/, (share) => ({ megabytes: { payments: 200 + 100 * share } })],
    [/^open handles of payments/, (share) => ({ handles: { payments: 60 + 60 * share } })],
    [/^p50 of create/, (share) => ({ latencies: { create: { p50Ms: 10 + 12 * share, p99Ms: 40 } } })],
    [/^p99 of create/, (share) => ({ latencies: { create: { p50Ms: 10, p99Ms: 40 + 200 * share } } })],
    [/^connections/, (share) => ({ connections: 40 + 40 * share })],
    [/^bytes a payment/, (share) => ({ bytesPerPayment: 9_000 + 3_000 * share })],
    [/^what waits/, (share) => ({ waiting: 3 + 2_000 * share })],
    [/rows are dead/, (share) => ({ deadRows: 5 + 60 * share })],
  ];
  for (const [name, changesOf] of leaks) {
    const found = grown(hour(changesOf));
    assert.equal(found.length, 1, found.join("; "));
    assert.match(found[0] ?? "", name);
  }
});

test("the table has a row for each sixth of the run", () => {
  const lines = soakTable(hour(() => ({}))).split("\n");
  assert.equal(lines.length, 8);
  assert.match(lines[2] ?? "", /^\| 1–10 \| 10\.0 \| 70 % \| 10\.0 \/ 40\.0 /);
});

test.run();
