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
  assert.equal(outcome(body.replace("pi_1", "pi_2"), sign(body)), "UNAUTHORIZED", "other bytes");
  const forged = sign(body).replace(/^t=\d+/, `t=${nowSeconds() - 1}`);
  for (const header of [undefined, "", "v1=", forged]) assert.equal(outcome(body, header), "UNAUTHORIZED", header);
});

test("accepts both secrets during a rotation, and none without a secret", () => {
  const rolling = account("whsec_1,whsec_2");
  const of = (secret: string) => outcome(body, sign(body, secret), rolling);
  assert.deepEqual(["whsec_1", "whsec_2", "whsec_3"].map(of), ["pi_1", "pi_1", "UNAUTHORIZED"]);
  assert.equal(outcome(body, sign(body, ""), account("")), "UNAUTHORIZED");
});

test("rejects a signature older than five minutes", () => {
  assert.equal(outcome(body, sign(body, "whsec_1", nowSeconds() - 240)), "pi_1");
  for (const seconds of [310, 86_400, 365 * 86_400]) {
    assert.equal(outcome(body, sign(body, "whsec_1", nowSeconds() - seconds)), "UNAUTHORIZED", `${seconds} s`);
  }
});

test("rejects an event of the other environment", () => {
  for (const livemode of [true, false]) {
    const sent = JSON.stringify(event(paid, { livemode }));
    const [live, sandbox] = [account("whsec_1", Environment.LIVE), account("whsec_1", Environment.SANDBOX)];
    assert.equal(outcome(sent, sign(sent), livemode ? live : sandbox), "pi_1");
    assert.equal(outcome(sent, sign(sent), livemode ? sandbox : live), "INVALID_BODY");
  }
});

test("rejects a signed body that is not an event as invalid", () => {
  for (const sent of ["busy", "{}", "[]", JSON.stringify({ ...event(paid), created: "today" })]) {
    assert.equal(outcome(sent, sign(sent)), "INVALID_BODY", sent);
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

test("reads the event list by pages from a time on, or only its newest page", async () => {
  const { sdk, requests } = scriptedStripe(() => ({
    body: listPage([event(paid), event(paid, { id: "evt_0" })], true),
  }));
  const since = new Date("2026-11-22T10:00:00.700Z");
  assert.equal((await readEventPage(sdk, {}, since, "")).next, "evt_0");
  assert.equal((await readEventPage(sdk, {}, since, "evt_0")).next, "evt_0");
  assert.equal((await readEventPage(sdk, {}, undefined, "")).next, "");
  const windows = requests.map(({ searchParams: query }) => [query.get("created[gte]"), query.get("starting_after")]);
  assert.deepEqual(windows, [
    ["1795341600", null],
    ["1795341600", "evt_0"],
    [null, null],
  ]);
});

test.run();
