// The dispute machine: what each move holds, releases and announces.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type DisputeStatus, holdOf, moveDispute } from "./dispute.ts";

const test = suite("dispute machine");
const dispute = { id: "dp_1", amount: 500n };

test("each move holds, releases or pays out the money, and is announced", () => {
  const opened = ["payment.disputed", "dispute.created"];
  const cases: readonly (readonly [DisputeStatus | undefined, DisputeStatus, string, string[], string[]])[] = [
    [undefined, "needs_response", "open", ["dispute_held"], opened],
    [undefined, "warning_needs_response", "none", [], ["dispute.created"]],
    ["warning_under_review", "needs_response", "open", ["dispute_held"], ["payment.disputed", "dispute.updated"]],
    ["under_review", "won", "none", ["dispute_released"], ["dispute.won"]],
    ["needs_response", "lost", "lost", ["dispute_lost"], ["dispute.lost"]],
    [undefined, "lost", "lost", ["dispute_held", "dispute_lost"], ["payment.disputed", "dispute.lost"]],
    ["lost", "won", "none", ["dispute_recovered"], ["dispute.won"]],
  ];
  for (const [from, to, hold, kinds, announce] of cases) {
    const change = moveDispute(dispute, from, to);
    assert(change.kind === "moved", `${from} → ${to}`);
    assert.deepEqual([change.hold, change.movements.map(({ kind }) => kind), change.announce], [hold, kinds, announce]);
  }
});

const statuses: readonly DisputeStatus[] = [
  "warning_needs_response",
  "warning_under_review",
  "warning_closed",
  "needs_response",
  "under_review",
  "won",
  "lost",
];

test("every status pair: a forward move books exactly the change of the hold, all others are ignored for a reason", () => {
  const held = { none: 0n, open: 1n, lost: 1n };
  for (const from of [undefined, ...statuses]) {
    for (const to of statuses) {
      const change = moveDispute({ id: "dp_1", amount: 100n }, from, to);
      const backwards = from !== undefined && statuses.indexOf(to) < statuses.indexOf(from);
      const overturned = from === "lost" && to === "won";
      const name = `${from} → ${to}`;
      if (from === to || (backwards && !overturned)) {
        assert.equal(change.kind, "ignored", name);
        continue;
      }
      assert(change.kind === "moved", name);
      assert.equal(change.hold, holdOf(to), name);
      const before = from === undefined ? "none" : holdOf(from);
      const sum = (kind: string) => BigInt(change.movements.filter((m) => m.kind === kind).length);
      const net = sum("dispute_held") - sum("dispute_released") - sum("dispute_recovered");
      assert.equal(net, held[change.hold] - held[before], name);
      assert.ok(change.announce.length >= 1, name);
    }
  }
});

test.run();
