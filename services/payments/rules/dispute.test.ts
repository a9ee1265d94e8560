// The dispute machine: what each move holds, releases and announces.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type DisputeStatus, moveDispute } from "./dispute.ts";

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

test("an inquiry holds nothing and does not disturb the merchant; its escalation does", () => {
  const inquiry = moved(undefined, "warning_needs_response");
  assert.deepEqual([inquiry.hold, inquiry.movements.length, inquiry.announce], ["none", 0, ["dispute.created"]]);
  const escalated = moved("warning_under_review", "needs_response");
  assert.deepEqual(escalated.announce, ["payment.disputed", "dispute.updated"]);
});

test("winning releases, losing pays out, and a dispute heard of only when lost does both steps", () => {
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

test.run();
