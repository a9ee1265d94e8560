// The Stripe connector counts payment attempts by charge, and an attempt that ended before its charge by Stripe's
// events.
import assert from "node:assert/strict";
import type { IntentFact } from "../../services/payments/rules/payment.ts";
import { suite } from "../harness/suite.ts";
import { factKinds, valueIn } from "./contract.ts";
import { patientMs, type StripeRig, StripeShop, startStripeRig } from "./stripe-rig.ts";

const test = suite("Stripe: attempts", { timeoutMs: 20_000 });
let rig: StripeRig;
const shop = new StripeShop(() => rig);

test.beforeEach(async () => {
  rig = await startStripeRig(patientMs);
});
test.afterEach(() => rig.stop());

const secure = "pm_card_authenticationRequired";
const refs = (facts: readonly IntentFact[]) =>
  facts.map((fact) => (fact.kind === "intent_canceled" ? fact.kind : `${fact.kind} ${fact.attempt.ref}`));
/** The buyer fails the bank's challenge. @returns the payment method, to be tried again */
function failChallenge(ref: string, card = secure): string {
  const method = rig.stripe.pay(ref, card).payment_method ?? "";
  rig.stripe.decide(ref, "fail");
  return method;
}
/** The intent as read for the newest event of a failure, or for this one. */
async function readForEvent(ref: string, eventId?: string) {
  const newest = rig.stripe.events.findLast(({ type }) => type === "payment_intent.payment_failed");
  return valueIn(await rig.connector.retrieveIntent(rig.account, ref, eventId ?? newest?.id));
}
const isAscending = (facts: readonly IntentFact[]) => {
  const times = facts.flatMap((fact) => (fact.kind === "intent_canceled" ? [] : [fact.attempt.startedAt.getTime()]));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
};

test("a challenge is asked for, failing it is a failed attempt without a charge, passing it pays", async () => {
  const { report } = await shop.created();
  rig.stripe.pay(report.ref, secure);
  assert.deepEqual(refs((await shop.read(report.ref)).facts), [`action_required ${report.ref}/1`]);
  rig.stripe.decide(report.ref, "fail");
  const [failed] = (await shop.read(report.ref)).facts;
  assert.ok(failed?.kind === "attempt_failed" && failed.code === "payment_intent_authentication_failure");
  rig.stripe.pay(report.ref, secure);
  rig.stripe.decide(report.ref, "pass");
  const [paid] = (await shop.read(report.ref)).facts;
  assert.ok(paid?.kind === "attempt_succeeded");
  const { threeDsResult, threeDsVersion, riskScore } = paid.attempt.verification ?? {};
  assert.deepEqual([threeDsResult, threeDsVersion, riskScore], ["authenticated", "2.2.0", 12]);
  assert.match(paid.receiptUrl, /^https:\/\/pay\.stripe\.com\//);
  assert.equal(paid.authorizationCode, "A1B2C3");
});

test("one payment method that fails its challenge three times is three failed attempts", async () => {
  const { report } = await shop.created();
  const method = failChallenge(report.ref);
  for (let i = 0; i < 2; i++) assert.equal(failChallenge(report.ref, method), method);
  const { facts } = await shop.read(report.ref);
  assert.deepEqual(
    refs(facts),
    [1, 2, 3].map((k) => `attempt_failed ${report.ref}/${k}`),
  );
  isAscending(facts);
});

test("a failed challenge is found by its event after a later decline or payment", async () => {
  for (const card of ["pm_card_chargeDeclined", "pm_card_visa"]) {
    const { report } = await shop.created();
    failChallenge(report.ref);
    rig.stripe.pay(report.ref, card);
    assert.equal(refs((await shop.read(report.ref)).facts).length, 1, "the intent has forgotten it");
    const { facts } = await readForEvent(report.ref);
    assert.equal(refs(facts)[0], `attempt_failed ${report.ref}/1`);
    assert.equal(facts.length, 2);
    isAscending(facts);
  }
});

test("two failed challenges and a decline within one second are three attempts as soon as Stripe's list shows their events", async () => {
  const { report } = await shop.created();
  rig.stripe.lagMs = 600_000;
  const seen = new Set<string>();
  const see = (facts: readonly IntentFact[]) => refs(facts).forEach((ref) => seen.add(ref));
  for (let i = 0; i < 2; i++) {
    failChallenge(report.ref);
    const early = await readForEvent(report.ref);
    assert.equal(early.isBehind, true, "the first and the second look alike");
    see(early.facts);
  }
  const failures = rig.stripe.events.filter(({ type }) => type === "payment_intent.payment_failed");
  rig.stripe.pay(report.ref, "pm_card_chargeDeclined");
  see((await shop.read(report.ref)).facts);
  assert.equal(seen.size, 2, "without another read one is lost");
  rig.stripe.lagMs = 0;
  for (const { id } of failures) {
    const { facts, isBehind } = await readForEvent(report.ref, id);
    assert.equal(isBehind, undefined);
    see(facts);
  }
  assert.equal(seen.size, 3);
});

test("a debit that is returned after it had succeeded is the failure of that attempt, when it was returned and why", async () => {
  const { report } = await shop.created();
  const now = rig.stripe.now();
  rig.stripe.asOf(now - 5 * 86_400, () => {
    rig.stripe.pay(report.ref, "pm_card_asynchronous");
    rig.stripe.decide(report.ref, "pass");
  });
  const [succeeded] = (await shop.read(report.ref)).facts;
  assert.ok(succeeded?.kind === "attempt_succeeded");
  rig.stripe.returnCharge(report.ref, "account_closed");
  const { facts } = await shop.read(report.ref);
  const [failed] = facts;
  assert.ok(failed?.kind === "attempt_failed" && facts.length === 1, factKinds({ ...report, facts }).join());
  assert.deepEqual([failed.attempt.ref, failed.code], [succeeded.attempt.ref, "account_closed"]);
  assert.ok(failed.at.getTime() >= now * 1_000, "not when the debit was made");
});

test.run();
