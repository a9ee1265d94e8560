// Stripe's events: believed with its signature (https://docs.stripe.com/webhooks/signature), and read for the intent to
// ask about.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { listPage, scriptedStripe } from "../../../../test/harness/stripe/scripted-stripe.ts";
import { suite } from "../../../../test/harness/suite.ts";
import type { ProcessorAccount } from "../connector.ts";
import { readEvent, readEventPage } from "./event.ts";

const test = suite("Stripe's events");
const ours = { metadata: { tollbooth_payment: "pay_1" } };
const paid = { id: "pi_1", object: "payment_intent", ...ours };
const nowSeconds = () => Math.floor(Date.now() / 1_000);

function event(object: object, members: object = {}) {
  const made = { id: "evt_1", object: "event", type: "payment_intent.succeeded", livemode: false, created: 1_000 };
  return { ...made, data: { object }, ...members };
}

function account(secrets = "whsec_1", environment: Environment = Environment.SANDBOX): ProcessorAccount {
  const names = { id: "mco_1", merchantId: "mer_1", connector: "stripe", externalAccountId: "acct_1" };
  const credentials: ProcessorAccount["credentials"] = { webhook_secret: secrets };
  return { ...names, environment, surface: "embedded", credentials, refundsEnabled: true };
}

function sign(body: string, secret = "whsec_1", seconds = nowSeconds()): string {
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
}

/** The intent to ask about; a Failure's reason where the event is refused. */
function outcome(body: string, header: string | undefined, receiver = account()): string {
  const { sdk } = scriptedStripe(() => assert.fail("nothing is asked"));
  const headers = header === undefined ? {} : { "stripe-signature": header };
  try {
    return readEvent(sdk, receiver, Buffer.from(body), headers).intentRef;
  } catch (error) {
    return error instanceof Error && "reason" in error ? String(error.reason) : assert.fail(String(error));
  }
}

const body = JSON.stringify(event(paid));

test("accepts an event only with a signature of the account's secrets over its exact bytes", () => {
  assert.equal(outcome(body, sign(body)), "pi_1");
  assert.equal(outcome(body, sign(body, "whsec_2")), "UNAUTHORIZED", "another secret");
  const rolling = account("whsec_1,whsec_2");
  for (const secret of ["whsec_1", "whsec_2"]) assert.equal(outcome(body, sign(body, secret), rolling), "pi_1");
  assert.equal(outcome(body.replace("pi_1", "pi_2"), sign(body)), "UNAUTHORIZED", "other bytes");
  const forged = sign(body).replace(/^t=\d+/, `t=${nowSeconds() - 1}`);
  for (const header of [undefined, "", "v1=", forged]) assert.equal(outcome(body, header), "UNAUTHORIZED", header);
});

test("rejects a signature older than five minutes", () => {
  assert.equal(outcome(body, sign(body, "whsec_1", nowSeconds() - 240)), "pi_1");
  for (const seconds of [310, 86_400, 365 * 86_400]) {
    assert.equal(outcome(body, sign(body, "whsec_1", nowSeconds() - seconds)), "UNAUTHORIZED", `${seconds} s`);
  }
});

test("an event of the other environment, and a signed body that is no event, are invalid", () => {
  for (const sent of [event(paid, { livemode: true }), { id: "evt_1" }, { object: "v2.core.event", id: "evt_1" }]) {
    const text = JSON.stringify(sent);
    assert.equal(outcome(text, sign(text)), "INVALID_BODY", text);
  }
});

test("marks objects without our reference as unclaimed, except refunds and disputes", () => {
  const { sdk } = scriptedStripe(() => assert.fail("nothing is asked"));
  const about = (type: string, object: object) => {
    const sent = Buffer.from(JSON.stringify(event(object, { type })));
    const read = readEvent(sdk, account(), sent, { "stripe-signature": sign(String(sent)) });
    return read.intentRef !== "" && read.isUnclaimed ? `known ${read.intentRef}` : read.intentRef;
  };
  const of = { payment_intent: "pi_1" };
  for (const [type, object, intent] of [
    ["payment_intent.succeeded", { id: "pi_1", object: "payment_intent", metadata: {} }, "known pi_1"],
    ["checkout.session.completed", { id: "cs_1", object: "checkout.session", ...ours }, "cs_1"],
    ["checkout.session.completed", { id: "cs_1", object: "checkout.session", metadata: null }, "known cs_1"],
    ["charge.failed", { id: "ch_1", object: "charge", ...of, ...ours }, "pi_1"],
    ["charge.failed", { id: "ch_1", object: "charge", ...of, metadata: {} }, "known pi_1"],
    ["refund.failed", { id: "re_1", object: "refund", ...of, metadata: {} }, "pi_1"],
    ["refund.failed", { id: "re_1", object: "refund", payment_intent: { id: "pi_1" } }, "pi_1"],
    ["refund.failed", { id: "re_1", object: "refund", payment_intent: null }, ""],
    ["charge.dispute.created", { id: "du_1", object: "dispute", ...of }, "pi_1"],
    ["charge.succeeded", { id: "ch_1", object: "charge", ...of, ...ours }, ""],
    ["payout.paid", { id: "po_1", object: "payout" }, ""],
  ] as const) {
    assert.equal(about(type, object), intent, `${type} ${JSON.stringify(object)}`);
  }
});

test("an event names the refund, dispute or failed charge that a current answer contains", async () => {
  const failed = { ...paid, last_payment_error: { charge: "ch_1" } };
  const objects = [{ id: "re_1", object: "refund" }, { id: "du_1", object: "dispute" }, failed, paid];
  const events = objects.map((object, i) => event(object, { id: `evt_${i}` }));
  const { sdk } = scriptedStripe(() => ({ body: listPage(events) }));
  const page = await readEventPage(sdk, {}, new Date(0), "");
  assert.deepEqual(
    page.events.map(({ objectRef }) => objectRef),
    ["re_1", "du_1", "ch_1", ""],
  );
});

test("an event of a failure without a charge is forgettable", () => {
  const { sdk } = scriptedStripe(() => assert.fail("nothing is asked"));
  const unauthenticated = { code: "payment_intent_authentication_failure" };
  for (const [type, error, forgettable] of [
    ["payment_failed", unauthenticated, true],
    ["payment_failed", { code: "card_declined", charge: "ch_1" }, false],
    ["payment_failed", null, false],
    // Only repeats it: the list of tries never shows this event, and waiting for it would refuse it.
    ["canceled", unauthenticated, false],
  ] as const) {
    const text = JSON.stringify(event({ ...paid, last_payment_error: error }, { type: `payment_intent.${type}` }));
    const headers = { "stripe-signature": sign(text) };
    assert.equal(readEvent(sdk, account(), Buffer.from(text), headers).isForgettable, forgettable);
  }
});

test.run();
