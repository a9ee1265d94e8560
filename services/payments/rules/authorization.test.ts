// An authorization and its end: what is captured of it, that it was given up or has expired, in whatever order a
// processor's reports arrive.
import assert from "node:assert/strict";
import { untouchedPayment } from "../../../test/harness/payments/untouched-payment.ts";
import { suite } from "../../../test/harness/suite.ts";
import { endUnmade, type IntentFact, isReleased, type Path, type PaymentState, statusOf } from "./payment.ts";
import { type Books, type Settlement, settle } from "./settlement.ts";

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

function hear(state: PaymentState, facts: readonly IntentFact[], path: Path = "processor"): Settlement {
  const books: Books = { isDirect: false, state, refunds: [], disputes: [], fees };
  return settle(books, { kind: "intent", facts, refunds: [], disputes: [] }, path, (noun) => `${noun}_1`);
}

const told = ({ announcements }: Settlement) => announcements.map(({ type, status }) => `${type} ${status}`).join(", ");
const booked = ({ movements }: Settlement) => movements.map(({ kind, amount }) => `${kind} ${amount}`).join(", ");
const heldState = hear(fresh, [authorized], "confirm").state;

test("an authorization succeeds, moves no money, and is asked about until it ends", () => {
  const held = hear(fresh, [authorized], "confirm");
  assert.deepEqual([statusOf(held.state), booked(held), held.isSettled], ["succeeded", "", false]);
  assert.deepEqual([told(held), held.state.captureBefore], ["payment.succeeded succeeded", week]);
  assert.deepEqual([held.state.feeAmount, held.state.capturedAt], [0n, undefined]);
});

test("a capture books what was captured with its fee, is told once, and is no second success", () => {
  const taken = hear(heldState, [captured(400n)], "reconcile");
  assert.deepEqual([booked(taken), told(taken)], ["captured 400, fee_charged 42", "payment.captured succeeded"]);
  assert.deepEqual([taken.isSettled, taken.state.capturedAt, taken.state.captureBefore], [true, later, undefined]);
  const again = hear(taken.state, [captured(400n)], "reconcile");
  assert.deepEqual([booked(again), told(again), again.state], ["", "", taken.state]);
});

test("what was captured stays, whatever is canceled afterwards", () => {
  const taken = hear(heldState, [captured(400n)]).state;
  for (const end of [canceled, expired]) {
    const heard = hear(taken, [end]);
    assert.deepEqual([heard.state, told(heard), booked(heard)], [taken, "", ""]);
  }
});

test("an authorization that is given up or has expired is canceled, and its session was paid all the same", () => {
  for (const [end, type, failures] of [
    [canceled, "payment.authorization_canceled", []],
    [expired, "payment.authorization_expired", ["at_1 failed expired"]],
  ] as const) {
    const over = hear(heldState, [authorized, end]);
    assert.deepEqual([statusOf(over.state), told(over), booked(over)], ["canceled", `${type} canceled`, ""]);
    assert.deepEqual([isReleased(over.state), over.isSettled], [true, true]);
    assert.deepEqual(
      over.attempts.map(({ ref, outcome, code }) => `${ref} ${outcome} ${code}`),
      failures,
    );
    const [{ attributes } = { attributes: {} as Readonly<Record<string, string>> }] = over.announcements;
    assert.deepEqual([attributes.outcome, attributes.payment_status], ["succeeded", "canceled"]);
    assert.equal(told(hear(over.state, [authorized, end])), "", "a repeat");
  }
});

test("an end that is heard of before its beginning is both, and each attempt is written once as it ended", () => {
  const over = hear(fresh, [authorized, expired]);
  assert.equal(told(over), "payment.succeeded succeeded, payment.authorization_expired canceled");
  assert.deepEqual(
    over.attempts.map(({ ref, outcome, attempt: of }) => [ref, outcome, of?.startedAt]),
    [["at_1", "failed", noon]],
  );
});

const orders = <T>(list: readonly T[]): T[][] =>
  list.length < 2
    ? [[...list]]
    : list.flatMap((one, i) => orders(list.toSpliced(i, 1)).map((others) => [one, ...others]));

test("reports that come late, twice or in any order come to the same state, the same money and the same ends", () => {
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
        const heard = hear(state, facts);
        state = heard.state;
        for (const { kind, amount } of heard.movements) money.set(kind, (money.get(kind) ?? 0n) + amount);
        for (const { type } of heard.announcements) if (type !== "payment.captured") ends.add(type);
      }
      return { state: withoutPaths(state), money: [...money].sort(), ends: [...ends].sort() };
    });
    for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
  }
});

test("money that was taken outweighs the news that the authorization was given up", () => {
  const over = hear(heldState, [authorized, canceled]).state;
  const taken = hear(over, [captured(400n)]);
  assert.deepEqual([taken.state.outcome, booked(taken)], ["succeeded", "captured 400, fee_charged 42"]);
});

test("what is captured besides is booked besides, with the rest of the fee; what is told of less is older news", () => {
  const first = hear(heldState, [captured(400n)]).state;
  const more = hear(first, [captured(1_000n)], "reconcile");
  assert.deepEqual([booked(more), told(more)], ["captured 600, fee_charged 17", "payment.captured succeeded"]);
  assert.deepEqual([more.state.capturedAmount, more.state.feeAmount], [1_000n, 59n]);
  assert.equal(booked(hear(more.state, [captured(400n)])), "");
});

test("what the processor lost for good was authorized and is no more", () => {
  const lost = endUnmade(heldState, false, later);
  assert.deepEqual([lost.state.outcome, lost.announce], ["canceled", ["payment.authorization_canceled"]]);
  assert.equal(endUnmade(hear(heldState, [captured(1n)]).state, false, later).state.outcome, "succeeded");
});

test("a refund of what is only authorized is taken in by nobody, since nothing was taken that it could be of", () => {
  const words = { reason: "", failureCode: "", failureMessage: "", createdAt: noon };
  const refund = { ref: "r_1", reference: "", amount: 1n, status: "succeeded", ...words } as const;
  const books: Books = { isDirect: false, state: heldState, refunds: [], disputes: [], fees };
  const news = { kind: "intent", facts: [authorized], refunds: [refund], disputes: [] } as const;
  const heard = settle(books, news, "processor", (noun) => `${noun}_1`);
  assert.deepEqual([heard.refunds, heard.state.refundedAmount, heard.asksAgain], [[], 0n, true]);
});

test("what is captured at once announces no capture, and a payment that is canceled unpaid no authorization", () => {
  const automatic = { ...fresh, captureMethod: "automatic" } as const;
  assert.equal(told(hear(automatic, [captured(1_000n)])), "payment.succeeded succeeded");
  assert.equal(told(hear(fresh, [canceled])), "payment.canceled canceled");
});

test.run();
