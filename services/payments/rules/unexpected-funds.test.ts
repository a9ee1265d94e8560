// Unexpected funds: which intents they are found on, what a row holds, and what an operator can do about it. That the
// books agree with the processor whatever happens there is drawn in test/states/true-histories.test.ts.
import assert from "node:assert/strict";
import { untouchedPayment } from "../../../test/harness/payments/untouched-payment.ts";
import { suite } from "../../../test/harness/suite.ts";
import { postings } from "./journal.ts";
import type { Attempt, IntentFact } from "./payment.ts";
import type { RefundReport, RefundStatus } from "./refund.ts";
import { discrepancyOf, ownPart } from "./settlement.ts";
import {
  actionsOf,
  type Claimant,
  closingMovements,
  type Funds,
  type FundsReport,
  fundsAfter,
  heldIn,
  type ReportedIntent,
} from "./unexpected-funds.ts";

const test = suite("unexpected funds");
const noon = new Date("2026-01-01T12:00:00Z");
const attempt: Attempt = { ref: "at_1", startedAt: noon, card: undefined, verification: undefined };
const payment: Claimant = {
  id: "pay_1",
  connectorRef: "pi_1",
  currency: "EUR",
  state: { ...untouchedPayment, amount: 1_000n },
};

function paid(capturedAmount: bigint): IntentFact {
  const times = { authorizedAt: noon, capturedAt: noon, authorizationCode: "", receiptUrl: "" };
  return { kind: "attempt_succeeded", attempt, capturedAmount, ...times };
}
const failed: IntentFact = { kind: "attempt_failed", attempt, code: "returned", message: "", at: noon };

function refund(status: RefundStatus, amount: bigint, reference = ""): RefundReport {
  const text = { reason: "", failureCode: "", failureMessage: "", createdAt: noon };
  return { ...text, ref: `r_${amount}`, reference, amount, status };
}

function intent(change: Partial<ReportedIntent> = {}): ReportedIntent {
  const paidOnce = { facts: [paid(1_000n)], refunds: [], disputes: [] };
  return { ref: "pi_2", reference: "pay_1", amount: 1_000n, currency: "EUR", ...paidOnce, ...change };
}

function row(change: Partial<Funds> = {}): Funds {
  const charge = { id: "su_1", kind: "second_charge", state: "open", currency: "EUR" } as const;
  return { ...charge, amount: 1_000n, returned: 0n, closed: 0n, ...change };
}

function after(report: ReportedIntent, change: Partial<FundsReport> = {}) {
  const known = { row: undefined, booked: 0n, id: "su_1", isRefundOpen: false };
  return fundsAfter({ payment, report, discrepancy: discrepancyOf(payment, report), ...known, ...change });
}

test("an intent is unexpected by its id, reference, amount, currency or captured amount", () => {
  const own = intent({ ref: "pi_1" });
  const fresh = { ...payment, connectorRef: "" };
  assert.equal(discrepancyOf(payment, own), undefined);
  assert.equal(discrepancyOf(payment, { ...own, reference: "edited" }), undefined, "others can edit it");
  assert.equal(discrepancyOf(payment, intent())?.kind, "second_charge");
  assert.deepEqual(discrepancyOf(fresh, intent({ reference: "pay_2" }))?.field, "reference");
  assert.deepEqual(discrepancyOf(payment, { ...own, amount: 999n })?.field, "amount");
  assert.deepEqual(discrepancyOf(payment, { ...own, currency: "USD" })?.field, "currency");
  assert.deepEqual(discrepancyOf(payment, { ...own, facts: [paid(1_001n)] })?.kind, "excess_capture");
});

test("the payment's own part of an excess capture is its amount, without refunds of the row", () => {
  const refunds = [refund("succeeded", 200n, "su_1"), refund("succeeded", 300n)];
  const report = intent({ ref: "pi_1", facts: [paid(1_200n)], refunds });
  const own = ownPart(payment, report, discrepancyOf(payment, report));
  assert.deepEqual([own?.facts, own?.refunds], [[paid(1_000n)], [refunds[1]]]);
});

test("a row holds the difference between processor and books, and each change is booked once", () => {
  const story: readonly (readonly [Partial<ReportedIntent>, state: string, held: bigint, booked: string])[] = [
    [{}, "open", 1_000n, "suspense_held 1000"],
    [{}, "open", 1_000n, ""],
    [{ refunds: [refund("pending", 300n)] }, "open", 1_000n, ""],
    [{ refunds: [refund("succeeded", 300n)] }, "open", 700n, "suspense_released 300"],
    [{ refunds: [refund("failed", 300n)] }, "open", 1_000n, "suspense_held 300"],
    [{ facts: [paid(1_000n), failed] }, "closed", 0n, "suspense_released 1000"],
    [{}, "open", 1_000n, "suspense_held 1000"],
  ];
  let known: Funds | undefined;
  for (const [change, state, held, booked] of story) {
    const update = after(intent(change), { row: known }) ?? assert.fail("nothing to write");
    known = row(update);
    const moved = update.movements.map(({ kind, amount }) => `${kind} ${amount}`).join();
    assert.deepEqual([update.state, heldIn(known), moved], [state, held, booked]);
  }
});

test("an unpaid second intent gets no row, and an accepted row stays", () => {
  assert.equal(after(intent({ facts: [paid(0n)] })), undefined);
  assert.equal(after(intent(), { row: row({ state: "accepted" }) }), undefined);
});

test("an excess capture holds the difference to the payment's own capture", () => {
  const report = intent({ ref: "pi_1", facts: [paid(1_200n)] });
  const update = after(report, { booked: 1_000n });
  assert.deepEqual([update?.kind, update?.amount, update?.returned], ["excess_capture", 200n, 0n]);
  const refunded = after({ ...report, refunds: [refund("succeeded", 200n, "su_1")] }, { booked: 1_000n });
  assert.deepEqual([refunded?.state, refunded?.returned], ["closed", 200n]);
});

test("an unpaid intent of another amount stays listed until it matches or an operator closes it", () => {
  const report = intent({ ref: "pi_1", amount: 900n, facts: [] });
  assert.equal(after(report)?.state, "open");
  const nothing = row({ kind: "other_amount", amount: 0n });
  assert.equal(after(report, { row: { ...nothing, state: "closed" } })?.state, "closed");
  const right = after({ ...report, amount: 1_000n }, { row: nothing });
  assert.deepEqual([right?.state, right?.resolution], ["closed", "found"]);
  const late = after({ ...report, facts: [paid(900n)] }, { row: { ...nothing, state: "closed" } });
  assert.deepEqual([late?.state, late?.amount], ["open", 900n]);
});

test("a closed row opens again when the processor's amount changes", () => {
  const closed = row({ state: "closed", closed: 1_000n });
  assert.equal(after(intent(), { row: closed })?.state, "closed");
  const back = after(intent({ refunds: [refund("succeeded", 400n)] }), { row: closed });
  assert.deepEqual(
    [back?.state, back?.movements],
    ["open", [{ kind: "suspense_released", cause: "su_1", amount: 400n }]],
  );
  const negative = row({ ...back, kind: "second_charge" });
  assert.deepEqual(closingMovements(negative), [{ kind: "suspense_written_off", cause: "su_1", amount: 400n }]);
});

test("a pending refund keeps its row refunding", () => {
  const refunding = row({ state: "refunding" });
  const pending = intent({ refunds: [refund("pending", 1_000n, "su_1")] });
  assert.equal(after(pending, { row: refunding })?.state, "refunding");
  assert.equal(after(intent(), { row: refunding, isRefundOpen: true })?.state, "refunding");
  assert.equal(after(intent(), { row: refunding })?.state, "open", "it failed");
});

test("closing empties suspense: a charge becomes our gain, a refund our loss", () => {
  for (const [open, account] of [
    [row(), "credit"],
    [row({ kind: "second_refund" }), "debit"],
  ] as const) {
    const [movement] = closingMovements(open);
    assert(movement);
    assert.deepEqual([postings[movement.kind][account], movement.amount], ["adjustments", 1_000n]);
    assert.equal(heldIn({ ...open, closed: heldIn(open) }), 0n);
  }
});

test("an operator can refund held money, and accept the ordered amount while the payment is unpaid", () => {
  const actions = (change: Partial<Funds>, state: Partial<Claimant["state"]> = {}) =>
    actionsOf(row(change), { ...payment, state: { ...payment.state, ...state } });
  assert.deepEqual(actions({}), ["refund", "accept", "close"]);
  assert.deepEqual(actions({}, { outcome: "succeeded" }), ["refund", "close"]);
  assert.deepEqual(actions({}, { outcome: "canceled" }), ["refund", "close"]);
  assert.deepEqual(actions({}, { outcome: "failed", authorizedAt: noon }), ["refund", "close"], "its debit came back");
  for (const change of [{ amount: 999n }, { currency: "USD" }, { returned: 1n }, { kind: "other_amount" }] as const) {
    assert.deepEqual(actions(change), ["refund", "close"]);
  }
  assert.deepEqual(actions({ kind: "other_amount", amount: 0n }), ["close"]);
  assert.deepEqual(actions({ kind: "second_refund" }), ["accept", "close"]);
  assert.deepEqual(actions({ kind: "lost_intent", amount: 0n }), ["close"]);
  for (const state of ["refunding", "accepted", "closed"] as const) assert.deepEqual(actions({ state }), [], state);
});

test.run();
