// Stripe's objects as facts: what the fake of its API does not play.
import assert from "node:assert/strict";
import type Stripe from "stripe";
import { suite } from "../../../../test/harness/suite.ts";
import { readDispute, readIntent, readRefund } from "./objects.ts";
import { emptyHistory } from "./tries.ts";

const test = suite("Stripe's objects");

function charge(change: Partial<Stripe.Charge> = {}): Stripe.Charge {
  const made = {
    id: "ch_1",
    created: 1_000,
    status: "succeeded",
    captured: true,
    amount: 1_000,
    amount_captured: 1_000,
    currency: "eur",
    ...change,
  };
  return made as Stripe.Charge;
}

function factsOf(intent: Partial<Stripe.PaymentIntent>, charges: Stripe.Charge[]) {
  const made = {
    id: "pi_1",
    amount: 1_000,
    currency: "eur",
    metadata: {},
    status: "succeeded",
    created: 900,
    ...intent,
  };
  const objects = { session: undefined, charges, history: emptyHistory, refunds: [], disputes: [] };
  return readIntent({ ref: "pi_1", intent: made as Stripe.PaymentIntent, ...objects }).facts;
}

test("the captured amount is the reported one, not the ordered one", () => {
  const [fact] = factsOf({}, [charge({ amount_captured: 400 })]);
  assert(fact?.kind === "attempt_succeeded");
  assert.equal(fact.capturedAmount, 400n);
  const [authorized] = factsOf({ status: "requires_capture" }, [charge({ captured: false, amount_captured: 0 })]);
  assert(authorized?.kind === "attempt_succeeded");
  assert.deepEqual([authorized.capturedAmount, authorized.capturedAt], [0n, undefined]);
});

test("an attempt names its method as Stripe does, with the bank account or the wallet", () => {
  const methodOf = (details: object) => {
    const [fact] = factsOf({}, [charge({ payment_method_details: details as Stripe.Charge.PaymentMethodDetails })]);
    return fact?.kind === "attempt_succeeded" ? fact.attempt.method : undefined;
  };
  const card = { brand: "visa", last4: "4242", wallet: { type: "apple_pay" } };
  const debit = { country: "DE", last4: "3000", bank_code: "37040044" };
  assert.deepEqual(methodOf({ type: "card", card }), { type: "card", wallet: "apple_pay" });
  assert.deepEqual(methodOf({ type: "card", card: { ...card, wallet: null } }), { type: "card" });
  assert.deepEqual(methodOf({ type: "sepa_debit", sepa_debit: debit }), {
    type: "sepa_debit",
    bank: { country: "DE", last4: "3000" },
  });
  assert.deepEqual(methodOf({ type: "ideal", ideal: { bank: "ing", iban_last4: "0300" } }), {
    type: "ideal",
    bank: { country: "NL", last4: "0300" },
  });
  assert.deepEqual(methodOf({ type: "klarna", klarna: {} }), { type: "klarna" });
  assert.deepEqual(methodOf({ type: "unheard_of" }), { type: "unheard_of" });
});

test("a released authorization has no capture, and one that Stripe canceled has expired", () => {
  const held = [charge({ captured: false, amount_captured: 0 })];
  for (const reason of ["abandoned", "automatic"]) {
    const [first, end] = factsOf({ status: "canceled", canceled_at: 1_200, cancellation_reason: reason }, held);
    assert.equal(first?.kind === "attempt_succeeded" && first.capturedAmount, 0n);
    const isExpired = reason === "automatic" && { isExpired: true };
    assert.deepEqual(end, { kind: "intent_canceled", at: new Date(1_200_000), ...isExpired });
  }
});

test("attempts are in chronological order, also within a second", () => {
  const failed = (id: string, created: number) => charge({ id, created, status: "failed", captured: false });
  const newestFirst = [
    charge({ id: "ch_4", created: 1_001 }),
    failed("ch_3", 1_000),
    failed("ch_2", 1_000),
    failed("ch_1", 999),
  ];
  const order = factsOf({}, newestFirst).map((fact) => (fact.kind === "intent_canceled" ? "" : fact.attempt.ref));
  assert.deepEqual(order, ["ch_1", "ch_2", "ch_3", "ch_4"]);
});

test("a refund carries our reference, and an open or unknown status is pending", () => {
  const refund = (status: string) => {
    const made = {
      id: "re_1",
      amount: 300,
      currency: "eur",
      created: 1_000,
      status,
      metadata: { tollbooth_refund: "re_ours" },
    };
    return readRefund(made as unknown as Stripe.Refund);
  };
  const statuses = ["succeeded", "failed", "canceled", "pending", "requires_action", "unheard_of"].map(
    (s) => refund(s).status,
  );
  assert.deepEqual(statuses, ["succeeded", "failed", "canceled", "pending", "pending", "pending"]);
  assert.deepEqual([refund("succeeded").reference, refund("succeeded").amount], ["re_ours", 300n]);
});

function dispute(change: Partial<Stripe.Dispute>): Stripe.Dispute {
  const made = {
    id: "dp_1",
    charge: "ch_1",
    amount: 700,
    currency: "eur",
    status: "needs_response",
    reason: "fraudulent",
    created: 1_000,
  };
  return { ...made, evidence_details: { due_by: null }, ...change } as Stripe.Dispute;
}

test("a dispute in another currency is about the whole capture", () => {
  assert.equal(readDispute(dispute({}), [charge()]).amount, 700n);
  const partial = { ...charge(), amount_captured: 300 };
  assert.equal(readDispute(dispute({ amount: 330, currency: "usd" }), [partial]).amount, 300n);
  assert.equal(readDispute(dispute({ amount: 1_100, currency: "usd" }), [charge()]).amount, 1_000n);
});

test("an appealed dispute stays lost, a prevented one holds nothing, an unknown status holds the money", () => {
  const statusOf = (status: string) =>
    readDispute(dispute({ status: status as Stripe.Dispute["status"] }), [charge()]).status;
  const words = ["appeal_needs_response", "appeal_under_review", "prevented", "unheard_of"];
  assert.deepEqual(words.map(statusOf), ["lost", "lost", "warning_closed", "under_review"]);
});

test.run();
