// Captures and cancellations: every state × every pending ending.
import assert from "node:assert/strict";
import { untouchedPayment } from "../../../test/harness/payments/untouched-payment.ts";
import { suite } from "../../../test/harness/suite.ts";
import { decideCancel, decideCapture, type Ending } from "./capture.ts";
import type { PaymentState } from "./payment.ts";

const test = suite("capture and cancel");
const noon = new Date("2026-01-01T12:00:00Z");
const state = (change: Partial<PaymentState>): PaymentState => ({ ...untouchedPayment, ...change });
const authorized = state({ outcome: "succeeded", authorizedAt: noon });
const captured = (amount: bigint) => state({ ...authorized, capturedAmount: amount, capturedAt: noon });
const released = state({ ...authorized, outcome: "canceled" });
const returned = state({ ...authorized, outcome: "failed", failedAt: noon });
const capturing = (amount: bigint): Ending => ({ kind: "capture", amount });
const canceling: Ending = { kind: "cancel", amount: 0n };
const refused = (reason: string) => ({ kind: "refused", reason });

test("a capture takes all or a part of the authorized amount, never more", () => {
  assert.deepEqual(decideCapture(authorized, undefined, undefined, false), { kind: "reserved", amount: 1_000n });
  assert.deepEqual(decideCapture(authorized, 1n, undefined, false), { kind: "reserved", amount: 1n });
  assert.deepEqual(decideCapture(authorized, 1_001n, undefined, false), refused("AMOUNT_TOO_LARGE"));
});

test("only an uncaptured authorization can be captured", () => {
  const outcomes = ["pending", "requires_action", "processing", "failed", "canceled"] as const;
  for (const other of [...outcomes.map((outcome) => state({ outcome })), captured(400n), released, returned]) {
    assert.deepEqual(decideCapture(other, undefined, undefined, false), refused("NOT_CAPTURABLE"), other.outcome);
  }
});

test("a pending capture is joined by the same request and refuses another amount or a cancellation", () => {
  assert.deepEqual(decideCapture(authorized, 400n, capturing(400n), false), { kind: "joined" });
  assert.deepEqual(decideCapture(authorized, 401n, capturing(400n), false), refused("NOT_CAPTURABLE"));
  assert.deepEqual(decideCapture(authorized, 400n, canceling, false), refused("NOT_CAPTURABLE"));
  assert.deepEqual(decideCancel(authorized, false, canceling), { kind: "joined" });
  assert.deepEqual(decideCancel(authorized, false, capturing(400n)), refused("NOT_CANCELABLE"));
});

test("a resumed request finds its own earlier capture done, and no other", () => {
  assert.deepEqual(decideCapture(captured(400n), 400n, undefined, true), { kind: "done" });
  assert.deepEqual(decideCapture(captured(1_000n), undefined, undefined, true), { kind: "done" });
  assert.deepEqual(decideCapture(captured(400n), undefined, undefined, true), refused("NOT_CAPTURABLE"));
  assert.deepEqual(decideCapture(captured(400n), 400n, undefined, false), refused("NOT_CAPTURABLE"));
});

test("unpaid and authorized payments can be canceled; a canceled one is already done", () => {
  for (const open of [authorized, state({}), state({ outcome: "requires_action" }), state({ outcome: "processing" })]) {
    for (const isDirect of [true, false]) assert.equal(decideCancel(open, isDirect, undefined).kind, "reserved");
  }
  assert.equal(
    decideCancel(state({ outcome: "failed" }), false, undefined).kind,
    "reserved",
    "the buyer may try again",
  );
  for (const over of [released, state({ outcome: "canceled" })]) {
    assert.deepEqual(decideCancel(over, false, undefined), { kind: "done" });
  }
});

test("captured, returned and finally failed payments cannot be canceled", () => {
  for (const isDirect of [true, false]) {
    for (const over of [captured(1n), returned]) {
      assert.deepEqual(decideCancel(over, isDirect, undefined), refused("NOT_CANCELABLE"));
    }
  }
  assert.deepEqual(decideCancel(state({ outcome: "failed" }), true, undefined), refused("NOT_CANCELABLE"));
});

test.run();
