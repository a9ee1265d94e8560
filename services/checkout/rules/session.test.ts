import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import {
  cancelMeaning,
  decide,
  failedAttemptsMax,
  isExhausted,
  type PaymentFact,
  type PaymentOutcome,
  paymentIdOf,
  type SessionState,
  type SessionStatus,
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
  return { status, paymentStatus, receiptUrl: "", failedAttempts: 0, heardAt: undefined, ...change };
}

function fact(outcome: PaymentOutcome, change: Partial<PaymentFact> = {}): PaymentFact {
  return { outcome, paymentStatus: words[outcome], receiptUrl: "", failedAttempts: 0, at: "now", ...change };
}

/** `status event`, or `-` when nothing changes. */
function outcome(known: SessionState, told: PaymentFact, cancelMeans: "expired" | "canceled" = "canceled"): string {
  const decision = decide(known, told, cancelMeans);
  if (decision.kind === "ignored") return "-";
  return `${decision.state.status} ${decision.event ?? "(silent)"}`;
}

test("every fact in every status does what is decided, and nothing else", () => {
  const table = statuses.map((status) => outcomes.map((o) => outcome(session(status), fact(o))));
  assert.deepEqual(table, [
    // open                    processing                       paid                           canceled
    ["open (silent)", "processing session.processing", "completed session.completed", "canceled session.canceled"],
    ["open session.reopened", "-", "completed session.completed", "canceled session.canceled"],
    ["-", "-", "-", "-"],
    ["-", "-", "completed session.completed", "expired (silent)"],
    ["-", "-", "completed session.completed", "canceled (silent)"],
  ]);
});

test("a canceled intent expires a session whose time was over", () => {
  assert.equal(outcome(session("open"), fact("canceled"), "expired"), "expired session.expired");
  assert.equal(outcome(session("processing"), fact("canceled"), "expired"), "expired session.expired");
});

test("the same fact twice changes nothing the second time", () => {
  for (const status of statuses) {
    for (const o of outcomes) {
      for (const at of ["now", noon, undefined] as const) {
        const first = decide(session(status), fact(o, { at }), "expired");
        if (first.kind === "changed")
          assert.equal(outcome(first.state, fact(o, { at }), "expired"), "-", `${status} ${o}`);
      }
    }
  }
});

test("before the first attempt nothing is said of the payment", () => {
  assert.equal(outcome(session("open"), fact("open", { paymentStatus: "pending" })), "-");
});

test("a decline reopens a processing session when it is the latest word, or counts an attempt more", () => {
  assert.equal(outcome(session("processing"), fact("open", { at: undefined })), "-");
  assert.equal(outcome(session("processing"), fact("open", { at: noon })), "-");
  const counted = fact("open", { at: noon, failedAttempts: 1 });
  assert.equal(outcome(session("processing"), counted), "open session.reopened");
});

test("facts of an earlier attempt or an earlier time change nothing", () => {
  const second = session("open", { paymentStatus: "failed", failedAttempts: 1 });
  assert.equal(outcome(second, fact("processing", { failedAttempts: 0 })), "-");
  const heard = session("completed", { paymentStatus: "refunded", heardAt: noon });
  assert.equal(outcome(heard, fact("paid", { at: before })), "-");
  assert.equal(outcome(heard, fact("paid", { at: after, paymentStatus: "partially_refunded" })), "completed (silent)");
});

test("money that arrived completes the session however late its news is", () => {
  const heard = session("open", { heardAt: noon, failedAttempts: 3 });
  const late = decide(heard, fact("paid", { at: before }), "expired");
  assert(late.kind === "changed");
  assert.deepEqual([late.state.status, late.state.heardAt, late.state.failedAttempts], ["completed", noon, 3]);
});

test("whatever happens in whatever order, a completed session stays completed and has a payment status", () => {
  const anyFact = fc.record({
    outcome: fc.constantFrom(...outcomes),
    failedAttempts: fc.nat(12),
    at: fc.oneof(fc.constant("now" as const), fc.constant(undefined), fc.date({ noInvalidDate: true })),
    cancelMeans: fc.constantFrom("expired" as const, "canceled" as const),
  });
  fc.assert(
    fc.property(fc.array(anyFact, { maxLength: 20 }), (facts) => {
      let known = session("open");
      let wasCompleted = false;
      for (const told of facts) {
        const decision = decide(known, fact(told.outcome, told), told.cancelMeans);
        if (decision.kind === "ignored") continue;
        assert.notDeepEqual({ ...decision.state, heardAt: 0 }, { ...known, heardAt: 0 });
        assert(decision.state.failedAttempts >= known.failedAttempts);
        known = decision.state;
        wasCompleted ||= known.status === "completed";
        if (wasCompleted) assert.equal(known.status, "completed");
        if (known.status === "completed") assert.notEqual(known.paymentStatus, "");
      }
      const paid = facts.some((told) => told.outcome === "paid");
      assert.equal(known.status === "completed", paid);
    }),
  );
});

test("the tenth declined attempt is the last, and only of an open session", () => {
  assert.equal(failedAttemptsMax, 10);
  assert.equal(isExhausted({ status: "open", failedAttempts: 9 }), false);
  assert.equal(isExhausted({ status: "open", failedAttempts: 10 }), true);
  assert.equal(isExhausted({ status: "processing", failedAttempts: 10 }), false);
});

test("a cancellation means expiry when the time is over or the merchant asked for it", () => {
  assert.equal(cancelMeaning({ expiresAt: noon, expiryAsked: false }, before), "canceled");
  assert.equal(cancelMeaning({ expiresAt: noon, expiryAsked: false }, noon), "expired");
  assert.equal(cancelMeaning({ expiresAt: noon, expiryAsked: true }, before), "expired");
});

test("session and payment share the characters of their ids", () => {
  assert.equal(paymentIdOf("cs_0123456789abcdefghjkmnpqrs"), "pay_0123456789abcdefghjkmnpqrs");
});

test.run();
