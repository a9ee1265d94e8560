// What a processor holds that nobody asked for: how much is still there, what the books say, and what can be done about
// it.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import type { DisputeReport, DisputeStatus } from "./dispute.ts";
import type { Attempt, IntentFact } from "./payment.ts";
import type { RefundReport, RefundStatus } from "./refund.ts";
import {
  actionsOf,
  type Holding,
  heldIn,
  holdingMovements,
  holdingOf,
  joinHoldings,
  partHolding,
  type Suspense,
  type SuspenseAction,
  wholeOf,
} from "./suspense.ts";

const test = suite("suspense");
const noon = new Date("2026-01-01T12:00:00Z");
const attempt: Attempt = { ref: "at_1", startedAt: noon, card: undefined, verification: undefined };

function paid(capturedAmount: bigint): IntentFact {
  const told = { authorizedAt: noon, capturedAt: noon, authorizationCode: "", receiptUrl: "" };
  return { kind: "attempt_succeeded", attempt, capturedAmount, ...told };
}

function refund(status: RefundStatus, amount: bigint): RefundReport {
  const told = { reason: "", failureCode: "", failureMessage: "", createdAt: noon };
  return { ...told, ref: `r_${amount}`, reference: "", amount, status };
}

function dispute(status: DisputeStatus, amount: bigint): DisputeReport {
  return { ref: `d_${amount}`, amount, status, reason: "", openedAt: noon };
}

function holding(amount: bigint, returned: bigint): Holding {
  return { amount, returned };
}

/** What a report says is there. */
function heldBy(report: Parameters<typeof holdingOf>[0]): Holding {
  const { amount, returned } = holdingOf(report);
  return { amount, returned };
}

test("what was captured is held; an intent on which nothing was captured holds nothing", () => {
  const failed: IntentFact = { kind: "attempt_failed", attempt, code: "card_declined", message: "", at: noon };
  const held = (...facts: IntentFact[]) => heldBy({ facts, refunds: [], disputes: [] });
  assert.deepEqual(held(), holding(0n, 0n));
  assert.deepEqual(held({ kind: "processing_started", attempt }, failed), holding(0n, 0n));
  assert.deepEqual(held(paid(0n)), holding(0n, 0n), "only authorized");
  assert.deepEqual(held(failed, paid(1_000n)), holding(1_000n, 0n));
  assert.deepEqual(held(paid(0n), paid(700n)), holding(700n, 0n), "captured afterwards");
});

test("only what surely left has gone back: refunds that succeeded and disputes that are lost", () => {
  const back = (refunds: RefundReport[], disputes: DisputeReport[]) =>
    heldBy({ facts: [paid(1_000n)], refunds, disputes });
  for (const status of ["pending", "failed", "canceled"] as const) {
    assert.deepEqual(back([refund(status, 300n)], []), holding(1_000n, 0n), `a ${status} refund`);
  }
  for (const status of ["warning_needs_response", "needs_response", "under_review", "won"] as const) {
    assert.deepEqual(back([], [dispute(status, 300n)]), holding(1_000n, 0n), `a ${status} dispute`);
  }
  assert.deepEqual(back([refund("succeeded", 300n), refund("succeeded", 200n)], []), holding(1_000n, 500n));
  assert.deepEqual(back([], [dispute("lost", 400n)]), holding(1_000n, 400n));
  assert.deepEqual(back([refund("succeeded", 300n)], [dispute("lost", 400n)]), holding(1_000n, 700n));
});

test("no more goes back than was there", () => {
  const refunds = [refund("succeeded", 600n)];
  const disputes = [dispute("lost", 1_000n)];
  assert.deepEqual(heldBy({ facts: [paid(1_000n)], refunds, disputes }), holding(1_000n, 1_000n));
  assert.deepEqual(heldBy({ facts: [], refunds, disputes }), holding(0n, 0n));
});

test("reports that overtake each other: one that knows of less changes nothing, and a debit that failed came back as a whole", () => {
  const failed: IntentFact = { kind: "attempt_failed", attempt, code: "returned", message: "", at: noon };
  const report = (facts: IntentFact[], refunds: RefundReport[] = [], disputes: DisputeReport[] = []) =>
    holdingOf({ facts, refunds, disputes });
  const other: IntentFact = { ...failed, attempt: { ...attempt, ref: "at_0" } };
  const [part, whole] = [refund("succeeded", 300n), refund("succeeded", 1_000n)];
  const charged = report([paid(1_000n)]);
  const cases: readonly (readonly [string, ReturnType<typeof holdingOf> | undefined, typeof charged, Holding])[] = [
    ["new to us", undefined, report([paid(1_000n)], [part]), holding(1_000n, 300n)],
    ["paid since", report([other]), charged, holding(1_000n, 0n)],
    ["given back in part", charged, report([paid(1_000n)], [part]), holding(1_000n, 300n)],
    ["from before the charge", charged, report([other]), holding(1_000n, 0n)],
    ["from before the refund", report([paid(1_000n)], [part]), charged, holding(1_000n, 300n)],
    ["returned", charged, report([failed]), holding(1_000n, 1_000n)],
    ["returned after a refund", report([paid(1_000n)], [part]), report([failed], [part]), holding(1_000n, 1_000n)],
    [
      "a refund that failed after its success",
      report([paid(1_000n)], [whole]),
      report([paid(1_000n)], [{ ...whole, status: "failed" }]),
      holding(1_000n, 0n),
    ],
    [
      "a lost dispute that was won after all",
      report([paid(1_000n)], [], [dispute("lost", 400n)]),
      report([paid(1_000n)], [], [dispute("won", 400n)]),
      holding(1_000n, 0n),
    ],
  ];
  for (const [name, known, told, must] of cases) {
    const { amount, returned } = joinHoldings(known, told);
    assert.deepEqual({ amount, returned }, must, name);
  }
});

test("the books follow what is there: each change is booked once, as held or as released", () => {
  const story: readonly (readonly [Holding, booked: string])[] = [
    [holding(0n, 0n), ""],
    [holding(1_000n, 0n), "suspense_held su_1 1000"],
    [holding(1_000n, 0n), ""],
    [holding(1_000n, 300n), "suspense_released su_1 300"],
    [holding(1_000n, 300n), ""],
    [holding(1_000n, 200n), "suspense_held su_1 100"],
    [holding(1_000n, 1_000n), "suspense_released su_1 800"],
  ];
  let before: Holding | undefined;
  for (const [after, booked] of story) {
    const movements = holdingMovements("su_1", before, after);
    assert.equal(movements.map(({ kind, cause, amount }) => `${kind} ${cause} ${amount}`).join(), booked);
    before = after;
  }
});

test("what is first heard of when a part of it went back is held for the rest alone", () => {
  assert.equal(heldIn(holding(1_000n, 300n)), 700n);
  assert.deepEqual(holdingMovements("su_1", undefined, holding(1_000n, 300n)), [
    { kind: "suspense_held", cause: "su_1", amount: 700n },
  ]);
  assert.deepEqual(holdingMovements("su_1", undefined, holding(1_000n, 1_000n)), []);
});

test("what the payment's own capture keeps of an attempt is not held, and only the attempt that made it", () => {
  const whole = { amount: 1_001n, returned: 5n, paidBy: "at_1" };
  const parted = (own: Parameters<typeof partHolding>[1]) => {
    const { amount, kept, returned } = partHolding(whole, own);
    return [amount, kept, returned];
  };
  assert.deepEqual(parted(undefined), [1_001n, 0n, 5n]);
  assert.deepEqual(parted({ attempt: "at_1", amount: 400n }), [601n, 400n, 5n]);
  assert.deepEqual(parted({ attempt: "at_1", amount: 1_000n }), [1n, 1_000n, 1n]);
  assert.deepEqual(parted({ attempt: "at_1", amount: 2_000n }), [0n, 1_001n, 0n]);
  assert.deepEqual(parted({ attempt: "at_2", amount: 400n }), [1_001n, 0n, 5n]);
  assert.deepEqual(wholeOf(partHolding(whole, { attempt: "at_1", amount: 400n })), whole);
});

function allowed(item: Partial<Suspense>): readonly SuspenseAction[] {
  const open = { kind: "other_amount", state: "open", currency: "EUR", ...holding(700n, 0n) } as const;
  return actionsOf({ ...open, ...item });
}

test("an operator gives a second charge back, takes a second refund, and closes an intent that is lost", () => {
  assert.deepEqual(allowed({ kind: "second_charge" }), ["give_back"]);
  assert.deepEqual(allowed({ kind: "second_refund" }), ["take"]);
  assert.deepEqual(allowed({ kind: "lost_intent", amount: 0n }), ["close"]);
});

test("money of an intent with another amount can only go back; one that holds nothing can only be closed", () => {
  assert.deepEqual(allowed({}), ["give_back"]);
  assert.deepEqual(allowed({ returned: 699n }), ["give_back"], "the last unit of it");
  assert.deepEqual(allowed({ returned: 700n }), ["close"], "with nothing left");
});

test("nothing can be done about an item that is closed", () => {
  for (const kind of ["second_charge", "other_amount", "second_refund", "lost_intent"] as const) {
    assert.deepEqual(allowed({ kind, state: "closed" }), [], kind);
  }
});

test.run();
