// An authorization and its end (capture, release or expiry), with reports in any order.
import assert from "node:assert/strict";
import { untouchedPayment } from "../../../test/harness/payments/untouched-payment.ts";
import { suite } from "../../../test/harness/suite.ts";
import { type IntentFact, isReleased, type Path, type PaymentState, statusOf } from "./payment.ts";
import { endUnmade } from "./payment-transition.ts";
import { applyUpdate, type Books, type Settlement } from "./settlement.ts";

const test = suite("authorization");
const noon = new Date("2026-01-01T12:00:00Z");
const later = new Date("2026-01-03T12:00:00Z");
const week = new Date("2026-01-08T12:00:00Z");
const fees = [{ effectiveFrom: new Date(0), basisPoints: 290n, fixed: 30n }];
const fresh: PaymentState = { ...untouchedPayment, captureMethod: "manual" };
const attempt = { ref: "at_1", startedAt: noon, card: undefined, verification: undefined };
const receipt = { authorizedAt: noon, authorizationCode: "A1", receiptUrl: "https://receipt" };
const authorized: IntentFact = {
  kind: "attempt_succeeded",
  attempt,
  capturedAmount: 0n,
  capturedAt: undefined,
  captureBefore: week,
  ...receipt,
};
const captured = (amount: bigint): IntentFact => ({
  kind: "attempt_succeeded",
  attempt,
  capturedAmount: amount,
  capturedAt: later,
  ...receipt,
});
const canceled: IntentFact = { kind: "intent_canceled", at: later };
const expired: IntentFact = { kind: "intent_canceled", at: week, isExpired: true };

function settleFacts(state: PaymentState, facts: readonly IntentFact[], path: Path = "processor"): Settlement {
  const books: Books = { isDirect: false, state, refunds: [], disputes: [], fees };
  return applyUpdate(books, { kind: "intent", facts, refunds: [], disputes: [] }, path, (noun) => `${noun}_1`);
}

const announced = ({ announcements }: Settlement) =>
  announcements.map(({ type, status }) => `${type} ${status}`).join(", ");
const booked = ({ movements }: Settlement) => movements.map(({ kind, amount }) => `${kind} ${amount}`).join(", ");
const heldState = settleFacts(fresh, [authorized], "confirm").state;

test("an authorization succeeds, moves no money, and is checked until it ends", () => {
  const held = settleFacts(fresh, [authorized], "confirm");
  assert.deepEqual([statusOf(held.state), booked(held), held.isSettled], ["succeeded", "", false]);
  assert.deepEqual([announced(held), held.state.captureBefore], ["payment.succeeded succeeded", week]);
  assert.deepEqual([held.state.feeAmount, held.state.capturedAt], [0n, undefined]);
});

test("a capture books amount and fee, is announced once, and is not a second success", () => {
  const partial = settleFacts(heldState, [captured(400n)], "reconcile");
  assert.deepEqual(
    [booked(partial), announced(partial)],
    ["captured 400, fee_charged 42", "payment.captured succeeded"],
  );
  assert.deepEqual(
    [partial.isSettled, partial.state.capturedAt, partial.state.captureBefore],
    [true, later, undefined],
  );
  const again = settleFacts(partial.state, [captured(400n)], "reconcile");
  assert.deepEqual([booked(again), announced(again), again.state], ["", "", partial.state]);
});

test("a capture survives a later cancellation or expiry", () => {
  const partial = settleFacts(heldState, [captured(400n)]).state;
  for (const end of [canceled, expired]) {
    const result = settleFacts(partial, [end]);
    assert.deepEqual([result.state, announced(result), booked(result)], [partial, "", ""]);
  }
});

test("a released or expired authorization is canceled, and its session stays paid", () => {
  for (const [end, type, failures] of [
    [canceled, "payment.authorization_canceled", []],
    [expired, "payment.authorization_expired", ["at_1 failed expired"]],
  ] as const) {
    const over = settleFacts(heldState, [authorized, end]);
    assert.deepEqual([statusOf(over.state), announced(over), booked(over)], ["canceled", `${type} canceled`, ""]);
    assert.deepEqual([isReleased(over.state), over.isSettled], [true, true]);
    assert.deepEqual(
      over.attempts.map(({ ref, outcome, code }) => `${ref} ${outcome} ${code}`),
      failures,
    );
    const [{ attributes } = { attributes: {} as Readonly<Record<string, string>> }] = over.announcements;
    assert.deepEqual([attributes.outcome, attributes.payment_status], ["succeeded", "canceled"]);
    assert.equal(announced(settleFacts(over.state, [authorized, end])), "", "a repeat");
  }
});

test("a first report with authorization and expiry announces both, and records one end of the attempt", () => {
  const over = settleFacts(fresh, [authorized, expired]);
  assert.equal(announced(over), "payment.succeeded succeeded, payment.authorization_expired canceled");
  assert.deepEqual(
    over.attempts.map(({ ref, outcome, attempt: of }) => [ref, outcome, of?.startedAt]),
    [["at_1", "failed", noon]],
  );
});

const orders = <T>(list: readonly T[]): T[][] =>
  list.length < 2
    ? [[...list]]
    : list.flatMap((one, i) => orders(list.toSpliced(i, 1)).map((others) => [one, ...others]));

test("late, repeated and reordered reports lead to the same state, money and ends", () => {
  const lives: readonly (readonly (readonly IntentFact[])[])[] = [
    [[authorized], [captured(1_000n)]],
    [[authorized], [captured(400n)], [captured(400n)]],
    [[authorized], [authorized, canceled]],
    [[authorized], [authorized, expired], [authorized, expired]],
    [[authorized], [captured(400n)], [captured(700n)]],
  ];
  const withoutPaths = ({ announcedByConfirm: _, announcedByProcessor: __, ...state }: PaymentState) => state;
  for (const life of lives) {
    const outcomes = orders([[], ...life]).map((reports) => {
      let state = fresh;
      const [money, ends] = [new Map<string, bigint>(), new Set<string>()];
      for (const facts of reports) {
        const result = settleFacts(state, facts);
        state = result.state;
        for (const { kind, amount } of result.movements) money.set(kind, (money.get(kind) ?? 0n) + amount);
        for (const { type } of result.announcements) if (type !== "payment.captured") ends.add(type);
      }
      return { state: withoutPaths(state), money: [...money].sort(), ends: [...ends].sort() };
    });
    for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
  }
});

test("a reported capture outweighs an earlier report of a release", () => {
  const over = settleFacts(heldState, [authorized, canceled]).state;
  const partial = settleFacts(over, [captured(400n)]);
  assert.deepEqual([partial.state.outcome, booked(partial)], ["succeeded", "captured 400, fee_charged 42"]);
});

test("a higher captured total books the difference with the rest of the fee; a lower total is an older report", () => {
  const first = settleFacts(heldState, [captured(400n)]).state;
  const more = settleFacts(first, [captured(1_000n)], "reconcile");
  assert.deepEqual([booked(more), announced(more)], ["captured 600, fee_charged 17", "payment.captured succeeded"]);
  assert.deepEqual([more.state.capturedAmount, more.state.feeAmount], [1_000n, 59n]);
  assert.equal(booked(settleFacts(more.state, [captured(400n)])), "");
});

test("an authorization that the processor lost is canceled; a capture is kept", () => {
  const lost = endUnmade(heldState, false, later);
  assert.deepEqual([lost.state.outcome, lost.announce], ["canceled", ["payment.authorization_canceled"]]);
  assert.equal(endUnmade(settleFacts(heldState, [captured(1n)]).state, false, later).state.outcome, "succeeded");
});

test("a refund of an uncaptured authorization is not imported", () => {
  const words = { reason: "", failureCode: "", failureMessage: "", createdAt: noon };
  const refund = { ref: "r_1", reference: "", amount: 1n, status: "succeeded", ...words } as const;
  const books: Books = { isDirect: false, state: heldState, refunds: [], disputes: [], fees };
  const update = { kind: "intent", facts: [authorized], refunds: [refund], disputes: [] } as const;
  const result = applyUpdate(books, update, "processor", (noun) => `${noun}_1`);
  assert.deepEqual([result.refunds, result.state.refundedAmount, result.needsRecheck], [[], 0n, true]);
});

test("an automatic capture announces no capture; an unpaid cancellation announces no authorization", () => {
  const automatic = { ...fresh, captureMethod: "automatic" } as const;
  assert.equal(announced(settleFacts(automatic, [captured(1_000n)])), "payment.succeeded succeeded");
  assert.equal(announced(settleFacts(fresh, [canceled])), "payment.canceled canceled");
});

test.run();
