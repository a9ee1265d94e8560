// The arithmetic of the capacity page: rates times costs, by hand.
import assert from "node:assert/strict";
import { suite } from "../harness/suite.ts";
import { growthTable, needsTable, type OrderCost } from "./capacity-table.ts";

const test = suite("capacity table");

const cost: OrderCost = {
  perSecond: 100,
  p50Ms: 20,
  cpuUs: { gateway: 600, checkout: 1_200, payments: 2_400, merchant: 60, webhook: 300, nats: 120, postgres: 6_000 },
  connectionMs: 4,
  logBytes: 20_000,
  flushes: 3,
  tableBytes: { "payments.payments": 4_000, "checkout.sessions": 6_000 },
  streamBytes: { checkout: 2_000, payments: 3_000 },
  megabytes: { gateway: 100, checkout: 100, payments: 200, merchant: 100, webhook: 100 },
};

function rowsOf(alone: OrderCost, many: OrderCost): Record<string, string[]> {
  const lines = needsTable(alone, many).split("\n").slice(2);
  return Object.fromEntries(
    lines.map((line) => {
      const [what = "", ...cells] = line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim());
      return [what, cells];
    }),
  );
}

test("a part has as many replicas as keep each processor at most six tenths busy, and never fewer than two", () => {
  const rows = rowsOf(cost, cost);
  assert.deepEqual(rows["replicas of gateway"], ["2", "2", "2"]); // 0.6 s a second at 1,000: one, and one may be lost
  assert.deepEqual(rows["replicas of checkout"], ["2", "2", "2"]);
  assert.deepEqual(rows["replicas of payments"], ["2", "2", "4"]); // 2.4 s a second / 0.6
  assert.deepEqual(rows["memory of those, MB"], ["1,200", "1,200", "1,600"]);
});

test("processors, connections, log and growth are rates times costs", () => {
  const rows = rowsOf(cost, cost);
  assert.deepEqual(rows["processors for PostgreSQL"], ["0.1", "1.0", "10.0"]);
  assert.deepEqual(rows["connections at work, in the mean"], ["0.0", "0.4", "4.0"]);
  assert.deepEqual(rows["log to disk, MB a second"], ["0.20", "2.00", "20.00"]);
  assert.deepEqual(rows["log forced to disk, times a second"], ["30", "300", "3,000"]);
  assert.deepEqual(rows["tables and indexes, GB a day"], ["8.6", "86.4", "864.0"]);
  // 3,000 bytes × 10 a second × 604,800 s are 16.9 GiB, which is seven tenths of 24.1.
  assert.deepEqual(rows["`NATS_STREAM_GIB`"], ["25", "242", "2414"]);
  assert.deepEqual(rows["streams, GB a day"], ["4.3", "43.2", "432.0"]);
});

test("below 1,000 a second an order costs what it costs alone", () => {
  const alone = { ...cost, cpuUs: { ...cost.cpuUs, postgres: 12_000 } };
  assert.deepEqual(rowsOf(alone, cost)["processors for PostgreSQL"], ["0.2", "2.0", "10.0"]);
});

test("tables stand by how much they grow", () => {
  const lines = growthTable(cost).split("\n").slice(2);
  assert.deepEqual(lines, ["| checkout.sessions | 6,000 |", "| payments.payments | 4,000 |"]);
});

test.run();
