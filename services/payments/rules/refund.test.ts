// Refund reservation and the refund machine: every status × every report.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import type { Movement } from "./journal.ts";
import { decideRefund, moveRefund, openingMovements, type RefundStatus } from "./refund.ts";

const test = suite("refund machine");
const paid = { outcome: "succeeded", capturedAmount: 100n, refundedAmount: 0n, disputeHold: "none" } as const;

test("a refund reserves the requested amount, or all that is left", () => {
  assert.deepEqual(decideRefund(paid, 40n), { kind: "reserved", amount: 40n });
  assert.deepEqual(decideRefund({ ...paid, refundedAmount: 40n }, undefined), { kind: "reserved", amount: 60n });
});

test("a refund above what is left is too large, however small the rest", () => {
  assert.deepEqual(decideRefund(paid, 101n), { kind: "refused", reason: "AMOUNT_TOO_LARGE" });
  assert.deepEqual(decideRefund({ ...paid, refundedAmount: 99n }, 2n), { kind: "refused", reason: "AMOUNT_TOO_LARGE" });
});

test("small refunds cannot evade the limit of all refunds", () => {
  const refused = { kind: "refused", reason: "AMOUNT_TOO_LARGE" };
  assert.deepEqual(decideRefund({ ...paid, refundedAmount: 30n }, 10n, 40n), { kind: "reserved", amount: 10n });
  assert.deepEqual(decideRefund({ ...paid, refundedAmount: 31n }, 10n, 40n), refused);
  assert.deepEqual(decideRefund(paid, undefined, 99n), refused);
  assert.deepEqual(decideRefund(paid, 101n, 200n), refused);
});

test("unpaid, uncaptured, refunded and disputed payments are not refundable", () => {
  const refused = { kind: "refused", reason: "NOT_REFUNDABLE" };
  for (const outcome of ["pending", "requires_action", "processing", "failed", "canceled"] as const) {
    assert.deepEqual(decideRefund({ ...paid, outcome }, 1n), refused);
  }
  assert.deepEqual(decideRefund({ ...paid, capturedAmount: 0n }, undefined), refused);
  assert.deepEqual(decideRefund({ ...paid, refundedAmount: 100n }, undefined), refused);
  assert.deepEqual(decideRefund({ ...paid, disputeHold: "open" }, 1n), refused);
  assert.deepEqual(decideRefund({ ...paid, disputeHold: "lost" }, 1n), refused);
});

test("a refund moves forward only; after success it can still fail and restore its amount", () => {
  const kinds: Record<RefundStatus, Record<RefundStatus, string>> = {
    pending: { pending: "ignored", succeeded: "refund_paid", failed: "refund_released", canceled: "refund_released" },
    succeeded: { pending: "ignored", succeeded: "ignored", failed: "refund_returned", canceled: "ignored" },
    failed: { pending: "ignored", succeeded: "ignored", failed: "ignored", canceled: "ignored" },
    canceled: { pending: "ignored", succeeded: "ignored", failed: "ignored", canceled: "ignored" },
  };
  for (const [from, tos] of Object.entries(kinds) as [RefundStatus, Record<RefundStatus, string>][]) {
    for (const [to, kind] of Object.entries(tos) as [RefundStatus, string][]) {
      const change = moveRefund({ id: "re_1", status: from, amount: 7n }, to);
      assert.equal(change.kind === "ignored" ? "ignored" : change.movements[0]?.kind, kind, `${from} → ${to}`);
      if (change.kind === "moved") assert.equal(change.restoredAmount, to === "succeeded" ? 0n : 7n);
    }
  }
});

test("every movement of a refund has its amount and its id as the cause", () => {
  const refund = { id: "re_7", amount: 7n };
  const moved = [
    moveRefund({ ...refund, status: "pending" }, "succeeded"),
    moveRefund({ ...refund, status: "pending" }, "failed"),
  ];
  const movements = moved.flatMap((change) =>
    change.kind === "moved" ? change.movements : assert.fail(change.reason),
  );
  movements.push(
    ...openingMovements({ ...refund, status: "succeeded" }),
    ...openingMovements({ ...refund, status: "pending" }),
  );
  assert.equal(movements.length, 5);
  for (const { cause, amount } of movements) assert.deepEqual([cause, amount], ["re_7", 7n]);
});

test("an imported refund moves the same money as one of ours", () => {
  const kinds = (status: RefundStatus) => openingMovements({ id: "re_1", amount: 7n, status }).map((m) => m.kind);
  assert.deepEqual(kinds("pending"), ["refund_reserved"]);
  assert.deepEqual(kinds("succeeded"), ["refund_reserved", "refund_paid"]);
  assert.deepEqual(kinds("failed"), []);
});

test("the money of an unrequested refund is in suspense until it fails; the merchant never bears it", () => {
  const second = { id: "re_2", amount: 7n, unasked: true };
  const booked = (movements: readonly Movement[]) => movements.map(({ kind, cause, amount }) => [kind, cause, amount]);
  const movementsAs = (status: RefundStatus) => booked(openingMovements({ ...second, status }));
  for (const status of ["pending", "succeeded"] as const) {
    assert.deepEqual(movementsAs(status), [["suspense_refunded", "re_2", 7n]]);
    const back = moveRefund({ ...second, status }, "failed");
    assert(back.kind === "moved");
    assert.deepEqual([back.restoredAmount, booked(back.movements)], [7n, [["suspense_refund_released", "re_2", 7n]]]);
  }
  assert.deepEqual([movementsAs("failed"), movementsAs("canceled")], [[], []]);
  const paid = moveRefund({ ...second, status: "pending" }, "succeeded");
  assert(paid.kind === "moved");
  assert.deepEqual([paid.restoredAmount, paid.movements], [0n, []]);
});

test.run();
