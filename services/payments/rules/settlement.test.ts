// Settlements: matching of refunds, bookings, holds, announcements, and whether the processor is asked again.
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { untouchedPayment } from "../../../test/harness/payments/untouched-payment.ts";
import { suite } from "../../../test/harness/suite.ts";
import type { Dispute, DisputeReport, DisputeStatus } from "./dispute.ts";
import { type Attempt, type IntentFact, type Path, type PaymentState, statusOf } from "./payment.ts";
import { applyFact } from "./payment-transition.ts";
import type { Refund, RefundReport, RefundStatus } from "./refund.ts";
import { applyUpdate, type Books, type Settlement, type SettlementUpdate } from "./settlement.ts";

const test = suite("settlement");
const noon = new Date("2026-01-01T12:00:00Z");
const later = new Date("2026-01-01T12:05:00Z");
const card = { brand: "visa", last4: "4242", funding: "credit", fingerprint: "fp_1", expMonth: 1, expYear: 2030 };
const attempt: Attempt = { ref: "at_1", startedAt: noon, card, verification: undefined };
const receipt = { authorizedAt: noon, capturedAt: noon, authorizationCode: "A1", receiptUrl: "https://receipt" };
const succeeded: IntentFact = { kind: "attempt_succeeded", attempt, capturedAmount: 1_000n, ...receipt };
const failed: IntentFact = { kind: "attempt_failed", attempt, code: "card_declined", message: "", at: later };

const fees = [{ effectiveFrom: new Date(0), basisPoints: 290n, fixed: 30n }];
/** 1,000 with a fee of 59. */
const paid = apply(apply(untouchedPayment, succeeded, "confirm"), succeeded, "processor");
/** Paid by a debit that came back. */
const returned = apply(paid, failed, "processor");
const disputed = { ...paid, disputeHold: "open", disputedAmount: 500n } as const;
const open = [dispute("1", "needs_response", 300n), dispute("2", "under_review", 200n)];

function apply(state: PaymentState, fact: IntentFact, path: Path): PaymentState {
  return applyFact(state, fact, path, fees).state;
}

function refunded(refundedAmount: bigint): PaymentState {
  return { ...paid, refundedAmount };
}

/** A refund of ours that the processor has. */
function refund(change: Partial<Refund> = {}): Refund {
  const ours = { id: "re_1", amount: 300n, status: "pending", connectorRef: "r_1", acknowledged: true } as const;
  return { ...ours, unasked: false, reason: "", failureCode: "", failureMessage: "", createdAt: noon, ...change };
}

/** A report about a refund of the processor's dashboard. */
function reported(change: Partial<RefundReport> = {}): RefundReport {
  const theirs = { ref: "r_9", reference: "", amount: 300n, status: "succeeded" } as const;
  return { ...theirs, reason: "", failureCode: "", failureMessage: "", createdAt: noon, ...change };
}

/** As both sides know it. */
function dispute(id: string, status: DisputeStatus, amount: bigint): Dispute & DisputeReport {
  const report = { ref: `d_${id}`, reason: "fraudulent", openedAt: noon };
  return { id, connectorRef: report.ref, status, amount, released: false, ...report };
}

function books(change: Partial<Books>): Books {
  return { isDirect: false, state: paid, refunds: [], disputes: [], fees, ...change };
}

type IntentUpdate = Extract<SettlementUpdate, { readonly kind: "intent" }>;

/** Settles a report about the whole intent. New refunds and disputes are `new_1`, `new_2`. */
function settleIntent(known: Partial<Books>, update: Partial<IntentUpdate>, path: Path = "processor"): Settlement {
  let count = 0;
  const whole: IntentUpdate = { kind: "intent", facts: [], refunds: [], disputes: [], ...update };
  return applyUpdate(books(known), whole, path, () => `new_${++count}`);
}

/** Settles a report about one refund. */
function settleRefund(known: Partial<Books>, report: Partial<RefundReport>): Settlement {
  return applyUpdate(
    books(known),
    { kind: "refund", report: reported({ ref: "r_1", ...report }) },
    "reconcile",
    String,
  );
}

function booked({ movements }: Settlement): string {
  return movements.map(({ kind, cause, amount }) => `${kind} ${cause} ${amount}`).join(", ");
}

/** The events of a refund that succeeds immediately. @param status of the payment after it */
function paidOut(status: string): string {
  return `payment.refunded ${status}, payment.refund_succeeded ${status}`;
}

function announced({ announcements }: Settlement): string {
  return announcements.map(({ type, status }) => `${type} ${status}`).join(", ");
}

function heldBy({ state }: Settlement): readonly [string, bigint] {
  return [state.disputeHold, state.disputedAmount];
}

test("matches a refund by the processor's id or our reference; another one under our reference is a second refund", () => {
  const unsent = { connectorRef: "", acknowledged: false };
  const abandoned = { connectorRef: "", status: "failed" } as const;
  const cases: readonly (readonly [Partial<Refund>, Partial<RefundReport>, id: string, unasked: boolean])[] = [
    [{}, { ref: "r_1" }, "re_1", false],
    [unsent, { ref: "r_1", reference: "re_1" }, "re_1", false],
    [unsent, { ref: "", reference: "re_1", status: "failed" }, "re_1", false],
    [{}, { ref: "r_2", reference: "re_1" }, "new_1", true],
    [{ status: "succeeded" }, { ref: "r_2", reference: "re_1", status: "pending" }, "new_1", true],
    [unsent, { ref: "r_2", reference: "re_1", amount: 299n }, "new_1", true],
    [abandoned, { ref: "r_2", reference: "re_1" }, "new_1", true],
    [abandoned, { ref: "r_2", reference: "re_1", status: "failed" }, "re_1", false],
    [{}, { ref: "r_2", reference: "re_unknown" }, "new_1", false],
    [unsent, { ref: "", reference: "", status: "failed" }, "new_1", false],
  ];
  for (const [known, report, id, unasked] of cases) {
    const { refunds } = settleIntent(
      { refunds: [refund(known)], state: refunded(300n) },
      { refunds: [reported(report)] },
    );
    const [name, [changed]] = [inspect([known, report]), refunds];
    assert.deepEqual([refunds.length, changed?.refund.id, changed?.refund.unasked], [1, id, unasked], name);
    assert.deepEqual([changed?.isNew, changed?.refund.connectorRef], [id === "new_1", report.ref], name);
  }
});

test("a refund of the dashboard is stored, booked, counted and announced like one of ours", () => {
  const kept = { reason: "x".repeat(255), failureCode: "c", failureMessage: "m", createdAt: later };
  const settled = settleIntent({}, { refunds: [reported({ ...kept, reason: "x".repeat(300) })] });
  assert.equal(settled.state.refundedAmount, 300n);
  assert.equal(booked(settled), "refund_reserved new_1 300, refund_paid new_1 300");
  assert.equal(announced(settled), paidOut("partially_refunded"));
  const row = refund({ ...kept, id: "new_1", connectorRef: "r_9", status: "succeeded" });
  assert.deepEqual(settled.refunds, [{ refund: row, isNew: true, isAcknowledged: false }]);
  const pending = settleIntent({}, { refunds: [reported({ status: "pending" })] });
  assert.deepEqual([announced(pending), pending.isSettled], ["payment.refunded partially_refunded", false]);
});

test("a refund of the dashboard that does not fit waits, and its payment is checked again", () => {
  for (const status of ["pending", "succeeded"] as const) {
    const state = refunded(701n);
    const waits = settleIntent({ state }, { refunds: [reported({ status })] });
    assert.deepEqual([waits.refunds, waits.state, booked(waits), announced(waits)], [[], state, "", ""]);
    assert.deepEqual([waits.needsRecheck, waits.isSettled, waits.ignored.length], [true, false, 1]);
  }
  const fits = settleIntent({ state: refunded(700n) }, { refunds: [reported()] });
  assert.deepEqual([fits.state.refundedAmount, fits.needsRecheck, fits.isSettled], [1_000n, false, true]);
  assert.equal(announced(fits), paidOut("refunded"));
  const none = settleIntent({ state: refunded(1_000n) }, { refunds: [reported({ status: "failed" })] });
  assert.deepEqual([none.state.refundedAmount, booked(none)], [1_000n, ""], "one that failed takes nothing");
  assert.deepEqual([announced(none), none.needsRecheck], ["payment.refund_failed refunded", false]);
});

test("a failed refund restores its amount, before or after its success, and triggers a check for waiting refunds", () => {
  for (const [status, movement] of [
    ["pending", "refund_released re_1 300"],
    ["succeeded", "refund_returned re_1 300"],
  ] as const) {
    const known = { refunds: [refund({ status })], state: refunded(300n) };
    const back = settleRefund(known, { status: "failed", failureCode: "c", failureMessage: "m" });
    assert.deepEqual([back.state.refundedAmount, booked(back)], [0n, movement]);
    assert.equal(announced(back), "payment.refund_failed succeeded");
    assert.deepEqual([back.needsRecheck, back.isSettled], [true, false]);
    assert.deepEqual(back.refunds[0]?.refund, refund({ status: "failed", failureCode: "c", failureMessage: "m" }));
  }
  const abandoned = { refunds: [refund({ connectorRef: "", status: "failed" })] };
  assert.equal(
    announced(settleRefund(abandoned, { reference: "re_1", status: "failed" })),
    "",
    "its failure was announced before",
  );
});

test("a refund is announced once when acknowledged and once when paid, and its operation ends once", () => {
  const state = refunded(300n);
  let ours = refund({ connectorRef: "", acknowledged: false });
  const after = (status: RefundStatus) => {
    const settled = settleRefund({ refunds: [ours], state }, { reference: "re_1", status });
    const [changed] = settled.refunds;
    ours = changed?.refund ?? ours;
    assert.equal(settled.state, state, "its amount was counted when it was reserved");
    assert.deepEqual([settled.needsRecheck, settled.isSettled], [false, status === "succeeded"]);
    return [announced(settled), booked(settled), changed?.isAcknowledged];
  };
  assert.deepEqual(after("pending"), ["payment.refunded partially_refunded", "", true]);
  assert.deepEqual(after("pending"), ["", "", undefined]);
  assert.deepEqual(after("succeeded"), [paidOut("partially_refunded"), "refund_paid re_1 300", false]);
  assert.deepEqual(after("succeeded"), ["", "", undefined]);
});

test("imports a refund that precedes the return of its debit, up to the paid amount", () => {
  const whole = settleIntent({ state: returned }, { refunds: [reported({ amount: 1_000n })] });
  assert.deepEqual([whole.state.refundedAmount, whole.needsRecheck], [1_000n, false]);
  assert.equal(booked(whole), "refund_reserved new_1 1000, refund_paid new_1 1000");
  const more = settleIntent({ state: returned }, { refunds: [reported(), reported({ ref: "r_8", amount: 701n })] });
  assert.deepEqual([more.state.refundedAmount, more.needsRecheck], [300n, true]);
});

test("all open disputes together hold a payment, else all lost ones, in any order of reports", () => {
  const [lost, alsoLost] = [dispute("3", "lost", 250n), dispute("4", "lost", 150n)];
  const free = [dispute("5", "won", 50n), dispute("6", "warning_needs_response", 70n)];
  for (const [reports, ...held] of [
    [[...open, ...free], "open", 500n],
    [[lost, ...open], "open", 500n],
    [[lost, alsoLost, ...free], "lost", 400n],
    [free, "none", 0n],
  ] as const) {
    for (const disputes of [reports, reports.toReversed()]) {
      const settled = settleIntent({}, { disputes });
      assert.deepEqual([...heldBy(settled), settled.disputes.length], [...held, reports.length]);
      assert.equal(settled.isSettled, held[0] !== "open", "an open dispute is asked about until it is decided");
    }
  }
});

test("a decided dispute releases only its own amount", () => {
  const known = { state: disputed, disputes: open };
  const won = settleIntent(known, { disputes: [dispute("1", "won", 310n)] });
  assert.deepEqual([heldBy(won), booked(won)], [["open", 200n], "dispute_released 1 300"], "as much as was held");
  const { dispute_id, dispute_status } = won.announcements[0]?.attributes ?? {};
  assert.deepEqual([dispute_id, dispute_status], ["1", "won"]);
  const both = settleIntent(known, { disputes: [dispute("1", "won", 300n), dispute("2", "lost", 200n)] });
  assert.deepEqual([heldBy(both), booked(both)], [["lost", 200n], "dispute_released 1 300, dispute_lost 2 200"]);
});

test("a dispute of a returned debit holds nothing, and is stored", () => {
  const settled = settleIntent({ state: returned }, { disputes: [dispute("1", "needs_response", 300n)] });
  assert.deepEqual([settled.state, booked(settled), settled.isSettled], [returned, "", true]);
  const { ref, ...kept } = dispute("1", "needs_response", 300n);
  const own = { connectorRef: ref, id: "new_1", evidenceDueAt: undefined, released: true };
  assert.deepEqual(settled.disputes, [{ ...kept, ...own }]);
});

test("only a returned debit releases all open disputes", () => {
  const others = [dispute("3", "won", 100n), dispute("4", "warning_closed", 70n)];
  const known = { state: disputed, disputes: [...open, ...others] };
  const back = settleIntent(known, { facts: [failed] });
  const released = ["dispute_released 1 300", "dispute_released 2 200"];
  const movements = booked(back).split(", ").sort();
  assert.deepEqual(movements, ["capture_returned at_1 1000", ...released, "fee_returned at_1 59"]);
  assert.deepEqual(heldBy(back), ["none", 0n]);
  assert.equal(booked(settleIntent({ ...known, state: back.state }, { facts: [failed] })), "", "it is released once");
  const stays = settleIntent(known, { facts: [succeeded] });
  assert.deepEqual([heldBy(stays), booked(stays)], [["open", 500n], ""]);
});

test("a dispute of a returned debit never holds a later payment", () => {
  const back = settleIntent({ state: disputed, disputes: [dispute("1", "needs_response", 300n)] }, { facts: [failed] });
  assert.deepEqual(back.released, ["1"]);
  const repaid = { ...succeeded, attempt: { ...attempt, ref: "at_2", startedAt: later } };
  const { state } = settleIntent({ state: back.state }, { facts: [repaid] });
  const known = { state, disputes: [{ ...dispute("1", "needs_response", 300n), released: true }] };
  for (const status of ["needs_response", "under_review", "won", "lost"] as const) {
    const again = settleIntent(known, { disputes: [dispute("1", status, 300n)] });
    assert.deepEqual([heldBy(again), booked(again), again.released], [["none", 0n], "", []], status);
  }
});

test("a dispute of a returned debit holds nothing of the next attempt, also if one report contains all", () => {
  const startedAt = new Date("2026-01-01T12:10:00Z");
  const second = { ...succeeded, attempt: { ...attempt, ref: "at_2", startedAt } };
  for (const status of ["needs_response", "lost"] as const) {
    const whole = { facts: [succeeded, failed, second], disputes: [dispute("1", status, 300n)] };
    const settled = settleIntent({ state: untouchedPayment }, whole);
    assert.deepEqual([heldBy(settled), settled.disputes[0]?.released], [["none", 0n], true], status);
    assert.ok(!booked(settled).includes("dispute"), booked(settled));
    const own = { ...dispute("2", status, 300n), openedAt: new Date("2026-01-01T12:15:00Z") };
    const held = settleIntent({ state: settled.state }, { disputes: [own] });
    assert.deepEqual(heldBy(held)[1], 300n, "one of the next payment holds it");
  }
});

test("a dispute opened in the same second as the paying attempt holds its money", () => {
  const declined = { ...failed, attempt: { ...attempt, ref: "at_0" } };
  const paid = { ...succeeded, attempt: { ...attempt, startedAt: new Date("2026-01-01T12:10:00.001Z") } };
  const own = { ...dispute("1", "needs_response", 300n), openedAt: new Date("2026-01-01T12:10:00Z") };
  const settled = settleIntent({ state: untouchedPayment }, { facts: [declined, paid], disputes: [own] });
  assert.deepEqual(heldBy(settled), ["open", 300n]);
});

test("a late success of a returned attempt is ignored in every outcome", () => {
  for (const outcome of ["failed", "canceled", "processing", "requires_action"] as const) {
    const result = settleIntent({ state: { ...returned, outcome } }, { facts: [succeeded] });
    assert.deepEqual([result.state.outcome, booked(result), announced(result)], [outcome, "", ""]);
  }
});

test("an inquiry's amount may grow until money is held; the held amount is released", () => {
  const known = { disputes: [dispute("1", "warning_needs_response", 300n)] };
  const held = settleIntent(known, { disputes: [dispute("1", "needs_response", 1_000n)] });
  assert.deepEqual([heldBy(held), booked(held)], [["open", 1_000n], "dispute_held 1 1000"]);
  assert.equal(held.disputes[0]?.amount, 1_000n);
});

test("a new refund that is twice in one report is one refund with its last status", () => {
  const { refunds, state } = settleIntent({}, { refunds: [reported({ status: "pending" }), reported()] });
  assert.deepEqual(
    refunds.map(({ refund: { id, status }, isNew }) => [id, status, isNew]),
    [["new_1", "succeeded", true]],
  );
  assert.equal(state.refundedAmount, 300n);
});

test("a refused second try does not fail a refund that the processor has", () => {
  const known = { state: refunded(300n), refunds: [refund()] };
  const refused = settleRefund(known, { ref: "", reference: "re_1", status: "failed" });
  assert.deepEqual([refused.state, refused.refunds, booked(refused)], [known.state, [], ""]);
});

test("a payment that has ended is settled; a session's declined payment is not", () => {
  const isEnd = (state: PaymentState) =>
    [true, false].map((isDirect) => settleIntent({ state, isDirect }, {}).isSettled);
  for (const state of [paid, returned, { ...untouchedPayment, outcome: "canceled" } as const]) {
    assert.deepEqual(isEnd(state), [true, true], state.outcome);
  }
  assert.deepEqual(isEnd({ ...untouchedPayment, outcome: "failed" }), [true, false]);
  for (const outcome of ["pending", "requires_action", "processing"] as const) {
    assert.deepEqual(isEnd({ ...untouchedPayment, outcome }), [false, false], outcome);
  }
});

test("every change of status is announced: by its event, else by payment.updated", () => {
  const opened = settleIntent({}, { disputes: [dispute("1", "needs_response", 500n)] });
  assert.equal(announced(opened), "payment.disputed disputed, dispute.created disputed");
  const known = { state: disputed, disputes: [dispute("1", "needs_response", 500n)] };
  const won = settleIntent(known, { disputes: [dispute("1", "won", 500n)] });
  assert.equal(announced(won), "dispute.won succeeded, payment.updated succeeded");
  const moved = settleIntent(known, { disputes: [dispute("1", "under_review", 500n)] });
  assert.equal(announced(moved), "dispute.updated disputed", "the payment stays where it is");
});

test("every event of one change carries the payment's state after it, and its own object", () => {
  const halves = [reported({ amount: 400n }), reported({ ref: "r_8", amount: 600n })];
  const settled = settleIntent({ state: untouchedPayment }, { facts: [succeeded], refunds: halves }, "reconcile");
  assert.equal(
    announced(settled),
    `payment.succeeded succeeded, ${paidOut("partially_refunded")}, ${paidOut("refunded")}`,
  );
  const statusFields = {
    outcome: "succeeded",
    payment_status: "refunded",
    receipt_url: "https://receipt",
    captured_amount: "1000",
  };
  const common = { ...statusFields, path: "reconcile", failed_attempts: "0", card_fingerprint: "fp_1" };
  const about = [
    {},
    ...["new_1", "new_1", "new_2", "new_2"].map((id) => ({ refund_id: id, refund_status: "succeeded" })),
  ];
  for (const [i, own] of about.entries()) assert.deepEqual(settled.announcements[i]?.attributes, { ...common, ...own });
});

test("a decline carries its failure code; a returned debit keeps its session's outcome succeeded", () => {
  const why = (settled: Settlement) => {
    const { failure_code, failed_attempts, outcome, payment_status } = settled.announcements[0]?.attributes ?? {};
    assert.deepEqual([announced(settled), failed_attempts], ["payment.failed failed", "1"]);
    return [failure_code, outcome, payment_status, settled.attempts[0]?.code];
  };
  const [declined, back] = [
    settleIntent({ state: untouchedPayment }, { facts: [failed] }),
    settleIntent({}, { facts: [failed] }),
  ];
  assert.deepEqual(why(declined), ["card_declined", "failed", "failed", "card_declined"]);
  assert.deepEqual(why(back), ["returned", "succeeded", "failed", "returned"]);
});

test("payment.failed has the status failed while a newer attempt is processing", () => {
  const newer: PaymentState = {
    ...untouchedPayment,
    outcome: "processing",
    lastAttemptRef: "at_2",
    lastAttemptAt: later,
  };
  assert.equal(announced(settleIntent({ state: newer }, { facts: [failed] })), "payment.failed failed");
});

test("payment.succeeded is announced by each path, but not again once the payment is refunded or disputed", () => {
  for (const [first, second] of [
    ["confirm", "processor"],
    ["processor", "confirm"],
    ["reconcile", "processor"],
  ] as const) {
    const once = apply(untouchedPayment, succeeded, first);
    assert.equal(
      announced(settleIntent({ state: once }, { facts: [succeeded] }, second)),
      "payment.succeeded succeeded",
    );
    for (const change of [{ refundedAmount: 300n }, { refundedAmount: 1_000n }, { disputeHold: "open" } as const]) {
      const moved = settleIntent({ state: { ...once, ...change } }, { facts: [succeeded] }, second);
      assert.equal(announced(moved), "", `${first}, then ${second}`);
    }
    const whole = { facts: [succeeded], refunds: [reported()] };
    const asOne = settleIntent({ state: untouchedPayment }, whole, second);
    assert.equal(
      announced(asOne),
      `payment.succeeded succeeded, ${paidOut("partially_refunded")}`,
      "a first one never",
    );
  }
});

test("an authorization has no refund status, and a capture below an earlier refund is refunded", () => {
  // Refunded, come back, and paid by another attempt.
  const back = apply(refunded(600n), failed, "processor");
  const again = { ...succeeded, attempt: { ...attempt, ref: "at_2", startedAt: later }, capturedAmount: 0n };
  const held = apply(back, again, "processor");
  const cases = [0n, 400n, 600n, 601n].map((capturedAmount) => {
    return [capturedAmount, statusOf(apply(held, { ...again, capturedAmount }, "processor"))];
  });
  const [none, ...refundedOf] = cases;
  assert.deepEqual(none, [0n, "succeeded"]);
  const wanted = { 400: "refunded", 600: "refunded", 601: "partially_refunded" };
  assert.deepEqual(Object.fromEntries(refundedOf), wanted);
});

test("the status of payment.refunded ignores disputes", () => {
  const settled = settleIntent({ state: disputed }, { refunds: [reported()] });
  assert.equal(settled.announcements[0]?.status, "partially_refunded");
  assert.equal(settled.announcements[0]?.attributes.payment_status, "disputed");
});

test("a repeated report changes nothing, and each part has its reason", () => {
  const update = { facts: [succeeded], refunds: [reported()], disputes: [dispute("1", "needs_response", 300n)] };
  const { state, refunds, disputes } = settleIntent({ state: untouchedPayment }, update);
  const again = settleIntent({ state, refunds: refunds.map((one) => one.refund), disputes }, update);
  assert.equal(again.state, state);
  assert.deepEqual(
    [again.refunds, again.disputes, again.attempts, booked(again), announced(again)],
    [[], [], [], "", ""],
  );
  assert.equal(again.ignored.length, 3);
});

test("a payment that was never made ends with the failure code not_processed", () => {
  const state: PaymentState = { ...untouchedPayment, outcome: "processing", visible: true };
  const ended = applyUpdate(books({ state, isDirect: true }), { kind: "never_made", at: later }, "reconcile", String);
  assert.deepEqual([announced(ended), ended.isSettled], ["payment.failed failed", true]);
  assert.equal(ended.announcements[0]?.attributes.failure_code, "not_processed");
});

test.run();
