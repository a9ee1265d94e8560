// Every outcome × every fact: where the payment goes, what is announced, what is refused.
import assert from "node:assert/strict";
import { untouchedPayment } from "../../../test/harness/payments/untouched-payment.ts";
import { suite } from "../../../test/harness/suite.ts";
import {
  type Attempt,
  type IntentFact,
  isUnpaid,
  netAmount,
  type Outcome,
  type PaymentState,
  statusOf,
} from "./payment.ts";
import { applyFact, endUnmade } from "./payment-transition.ts";

const test = suite("payment machine");
const fees = [{ effectiveFrom: new Date(0), basisPoints: 290n, fixed: 30n }];
const noon = new Date("2026-01-01T12:00:00Z");
const later = new Date("2026-01-01T12:05:00Z");

function attempt(ref: string, startedAt = noon): Attempt {
  return { ref, startedAt, card: undefined, verification: undefined };
}

function state(change: Partial<PaymentState> = {}): PaymentState {
  return { ...untouchedPayment, ...change };
}

const facts = {
  action: (a: Attempt): IntentFact => ({ kind: "action_required", attempt: a }),
  processing: (a: Attempt): IntentFact => ({ kind: "processing_started", attempt: a }),
  failed: (a: Attempt): IntentFact => ({
    kind: "attempt_failed",
    attempt: a,
    code: "card_declined",
    message: "",
    at: later,
  }),
  paid: (a: Attempt, capturedAmount = 1_000n): IntentFact => ({
    kind: "attempt_succeeded",
    attempt: a,
    capturedAmount,
    authorizedAt: later,
    capturedAt: capturedAmount > 0n ? later : undefined,
    authorizationCode: "A1",
    receiptUrl: "https://receipt",
  }),
  canceled: (): IntentFact => ({ kind: "intent_canceled", at: later }),
};

/** A state as one attempt `at_1` leaves it. */
const reached: { readonly [O in Outcome]: PaymentState } = {
  pending: state(),
  requires_action: apply(state(), facts.action(attempt("at_1"))).state,
  processing: apply(state(), facts.processing(attempt("at_1"))).state,
  failed: apply(state(), facts.failed(attempt("at_1"))).state,
  succeeded: apply(state(), facts.paid(attempt("at_1"))).state,
  canceled: apply(state(), facts.canceled()).state,
};

function apply(from: PaymentState, fact: IntentFact, path: "confirm" | "processor" | "reconcile" = "confirm") {
  return applyFact(from, fact, path, fees);
}

test("every outcome moves along the edge of a new attempt's fact, or stays for a reason", () => {
  const fresh = attempt("at_2", later);
  const expected: { readonly [O in Outcome]: readonly Outcome[] } = {
    //         action            processing    failed       paid         canceled
    pending: ["requires_action", "processing", "failed", "succeeded", "canceled"],
    requires_action: ["requires_action", "processing", "failed", "succeeded", "canceled"],
    processing: ["requires_action", "processing", "failed", "succeeded", "canceled"],
    failed: ["requires_action", "processing", "failed", "succeeded", "canceled"],
    succeeded: ["succeeded", "succeeded", "succeeded", "succeeded", "succeeded"],
    canceled: ["canceled", "canceled", "canceled", "succeeded", "canceled"],
  };
  for (const [from, tos] of Object.entries(expected) as [Outcome, readonly Outcome[]][]) {
    const about = [
      facts.action(fresh),
      facts.processing(fresh),
      facts.failed(fresh),
      facts.paid(fresh),
      facts.canceled(),
    ];
    assert.deepEqual(
      about.map((fact) => apply(reached[from], fact).state.outcome),
      tos,
      from,
    );
  }
});

test("a late fact about the same attempt never moves a payment backwards", () => {
  const same = attempt("at_1");
  assert.equal(apply(reached.processing, facts.action(same)).state, reached.processing);
  for (const outcome of ["failed", "succeeded"] as const) {
    const late = [facts.action(same), facts.processing(same), ...(outcome === "failed" ? [facts.failed(same)] : [])];
    for (const fact of late) {
      const change = apply(reached[outcome], fact);
      assert.equal(change.state.outcome, outcome);
      assert.deepEqual(change.announce, []);
      assert.notEqual(change.ignored, undefined);
    }
  }
});

test("a debit whose return is reported before its success is never paid; another attempt is", () => {
  const returned = apply(state(), facts.failed(attempt("at_1"))).state;
  const late = apply(returned, facts.paid(attempt("at_1")), "processor");
  assert.deepEqual([late.state.outcome, late.movements, late.announce], ["failed", [], []]);
  assert.notEqual(late.ignored, undefined);
  assert.equal(apply(returned, facts.paid(attempt("at_2", later))).state.outcome, "succeeded");
});

test("a returned debit reverses capture and fee, once", () => {
  const paid = apply(state(), facts.paid(attempt("at_1")), "processor").state;
  const change = apply(paid, facts.failed(attempt("at_1")));
  assert.deepEqual(
    [change.state.outcome, change.state.capturedAmount, change.state.feeAmount, change.state.capturedAt],
    ["failed", 0n, 0n, undefined],
  );
  assert.deepEqual(change.announce, ["payment.failed"]);
  assert.deepEqual(
    change.movements.map(({ kind, amount }) => [kind, amount]),
    [
      ["capture_returned", 1_000n],
      ["fee_returned", 59n],
    ],
  );
  assert.equal(change.ended[0]?.code, "returned");
  for (const late of [facts.failed(attempt("at_1")), facts.paid(attempt("at_1"))]) {
    assert.notEqual(apply(change.state, late, "processor").ignored, undefined, "late news of the same debit");
  }
  assert.notEqual(apply(change.state, { kind: "intent_canceled", at: later }).ignored, undefined, "it stays failed");
});

test("a payment that is paid again after a return is announced again on every path", () => {
  const paid = facts.paid(attempt("at_1"));
  const announced = apply(apply(state(), paid, "confirm").state, paid, "processor").state;
  const returned = apply(announced, facts.failed(attempt("at_1"))).state;
  for (const path of ["confirm", "processor", "reconcile"] as const) {
    const repaid = apply(returned, facts.paid(attempt("at_2", later)), path);
    assert.deepEqual([repaid.state.outcome, repaid.announce], ["succeeded", ["payment.succeeded"]], path);
  }
});

test("a returned debit is ignored after a lost dispute and releases an open one", () => {
  const paid = apply(state(), facts.paid(attempt("at_1"))).state;
  const lost = { ...paid, disputeHold: "lost" as const, disputedAmount: 1_000n };
  assert.equal(apply(lost, facts.failed(attempt("at_1"))).state, lost);
  const open = { ...paid, disputeHold: "open" as const, disputedAmount: 1_000n };
  assert.equal(apply(open, facts.failed(attempt("at_1"))).state.disputeHold, "none");
});

test("a buyer can begin to pay a payment that is not captured, not processing and has not ended", () => {
  const unpaid = (outcome: PaymentState["outcome"], authorizedAt?: Date) => isUnpaid({ outcome, authorizedAt });
  for (const outcome of ["pending", "requires_action", "failed"] as const) assert.equal(unpaid(outcome), true, outcome);
  for (const outcome of ["processing", "succeeded", "canceled"] as const) assert.equal(unpaid(outcome), false, outcome);
  assert.equal(unpaid("failed", noon), false, "a debit that came back");
});

test("an older attempt's failure is announced and counted, and leaves a newer attempt", () => {
  const second = apply(state(), facts.processing(attempt("at_2", later))).state;
  const change = apply(second, facts.failed(attempt("at_1", noon)));
  assert.equal(change.state.outcome, "processing");
  assert.equal(change.state.failedAttempts, 1);
  assert.deepEqual(change.announce, ["payment.failed"]);
});

test("a late report that an older attempt is under way leaves a newer one", () => {
  const second = apply(state(), facts.processing(attempt("at_2", later))).state;
  for (const late of [facts.action(attempt("at_1", noon)), facts.processing(attempt("at_1", noon))]) {
    const change = apply(second, late);
    assert.deepEqual([change.state, change.announce], [second, []], late.kind);
    assert.notEqual(change.ignored, undefined, late.kind);
  }
});

test("a failed attempt is counted and announced once, however often it is reported", () => {
  const again = apply(reached.failed, facts.failed(attempt("at_1")));
  assert.equal(again.state.failedAttempts, 1);
  assert.deepEqual(again.announce, []);
  assert.deepEqual(again.ended, []);
});

test("payment.succeeded is announced once by the confirm path and once by the processor, in either order", () => {
  const paid = facts.paid(attempt("at_1"));
  for (const [first, second] of [
    ["confirm", "processor"],
    ["processor", "confirm"],
  ] as const) {
    const one = apply(state(), paid, first);
    const two = apply(one.state, paid, second);
    assert.deepEqual([one.announce, two.announce], [["payment.succeeded"], ["payment.succeeded"]]);
    assert.deepEqual(two.movements, [], "money moves once");
    for (const path of ["confirm", "processor", "reconcile"] as const)
      assert.deepEqual(apply(two.state, paid, path).announce, []);
  }
});

test("our own query announces a payment only if no other path has", () => {
  const paid = facts.paid(attempt("at_1"));
  assert.deepEqual(apply(state(), paid, "reconcile").announce, ["payment.succeeded"]);
  assert.deepEqual(apply(apply(state(), paid, "processor").state, paid, "reconcile").announce, []);
  const found = apply(state(), paid, "reconcile").state;
  assert.deepEqual(apply(found, paid, "confirm").announce, [], "it stood in for the confirm");
  assert.deepEqual(apply(found, paid, "processor").announce, ["payment.succeeded"]);
});

test("an authorization is a success without a capture, and its capture moves the money once", () => {
  const authorized = apply(state(), facts.paid(attempt("at_1"), 0n));
  assert.equal(statusOf(authorized.state), "succeeded");
  assert.equal(authorized.state.capturedAt, undefined);
  assert.deepEqual(authorized.movements, []);
  const captured = apply(authorized.state, facts.paid(attempt("at_1")), "processor");
  assert.deepEqual(
    captured.movements.map((m) => [m.kind, m.amount]),
    [
      ["captured", 1_000n],
      ["fee_charged", 59n],
    ],
  );
  assert.equal(captured.state.capturedAt, later);
});

test("a capture above the amount breaks an assertion", () => {
  assert.throws(() => apply(state(), facts.paid(attempt("at_1"), 1_001n)), assert.AssertionError);
});

test("an attempt by another method does not keep the card of the one before", () => {
  const card = { brand: "visa", last4: "0002", funding: "credit", fingerprint: "f", expMonth: 1, expYear: 2030 };
  const declined = { ...attempt("at_1"), method: { type: "card" }, card };
  const failed = apply(state(), facts.failed(declined)).state;
  const debit = { type: "sepa_debit", bank: { country: "DE", last4: "3000" } };
  const paid = apply(failed, facts.paid({ ...attempt("at_2", later), method: debit })).state;
  assert.deepEqual([failed.method, failed.card, paid.method, paid.card], [{ type: "card" }, card, debit, undefined]);
  // A later report that omits both changes neither.
  const again = apply(failed, facts.action(attempt("at_2", later))).state;
  assert.deepEqual([again.method, again.card], [{ type: "card" }, card]);
});

test("the status follows from outcome, refunds and disputes", () => {
  const paid = { outcome: "succeeded", capturedAmount: 100n, refundedAmount: 0n, disputeHold: "none" } as const;
  assert.equal(statusOf(paid), "succeeded");
  assert.equal(statusOf({ ...paid, refundedAmount: 1n }), "partially_refunded");
  assert.equal(statusOf({ ...paid, refundedAmount: 100n }), "refunded");
  assert.equal(statusOf({ ...paid, disputeHold: "open", refundedAmount: 1n }), "disputed");
  assert.equal(statusOf({ ...paid, disputeHold: "lost" }), "disputed");
  for (const outcome of ["pending", "requires_action", "processing", "failed", "canceled"] as const) {
    assert.equal(statusOf({ ...paid, outcome }), outcome);
  }
});

test("net is the capture less refunds, fee and lost disputes, and may be negative", () => {
  const base = { capturedAmount: 1_000n, refundedAmount: 0n, feeAmount: 59n, lostAmount: 0n };
  assert.equal(netAmount(base), 941n);
  assert.equal(netAmount({ ...base, refundedAmount: 1_000n }), -59n);
  assert.equal(netAmount({ ...base, lostAmount: 300n, refundedAmount: 200n }), 441n);
  assert.equal(netAmount({ ...base, capturedAmount: 400n, feeAmount: 42n }), 358n, "of what was captured");
});

test("net is 0 while nothing is captured, also after refunds of a returned debit", () => {
  const base = { capturedAmount: 0n, refundedAmount: 0n, feeAmount: 0n, lostAmount: 0n };
  for (const gone of [{}, { refundedAmount: 300n }, { lostAmount: 300n }]) {
    assert.equal(netAmount({ ...base, ...gone }), 0n);
  }
});

test("a payment that was never made fails if a merchant has seen it, else it is canceled", () => {
  for (const outcome of ["pending", "requires_action", "processing"] as const) {
    const end = (isDirect: boolean, visible: boolean) => endUnmade(state({ outcome, visible }), isDirect, later);
    const shown = end(true, true);
    assert.deepEqual(
      [shown.state.outcome, shown.state.failedAt, shown.announce],
      ["failed", later, ["payment.failed"]],
    );
    assert.deepEqual([shown.ended[0]?.outcome, shown.ended[0]?.code], ["failed", "not_processed"]);
    for (const change of [end(true, false), end(false, true), end(false, false)]) {
      assert.deepEqual([change.state.outcome, change.announce, change.ended], ["canceled", ["payment.canceled"], []]);
    }
  }
});

test("paid, returned, canceled and failed payments do not end as never made", () => {
  const returned = apply(reached.succeeded, facts.failed(attempt("at_1"))).state;
  for (const isDirect of [true, false]) {
    const ended = [reached.succeeded, reached.canceled, returned, ...(isDirect ? [reached.failed] : [])];
    for (const known of ended) {
      const change = endUnmade(known, isDirect, later);
      assert.deepEqual([change.state, change.announce, change.ended], [known, [], []]);
      assert.notEqual(change.ignored, undefined);
    }
  }
  assert.equal(endUnmade(reached.failed, false, later).state.outcome, "canceled", "a session's declined payment");
});

test.run();
