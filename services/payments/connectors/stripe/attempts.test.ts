// Attempts by Stripe's charges, intent and events together.
import assert from "node:assert/strict";
import type Stripe from "stripe";
import { suite } from "../../../../test/harness/suite.ts";
import type { IntentFact } from "../../rules/payment.ts";
import { factsOf, hasTriesWithoutCharge, type TryEvent } from "./attempts.ts";

const test = suite("attempts at Stripe");
const code = "payment_intent_authentication_failure";
/** Of a challenge that the buyer failed: there is no charge. */
const challenge = { type: "invalid_request_error", code, message: "not authenticated" };

function intent(change: object = {}): Stripe.PaymentIntent {
  const made = { id: "pi_1", amount: 1_000, currency: "eur", status: "requires_payment_method", created: 900 };
  return { ...made, last_payment_error: null, payment_method: null, ...change } as unknown as Stripe.PaymentIntent;
}

function charge(change: object = {}): Stripe.Charge {
  const money = { amount: 1_000, amount_captured: 0, currency: "eur", captured: false };
  const made = { id: "ch_1", created: 1_000, status: "failed", failure_code: "card_declined", ...money };
  return { ...made, failure_balance_transaction: null, ...change } as unknown as Stripe.Charge;
}

/** An event of a failure. @param chargeId of the declined charge */
function makeTry(at: number, chargeId?: string): TryEvent {
  return { at, error: { ...challenge, ...(chargeId && { charge: chargeId }) } as unknown as TryEvent["error"] };
}

const refs = (facts: readonly IntentFact[]) =>
  facts.map((fact) => (fact.kind === "intent_canceled" ? fact.kind : `${fact.kind} ${fact.attempt.ref}`));

test("a declined charge that is also an event is one attempt", () => {
  const shown = { last_payment_error: { ...challenge, charge: "ch_1" } };
  assert.deepEqual(refs(factsOf(intent(shown), [charge()], [makeTry(1_000, "ch_1")])), ["attempt_failed ch_1"]);
});

test("a capture has the time of its balance transaction", () => {
  const at = (change: object) => {
    const paid = charge({ status: "succeeded", failure_code: null, captured: true, amount_captured: 400, ...change });
    const [fact] = factsOf(intent({ status: "succeeded" }), [paid], []);
    return fact?.kind === "attempt_succeeded" && [fact.authorizedAt.getTime(), fact.capturedAt?.getTime()];
  };
  assert.deepEqual(at({ balance_transaction: { id: "txn_1", created: 5_000 } }), [1_000_000, 5_000_000]);
  assert.deepEqual(at({ balance_transaction: "txn_1" }), [1_000_000, 1_000_000]);
});

test("an open attempt follows the failed ones and began with its challenge", () => {
  const tries = [{ at: 950, error: undefined }, makeTry(1_000), { at: 1_100, error: undefined }];
  const facts = factsOf(intent({ status: "requires_action" }), [], tries);
  assert.deepEqual(refs(facts), ["attempt_failed pi_1/1", "action_required pi_1/2"]);
  const [, open] = facts;
  assert.equal(open?.kind === "action_required" && open.attempt.startedAt.getTime(), 1_100_000);
});

test("a processing debit is one attempt, by its charge or its number", () => {
  const processing = intent({ status: "processing" });
  assert.deepEqual(refs(factsOf(processing, [charge({ status: "pending" })], [])), ["processing_started ch_1"]);
  assert.deepEqual(refs(factsOf(processing, [], [])), ["processing_started pi_1/1"]);
});

test("no attempt begins before the previous one", () => {
  const newestFirst = [charge({ id: "ch_2", created: 1_001 }), charge()];
  const facts = factsOf(intent({ last_payment_error: challenge }), newestFirst, []);
  const began = facts.map((fact) => (fact.kind === "attempt_failed" ? fact.attempt.startedAt.getTime() : 0));
  assert.deepEqual(
    began,
    began.toSorted((a, b) => a - b),
  );
  assert.deepEqual(refs(facts), ["attempt_failed ch_1", "attempt_failed ch_2", "attempt_failed pi_1/1"]);
});

test("events are read only if an attempt may have no charge", () => {
  const declined = { last_payment_error: { ...challenge, charge: "ch_1" }, latest_charge: "ch_1" };
  for (const [change, expected] of [
    [{}, false],
    [{ status: "succeeded", latest_charge: "ch_1" }, false],
    [declined, false],
    [{ last_payment_error: challenge }, true],
    [{ status: "requires_action" }, true],
    [{ status: "processing", latest_charge: null }, true],
    [{ status: "processing", latest_charge: "ch_1" }, false],
  ] as const) {
    assert.equal(hasTriesWithoutCharge(intent(change)), expected, JSON.stringify(change));
  }
});

test.run();
