import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import {
  decideSession,
  failedAttemptsMax,
  isExhausted,
  isInProgress,
  isPaymentReadable,
  type PaymentFact,
  type PaymentOutcome,
  paymentIdOf,
  type SessionState,
  type SessionStatus,
  statusIfCanceled,
} from "./session.ts";

const test = suite("session machine");
const statuses: readonly SessionStatus[] = ["open", "processing", "completed", "expired", "canceled"];
const outcomes: readonly PaymentOutcome[] = ["open", "processing", "paid", "canceled"];
const words = { open: "failed", processing: "processing", paid: "succeeded", canceled: "canceled" } as const;
const noon = new Date("2026-01-01T12:00:00Z");
const before = new Date(noon.getTime() - 1);
const after = new Date(noon.getTime() + 1);

function session(status: SessionStatus, change: Partial<SessionState> = {}): SessionState {
  const paymentStatus = status === "completed" ? "succeeded" : status === "processing" ? "processing" : "";
  const silent = {
    receiptUrl: "",
    capturedAmount: undefined,
    failedAttempts: 0,
    paymentVersion: 0n,
    paymentEventAt: undefined,
  };
  return { status, paymentStatus, ...silent, ...change };
}

function fact(outcome: PaymentOutcome, change: Partial<PaymentFact> = {}): PaymentFact {
  const silent = { receiptUrl: "", capturedAmount: undefined, failedAttempts: 0, version: 0n };
  return { outcome, paymentStatus: words[outcome], ...silent, at: "now", ...change };
}

/** `status event`, or `-` when nothing changes. */
function outcome(known: SessionState, report: PaymentFact, ifCanceled: "expired" | "canceled" = "canceled"): string {
  const decision = decideSession(known, report, ifCanceled);
  if (decision.kind === "ignored") return "-";
  return `${decision.state.status} ${decision.event ?? "(silent)"}`;
}

test("applies every fact in every status as specified", () => {
  const table = (report: Partial<PaymentFact>) =>
    statuses.map((status) => outcomes.map((o) => outcome(session(status), fact(o, report))));
  const open = [
    // open                    processing                       paid                           canceled
    ["open (silent)", "processing session.processing", "completed session.completed", "canceled session.canceled"],
    ["open session.reopened", "-", "completed session.completed", "canceled session.canceled"],
  ];
  const closed = [
    ["-", "-", "completed session.completed", "expired (silent)"],
    ["-", "-", "completed session.completed", "canceled (silent)"],
  ];
  assert.deepEqual(table({}), [...open, ["-", "-", "-", "-"], ...closed]);
  // A new version is stored even if nothing else changes; a completed session stays completed.
  const processing = open[1]?.with(1, "processing (silent)");
  const completed = Array.from(outcomes, () => "completed (silent)");
  assert.deepEqual(table({ version: 1n }), [open[0], processing, completed, ...closed]);
});

test("expires a session whose intent is canceled after its time", () => {
  assert.equal(outcome(session("open"), fact("canceled"), "expired"), "expired session.expired");
  assert.equal(outcome(session("processing"), fact("canceled"), "expired"), "expired session.expired");
});

test("ignores a repeated fact", () => {
  for (const status of statuses) {
    for (const o of outcomes) {
      for (const change of [{ at: "now" }, { at: noon }, { at: undefined }, { at: noon, version: 7n }] as const) {
        const first = decideSession(session(status), fact(o, change), "expired");
        if (first.kind === "changed")
          assert.equal(outcome(first.state, fact(o, change), "expired"), "-", `${status} ${o}`);
      }
    }
  }
});

test("has no payment status before the first attempt", () => {
  assert.equal(outcome(session("open"), fact("open", { paymentStatus: "pending" })), "-");
});

test("reopens a processing session on a decline that is newer or counts another attempt", () => {
  assert.equal(outcome(session("processing"), fact("open", { at: undefined })), "-");
  assert.equal(outcome(session("processing"), fact("open", { at: noon })), "-");
  const counted = fact("open", { at: noon, failedAttempts: 1 });
  assert.equal(outcome(session("processing"), counted), "open session.reopened");
});

test("orders facts by version regardless of their times", () => {
  const known = session("completed", { paymentStatus: "succeeded", paymentEventAt: noon, paymentVersion: 3n });
  const refunded = { paymentStatus: "refunded", at: before };
  assert.equal(outcome(known, fact("paid", { ...refunded, version: 4n })), "completed (silent)");
  assert.equal(outcome(known, fact("paid", { ...refunded, version: 3n })), "completed (silent)");
  for (const at of ["now", after, undefined] as const) {
    assert.equal(outcome(known, fact("paid", { paymentStatus: "refunded", at, version: 2n })), "-");
  }
  const waiting = session("processing", { paymentVersion: 3n });
  assert.equal(outcome(waiting, fact("open", { at: undefined, version: 4n })), "open session.reopened");
  assert.equal(outcome(waiting, fact("open", { at: "now", failedAttempts: 1, version: 2n })), "-");
});

test("ignores facts of an earlier attempt or time", () => {
  const second = session("open", { paymentStatus: "failed", failedAttempts: 1 });
  assert.equal(outcome(second, fact("processing", { failedAttempts: 0 })), "-");
  const known = session("completed", { paymentStatus: "refunded", paymentEventAt: noon });
  assert.equal(outcome(known, fact("paid", { at: before })), "-");
  assert.equal(outcome(known, fact("paid", { at: after, paymentStatus: "partially_refunded" })), "completed (silent)");
});

test("completes the session on a payment however late the fact is", () => {
  const known = session("open", { paymentEventAt: noon, failedAttempts: 3 });
  const late = decideSession(known, fact("paid", { at: before }), "expired");
  assert(late.kind === "changed");
  assert.deepEqual([late.state.status, late.state.paymentEventAt, late.state.failedAttempts], ["completed", noon, 3]);
});

test("keeps a completed session completed with a payment status, for facts in any order", () => {
  const anyFact = fc.record({
    outcome: fc.constantFrom(...outcomes),
    failedAttempts: fc.nat(12),
    version: fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 9n })),
    at: fc.oneof(fc.constant("now" as const), fc.constant(undefined), fc.date({ noInvalidDate: true })),
    ifCanceled: fc.constantFrom("expired" as const, "canceled" as const),
  });
  fc.assert(
    fc.property(fc.array(anyFact, { maxLength: 20 }), (facts) => {
      let known = session("open");
      let wasCompleted = false;
      for (const report of facts) {
        const decision = decideSession(known, fact(report.outcome, report), report.ifCanceled);
        if (decision.kind === "ignored") continue;
        assert.notDeepEqual({ ...decision.state, paymentEventAt: 0 }, { ...known, paymentEventAt: 0 });
        assert(decision.state.failedAttempts >= known.failedAttempts);
        known = decision.state;
        wasCompleted ||= known.status === "completed";
        if (wasCompleted) assert.equal(known.status, "completed");
        if (known.status === "completed") assert.notEqual(known.paymentStatus, "");
      }
      const paid = facts.some((report) => report.outcome === "paid");
      assert.equal(known.status === "completed", paid);
    }),
  );
});

/** Facts of a payment's life, oldest first: attempts, an end, then refunds and disputes of a paid one. */
const lives = fc
  .record({
    attempts: fc.array(fc.constantFrom("requires_action", "processing", "failed"), { maxLength: 5 }),
    end: fc.constantFrom("paid", "canceled", "none"),
    after: fc.array(fc.constantFrom("partially_refunded", "refunded", "disputed", "succeeded"), { maxLength: 3 }),
    isReturned: fc.boolean(),
  })
  .map(({ attempts, end, after: later, isReturned }) => {
    let failedAttempts = 0;
    const reports = attempts.map((paymentStatus) => {
      if (paymentStatus === "failed") failedAttempts++;
      return fact(paymentStatus === "processing" ? "processing" : "open", { paymentStatus, failedAttempts });
    });
    if (end === "canceled") reports.push(fact("canceled", { failedAttempts }));
    if (end === "paid") {
      const paid = { failedAttempts, receiptUrl: "receipt" };
      reports.push(fact("paid", paid), ...later.map((paymentStatus) => fact("paid", { ...paid, paymentStatus })));
      if (isReturned) reports.push(fact("open", paid));
    }
    return reports.map((one, index) => ({ ...one, version: BigInt(index + 1), capturedAmount: BigInt(index) }));
  });

test("ends in the state of the newest version for shuffled and repeated facts", () => {
  const disorder = lives.chain((life) =>
    fc.tuple(
      fc.constant(life),
      fc.shuffledSubarray([...life, ...life], { minLength: 2 * life.length }),
      fc.array(fc.constantFrom("now" as const, undefined, before, noon, after), { minLength: 20, maxLength: 20 }),
    ),
  );
  const applyFacts = (facts: readonly PaymentFact[]) =>
    facts.reduce((known, one) => {
      const decision = decideSession(known, one, "expired");
      return decision.kind === "changed" ? decision.state : known;
    }, session("open"));
  fc.assert(
    fc.property(disorder, ([life, shuffled, times]) => {
      const [inOrder, anyOrder] = [applyFacts(life), applyFacts(shuffled.map((one, i) => ({ ...one, at: times[i] })))];
      assert.deepEqual({ ...anyOrder, paymentEventAt: undefined }, { ...inOrder, paymentEventAt: undefined });
      const newest = life.at(-1);
      if (newest) {
        assert.deepEqual([anyOrder.paymentStatus, anyOrder.paymentVersion], [newest.paymentStatus, newest.version]);
        assert.equal(anyOrder.capturedAmount, newest.capturedAmount);
      }
      assert.equal(
        anyOrder.status === "completed",
        life.some((one) => one.outcome === "paid"),
      );
    }),
  );
});

test("is in progress while the processor or the buyer's bank works on an attempt", () => {
  assert.equal(isInProgress({ status: "processing", paymentStatus: "processing" }), true);
  assert.equal(isInProgress({ status: "open", paymentStatus: "requires_action" }), true);
  assert.equal(isInProgress({ status: "open", paymentStatus: "failed" }), false);
  assert.equal(isInProgress({ status: "expired", paymentStatus: "processing" }), false);
});

test("is exhausted after ten declined attempts of an open session", () => {
  assert.equal(failedAttemptsMax, 10);
  assert.equal(isExhausted({ status: "open", failedAttempts: 9 }), false);
  assert.equal(isExhausted({ status: "open", failedAttempts: 10 }), true);
  assert.equal(isExhausted({ status: "processing", failedAttempts: 10 }), false);
});

test("expires on cancellation if overdue or requested by the merchant", () => {
  assert.equal(statusIfCanceled({ expiresAt: noon, expiryRequested: false }, before), "canceled");
  assert.equal(statusIfCanceled({ expiresAt: noon, expiryRequested: false }, noon), "expired");
  assert.equal(statusIfCanceled({ expiresAt: noon, expiryRequested: true }, before), "expired");
});

test("derives the payment's id and its visibility from the session", () => {
  for (const [paymentStatus, failedAttempts, isReadable] of [
    ["", 0, false],
    ["canceled", 0, false],
    ["canceled", 10, true],
    ["failed", 1, true],
    ["requires_action", 0, true],
  ] as const) {
    assert.equal(isPaymentReadable({ status: "open", paymentStatus, failedAttempts }), isReadable, paymentStatus);
  }
  const released = { status: "completed", paymentStatus: "canceled", failedAttempts: 0 } as const;
  assert.equal(isPaymentReadable(released), true, "authorized, never captured");
  assert.equal(paymentIdOf("cs_0123456789abcdefghjkmnpqrs"), "pay_0123456789abcdefghjkmnpqrs");
});

test.run();
