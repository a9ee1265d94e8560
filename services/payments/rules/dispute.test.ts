// The dispute machine: what each move holds, releases and announces.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type DisputeStatus, holdOf, moveDispute } from "./dispute.ts";

const test = suite("dispute machine");
const dispute = { id: "dp_1", amount: 500n };

function moved(from: DisputeStatus | undefined, to: DisputeStatus) {
  const change = moveDispute(dispute, from, to);
  assert.equal(change.kind, "moved", `${from} → ${to}`);
  return change.kind === "moved" ? change : assert.fail();
}

test("opening a dispute holds the money and is announced as payment.disputed", () => {
  const opened = moved(undefined, "needs_response");
  assert.equal(opened.hold, "open");
  assert.deepEqual(opened.announce, ["payment.disputed", "dispute.created"]);
  assert.deepEqual(
    opened.movements.map((m) => m.kind),
    ["dispute_held"],
  );
});

test("an inquiry holds nothing and is not announced as payment.disputed; its escalation is", () => {
  const inquiry = moved(undefined, "warning_needs_response");
  assert.deepEqual([inquiry.hold, inquiry.movements.length, inquiry.announce], ["none", 0, ["dispute.created"]]);
  const escalated = moved("warning_under_review", "needs_response");
  assert.deepEqual(escalated.announce, ["payment.disputed", "dispute.updated"]);
});

test("winning releases, losing pays out, and a dispute first reported as lost does both steps", () => {
  assert.deepEqual(
    moved("under_review", "won").movements.map((m) => m.kind),
    ["dispute_released"],
  );
  assert.deepEqual(
    moved("needs_response", "lost").movements.map((m) => m.kind),
    ["dispute_lost"],
  );
  assert.deepEqual(
    moved(undefined, "lost").movements.map((m) => m.kind),
    ["dispute_held", "dispute_lost"],
  );
  assert.deepEqual(
    moved("lost", "won").movements.map((m) => m.kind),
    ["dispute_recovered"],
  );
});

test("late and repeated reports are ignored", () => {
  for (const [from, to] of [
    ["won", "needs_response"],
    ["lost", "under_review"],
    ["under_review", "needs_response"],
    ["won", "won"],
  ] as const) {
    assert.equal(moveDispute(dispute, from, to).kind, "ignored", `${from} → ${to}`);
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
