// From a payment's event to the merchant's endpoint: what is sent, recorded, retried and not sent.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import type { Delivery } from "#proto/webhook/v1/webhook_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { isSignedWith, startReceiver } from "../../harness/receiver.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { listenTo } from "../service-config.ts";
import { quickRetries, startWebhookTest } from "./service.ts";

const test = suite("webhook delivery");

const t = fixture(test, () => startWebhookTest());
const receiver = fixture(test, () => startReceiver(t.tls));
test.beforeEach(() => receiver.answer({ status: 200 }));

interface RegisteredEndpoint {
  owner: { merchantId: string; environment: 1 | 2 };
  id: string;
  signingSecret: string;
}

async function register(
  change: { eventTypes?: string[]; environment?: 1 | 2; merchantId?: string } = {},
): Promise<RegisteredEndpoint> {
  const owner = { merchantId: change.merchantId ?? newId("merchant"), environment: change.environment ?? (1 as const) };
  const eventTypes = change.eventTypes ?? ["payment.succeeded"];
  const { endpoint, signingSecret } = await t.webhooks.createEndpoint({ ...owner, url: receiver.url, eventTypes });
  assert(endpoint);
  return { owner, id: endpoint.id, signingSecret };
}

async function deliveries(to: RegisteredEndpoint): Promise<Delivery[]> {
  return (await t.webhooks.listDeliveries({ ...to.owner, endpointId: to.id })).deliveries;
}

const recorded = (to: RegisteredEndpoint, fits: (delivery: Delivery) => boolean) =>
  eventually("a delivery that fits", async () => (await deliveries(to)).find(fits));
const requests = (text: string) => receiver.received.filter((r) => r.body.includes(text));

test("a payment event reaches a subscribed endpoint with exactly three fields, signed over the raw bytes", async () => {
  const to = await register();
  const { paymentId } = await t.announce({ merchantId: to.owner.merchantId });
  const request = await receiver.waitFor((r) => r.body.includes(paymentId));
  assert.equal(
    request.body.toString(),
    `{"type":"payment.succeeded","payment_id":"${paymentId}","status":"succeeded"}`,
  );
  assert.equal(request.method, "POST");
  assert.equal(request.headers["service-event"], "payment.succeeded");
  assert.equal(request.headers["content-type"], "application/json");
  assert.equal(request.headers["accept-encoding"], "identity");
  assert(isSignedWith(request, to.signingSecret));
  const delivery = await recorded(to, (d) => d.delivered);
  assert.equal(request.headers["service-delivery"], delivery.id);
  assert.deepEqual(
    [delivery.attempts, delivery.statusCode, delivery.lastError, delivery.nextAttemptAt],
    [1, 200, "", undefined],
  );
  assert.deepEqual(Buffer.from(delivery.payload), request.body);
});

test("an event goes only to active endpoints of its merchant and environment that subscribe to its type", async () => {
  const { owner } = await register();
  const merchantId = owner.merchantId;
  const others = [
    await register({ merchantId, environment: 2 }),
    await register({ merchantId, eventTypes: ["payment.failed", "payment.created"] }),
    await register(),
    await register({ merchantId }),
  ];
  const disabled = others[3];
  assert(disabled);
  await t.webhooks.updateEndpoint({ ...disabled.owner, endpointId: disabled.id, status: "disabled" });
  const { paymentId } = await t.announce({ merchantId });
  await receiver.waitFor((r) => r.body.includes(paymentId));
  for (const other of others) assert.deepEqual(await deliveries(other), []);
});

test("an event that is published twice makes one delivery; two events of one payment make two", async () => {
  const to = await register();
  const { merchantId } = to.owner;
  const { paymentId, eventId } = await t.announce({ merchantId });
  await recorded(to, (d) => d.delivered);
  // Another message with the same event, as after a lost acknowledgement.
  await t.announce({ merchantId, paymentId, eventId, messageId: newId("event") });
  await t.announce({ merchantId, paymentId });
  await eventually("two deliveries", async () => (await deliveries(to)).filter((d) => d.delivered).length === 2);
  assert.equal(requests(paymentId).length, 2);
});

// Proves limits: freshness
test("a failed attempt is repeated with the same bytes until it succeeds", async () => {
  const to = await register();
  let refusals = 2;
  receiver.answer(() => ({ status: refusals-- > 0 ? 500 : 204 }));
  const { paymentId } = await t.announce({ merchantId: to.owner.merchantId });
  const delivery = await recorded(to, (d) => d.delivered);
  assert.deepEqual([delivery.attempts, delivery.statusCode, delivery.lastError], [3, 204, ""]);
  const sent = requests(paymentId);
  assert.equal(sent.length, 3);
  assert.equal(new Set(sent.map((r) => r.body.toString("hex"))).size, 1);
  assert(sent.every((r) => isSignedWith(r, to.signingSecret)));
  assert.equal(new Set(sent.map((r) => r.headers["service-delivery"])).size, 1);
});

test("a redirect is a failed attempt and is not followed", async () => {
  const to = await register();
  receiver.answer((r) =>
    r.path === "/elsewhere" ? { status: 200 } : { status: 302, headers: { location: "/elsewhere" } },
  );
  await t.announce({ merchantId: to.owner.merchantId });
  const delivery = await recorded(to, (d) => d.attempts > 0);
  assert.match(delivery.lastError, /^redirect: /);
  assert(delivery.nextAttemptAt || delivery.failed);
  assert.equal(receiver.received.filter((r) => r.path === "/elsewhere").length, 0);
});

test("a delivery fails after its last attempt, keeps its error, and is announced", async () => {
  const announced = await listenTo(t.config, "webhook");
  const to = await register();
  receiver.answer({ status: 410 });
  const { paymentId } = await t.announce({ merchantId: to.owner.merchantId });
  const delivery = await recorded(to, (d) => d.failed);
  assert.equal(delivery.attempts, quickRetries.WEBHOOK_ATTEMPTS_MAX);
  assert.equal(delivery.lastError, "http_410: the endpoint answered 410");
  assert.equal(delivery.nextAttemptAt, undefined);
  assert.equal(requests(paymentId).length, quickRetries.WEBHOOK_ATTEMPTS_MAX);
  const event = await announced.event("delivery.exhausted", delivery.id);
  assert.deepEqual(event.attributes, {
    endpoint_id: to.id,
    endpoint_host: new URL(receiver.url).host,
    event_type: "payment.succeeded",
    last_error: delivery.lastError,
  });
  await announced.stop();
});

test("a malformed event is parked, and others are delivered", async () => {
  const to = await register();
  const { merchantId } = to.owner;
  const bad = await t.announce({ merchantId, paymentId: "pay_../../etc" });
  const good = await t.announce({ merchantId });
  await receiver.waitFor((r) => r.body.includes(good.paymentId));
  const parked = await eventually("it to be parked", async () => {
    const text = "select problem from parked_events where event_id = $1";
    return (await t.db.rows<{ problem: string }>(text, [bad.eventId]))[0];
  });
  assert.deepEqual(parked, { problem: "payment id is invalid" });
});

test("an event of 15 days ago is delivered, an older one than the retention is parked", async () => {
  const to = await register();
  const { merchantId } = to.owner;
  const daysAgo = (days: number) => newId("event", Date.now() - days * 86_400_000);
  const old = await t.announce({ merchantId, eventId: daysAgo(17) });
  const last = await t.announce({ merchantId, eventId: daysAgo(15) });
  await receiver.waitFor((r) => r.body.includes(last.paymentId));
  const parked = await eventually("the old one to be parked", async () => {
    const text = "select problem from parked_events where event_id = $1";
    return (await t.db.rows<{ problem: string }>(text, [old.eventId]))[0];
  });
  assert.deepEqual(parked, { problem: "id is outside the accepted time range" });
});

test("the first attempt starts within a second of the event, also for a new endpoint", async () => {
  // Repeated, since a busy machine may be late; a dispatcher that only polls always is.
  await eventually("a first attempt within a second", async () => {
    const to = await register();
    const announcedAt = Date.now();
    const { paymentId } = await t.announce({ merchantId: to.owner.merchantId });
    const request = await receiver.waitFor((r) => r.body.includes(paymentId));
    return request.at - announcedAt < 1_000;
  });
});

test.run();
