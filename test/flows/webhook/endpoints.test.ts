// Webhook endpoints over RPC: registration and its limits, status, deletion, secrets, and retries of deliveries.
import assert from "node:assert/strict";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Sql } from "#platform/database/database.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { EndpointCache } from "../../../services/webhook/sender/endpoint-cache.ts";
import { dropEarlierSecrets } from "../../../services/webhook/store/endpoints.ts";
import { eventually } from "../../harness/eventually.ts";
import { isSignedWith, startReceiver } from "../../harness/receiver.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { startWebhookTest } from "./service.ts";

const test = suite("webhook endpoints");

const t = fixture(test, () =>
  startWebhookTest({
    WEBHOOK_RETRY_BASE_MS: 60_000,
    WEBHOOK_RETRY_CAP_MS: 3_600_000,
    WEBHOOK_ATTEMPTS_MAX: 78,
  }),
);
const receiver = fixture(test, () => startReceiver(t.tls));
test.beforeEach(() => receiver.answer({ status: 200 }));

type Owner = { merchantId: string; environment: 1 | 2 };
const newOwner = (): Owner => ({ merchantId: newId("merchant"), environment: 1 });
const eventTypes = ["payment.succeeded"];

async function register(owner = newOwner(), url = receiver.url) {
  const { endpoint, signingSecret } = await t.webhooks.createEndpoint({
    ...owner,
    url,
    eventTypes,
    description: "shop",
  });
  assert(endpoint);
  return { ...owner, endpointId: endpoint.id, signingSecret, endpoint };
}

const refused = (reason: string, field?: string) => (error: unknown) =>
  error instanceof Failure &&
  error.reason === reason &&
  (field === undefined || error.violations.some((v) => v.field === field));

test("a new endpoint is active with a normalized URL and a secret that is shown once and stored encrypted", async () => {
  const owner = newOwner();
  const created = await t.webhooks.createEndpoint({
    ...owner,
    url: `${receiver.url.toUpperCase().replace("HTTPS", "https")}/a/../b`,
    eventTypes: ["payment.failed", "payment.succeeded", "payment.failed"],
  });
  assert.equal(created.endpoint?.url, `${receiver.url}/b`);
  assert.deepEqual(created.endpoint?.eventTypes, ["payment.failed", "payment.succeeded"]);
  assert.equal(created.endpoint?.status, "active");
  assert.match(created.signingSecret, /^whsec_[A-Za-z0-9_-]{43}$/);
  const [row] = await t.db.rows<{ text: string }>("select e::text as text from endpoints e where id = $1", [
    created.endpoint.id,
  ]);
  assert(row && !row.text.includes(Buffer.from(created.signingSecret).toString("hex")));
  const { endpoints } = await t.webhooks.listEndpoints(owner);
  assert.deepEqual(endpoints, [created.endpoint]);
});

test("a merchant has at most 16 endpoints in one environment, also under concurrent registrations", async () => {
  const owner = newOwner();
  const results = await Promise.allSettled(Array.from({ length: 24 }, () => register(owner)));
  const made = results.flatMap((r) => (r.status === "fulfilled" ? [r.value] : []));
  const errors = results.flatMap((r) => (r.status === "rejected" ? [r.reason] : []));
  assert.equal(made.length, 16);
  assert(errors.every(refused("INVALID_BODY", "url")));
  assert.equal((await t.webhooks.listEndpoints(owner)).endpoints.length, 16);
  await register({ ...owner, environment: 2 });
  const [first] = made;
  assert(first);
  await t.webhooks.deleteEndpoint({ ...owner, endpointId: first.endpointId });
  await register(owner);
});

// Proves updateWebhookEndpoint: body
test("disabling stops new deliveries immediately and keeps pending ones; activating resumes them", async () => {
  const own = await register();
  receiver.answer({ status: 500 });
  const { paymentId } = await t.announce({ merchantId: own.merchantId });
  const pending = await eventually("a failed attempt", async () => {
    const { deliveries } = await t.webhooks.listDeliveries(own);
    return deliveries.find((d) => d.attempts === 1);
  });
  receiver.answer({ status: 200 });
  await t.webhooks.updateEndpoint({ ...own, status: "disabled" });
  await t.webhooks.updateEndpoint({ ...own, status: "disabled" });
  const missed = await t.announce({ merchantId: own.merchantId });
  await t.webhooks.retryDelivery({ ...own, deliveryId: pending.id });
  const other = await register();
  const marker = await t.announce({ merchantId: other.merchantId });
  await receiver.waitFor((r) => r.body.includes(marker.paymentId));
  assert.equal(receiver.received.filter((r) => r.body.includes(missed.paymentId)).length, 0);
  assert.equal(receiver.received.filter((r) => r.body.includes(paymentId)).length, 1);
  await t.webhooks.updateEndpoint({ ...own, status: "active" });
  await eventually("the pending delivery to go on", async () => {
    const { deliveries } = await t.webhooks.listDeliveries(own);
    return deliveries.length === 1 && deliveries[0]?.delivered;
  });
});

test("pending deliveries go to an endpoint's new URL, and new event types apply from then on", async () => {
  const own = await register();
  receiver.answer({ status: 500 });
  const { paymentId } = await t.announce({ merchantId: own.merchantId });
  const pending = await eventually("a failed attempt", async () => {
    const { deliveries } = await t.webhooks.listDeliveries(own);
    return deliveries.find(({ attempts }) => attempts === 1);
  });
  receiver.answer({ status: 200 });
  const change = { url: `${receiver.url}/moved`, eventTypes: ["payment.failed"], description: "Shop" };
  const { endpoint } = await t.webhooks.updateEndpoint({ ...own, ...change });
  assert.deepEqual(
    [endpoint?.url, endpoint?.eventTypes, endpoint?.description, endpoint?.status],
    [change.url, ["payment.failed"], "Shop", "active"],
  );
  await t.webhooks.retryDelivery({ ...own, deliveryId: pending.id });
  const moved = await receiver.waitFor((request) => request.path === "/moved");
  assert(moved.body.includes(paymentId) && isSignedWith(moved, own.signingSecret));
  const unwanted = await t.announce({ merchantId: own.merchantId });
  const other = await register();
  const marker = await t.announce({ merchantId: other.merchantId });
  await receiver.waitFor((request) => request.body.includes(marker.paymentId));
  assert.equal((await t.webhooks.listDeliveries(own)).deliveries.length, 1);
  assert(!receiver.received.some((request) => request.body.includes(unwanted.paymentId)));
});

test("a change to an internal URL or an unknown event type is refused as a whole", async () => {
  const own = await register();
  const before = await t.webhooks.getEndpoint(own);
  const wrong: [string, { url?: string; status?: string; eventTypes?: string[]; description?: string }][] = [
    ["url", { url: "https://169.254.169.254/latest" }],
    ["url", { url: "http://shop.example.com/" }],
    ["url", { url: "https://10.0.0.1/", status: "disabled" }],
    ["event_types[1]", { eventTypes: ["payment.failed", "payment.invented"], description: "x" }],
  ];
  for (const [field, change] of wrong)
    await assert.rejects(t.webhooks.updateEndpoint({ ...own, ...change }), refused("INVALID_BODY", field));
  assert.deepEqual(await t.webhooks.getEndpoint(own), before);
});

test("deleting an endpoint stops its pending deliveries", async () => {
  const own = await register();
  receiver.answer({ status: 500 });
  await t.announce({ merchantId: own.merchantId });
  await eventually(
    "a failed attempt",
    async () => (await t.webhooks.listDeliveries(own)).deliveries[0]?.attempts === 1,
  );
  await t.webhooks.deleteEndpoint(own);
  await assert.rejects(t.webhooks.deleteEndpoint(own), refused("NOT_FOUND"));
  await eventually("its deliveries to leave the queue", async () => {
    const rows = await t.db.rows("select id from delivery_queue where endpoint_id = $1", [own.endpointId]);
    return rows.length === 0;
  });
});

test("concurrent changes of an endpoint wait for each other, and none fails before it is deleted", async () => {
  const own = await register();
  const patches = (round: string) =>
    Array.from({ length: 6 }, (_, i) => t.webhooks.updateEndpoint({ ...own, description: `${round} ${i}` }));
  const begun = await runConcurrently(own.endpointId, () => [...patches("first"), t.webhooks.rollEndpointSecret(own)]);
  for (const change of begun) if (change.status === "rejected") throw change.reason;
  assert.equal(await updates(own.endpointId), 6);

  const last = await runConcurrently(own.endpointId, () => [
    ...patches("second"),
    t.webhooks.rollEndpointSecret(own),
    t.webhooks.deleteEndpoint(own),
  ]);
  assert.equal(last.at(-1)?.status, "fulfilled");
  for (const change of last) assert(change.status === "fulfilled" || refused("NOT_FOUND")(change.reason));
  await assert.rejects(t.webhooks.getEndpoint(own), refused("NOT_FOUND"));
  const done = last.slice(0, 6).filter(({ status }) => status === "fulfilled").length;
  assert.equal(await updates(own.endpointId), 6 + done);
});

/** Starts the calls while the endpoint is locked; all must wait for the lock. */
async function runConcurrently(endpointId: string, begin: () => readonly Promise<unknown>[]) {
  let calls: readonly Promise<unknown>[] = [];
  await t.db.transaction(async (tx) => {
    await tx.rows("select from endpoints where id = $1 for update", [endpointId]);
    let ended = 0;
    calls = begin();
    for (const call of calls) void call.catch(() => {}).then(() => ended++);
    await eventually("all of them to wait", async () => {
      const waiting = await t.db.rows(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and query like '%endpoints%'`,
      );
      return ended > 0 || waiting.length === calls.length;
    });
    assert.equal(ended, 0, "a call did not wait");
  });
  return await Promise.allSettled(calls);
}

async function updates(endpointId: string): Promise<number> {
  const rows = await t.db.rows(
    "select 1 from outbox where subject like '%endpoint.updated' and strpos(encode(body, 'escape'), $1) > 0",
    [endpointId],
  );
  return rows.length;
}

test("repeatedly rolled secrets sign for 24 hours each, at most four in addition to the current one", async () => {
  const own = await register();
  const secrets = [own.signingSecret];
  const roll = async () => void secrets.push((await t.webhooks.rollEndpointSecret(own)).signingSecret);
  const signing = async () => {
    await t.webhooks.updateEndpoint({ ...own, status: "disabled" });
    await t.webhooks.updateEndpoint({ ...own, status: "active" });
    const { deliveryId } = await t.webhooks.sendTestEvent(own);
    const request = await receiver.waitFor((r) => r.headers["service-delivery"] === deliveryId);
    return secrets.map((secret, index) => (isSignedWith(request, secret) ? index : -1)).filter((index) => index >= 0);
  };
  for (let rolls = 1; rolls <= 4; rolls++) await roll();
  assert.deepEqual(await signing(), [0, 1, 2, 3, 4]);
  await roll();
  assert.deepEqual(await signing(), [1, 2, 3, 4, 5], "the oldest is dropped");
  await t.db.rows(
    `update earlier_secrets set signs_until = now()
     where signs_until = (select min(signs_until) from earlier_secrets where endpoint_id = $1)`,
    [own.endpointId],
  );
  assert.deepEqual(await signing(), [2, 3, 4, 5], "each ends by itself");
  await dropEarlierSecrets(t.db);
  assert.deepEqual(await signing(), [2, 3, 4, 5]);
  const kept = await t.db.rows("select from earlier_secrets where endpoint_id = $1", [own.endpointId]);
  assert.equal(kept.length, 2);
});

test("an endpoint that changes while it is cached is read again", async () => {
  const own = await register();
  const [read, roll] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slowly: Sql = {
    rows: async <Row>(text: string, params?: readonly unknown[]) => {
      const rows = await t.db.rows<Row>(text, params);
      read.resolve();
      await roll.promise;
      return rows;
    },
  };
  const vault = new Vault(t.config.ENCRYPTION_KEYS);
  const cache = new EndpointCache({ sql: slowly, vault, log: createLog("test", "error"), allow: [] });
  const first = cache.get(own);
  await read.promise;
  await t.webhooks.rollEndpointSecret(own);
  cache.forget(own.endpointId);
  roll.resolve();
  await first;
  assert.equal((await cache.get(own))?.secrets.length, 2);
});

// Proves retryWebhookDelivery: response
test("a retry makes a delivered, pending or failed delivery due now, with a new budget", async () => {
  const own = await register();
  const { paymentId } = await t.announce({ merchantId: own.merchantId });
  const find = async () => (await t.webhooks.listDeliveries(own)).deliveries[0];
  const delivered = await eventually("the delivery", async () => ((await find())?.delivered ? find() : undefined));
  await t.webhooks.retryDelivery({ ...own, deliveryId: delivered.id });
  const again = await eventually("a second attempt", async () => {
    const delivery = await find();
    return delivery?.delivered && delivery.attempts === 2 ? delivery : undefined;
  });
  assert.deepEqual([again.id, again.createdAt, again.payload], [delivered.id, delivered.createdAt, delivered.payload]);
  assert.equal(receiver.received.filter((r) => r.body.includes(paymentId)).length, 2);
  receiver.answer({ status: 500, body: "not\u0000 now" });
  await t.webhooks.retryDelivery({ ...own, deliveryId: delivered.id });
  const pending = await eventually("a refusal", async () => ((await find())?.attempts === 3 ? find() : undefined));
  assert(pending?.nextAttemptAt && !pending.delivered && !pending.failed);
  const [latest] = (await t.webhooks.listAttempts({ merchantId: own.merchantId, deliveryId: delivered.id })).attempts;
  assert(latest?.startedAt);
  const waitMs = timestampMs(pending.nextAttemptAt) - timestampMs(latest.startedAt) - latest.durationMs;
  // One minute ±10 %; times are in milliseconds.
  assert(waitMs >= 53_990 && waitMs <= 66_010, `${waitMs} ms`);
  receiver.answer({ status: 200 });
  await t.webhooks.retryDelivery({ ...own, deliveryId: delivered.id });
  await eventually("a fourth attempt", async () => (await find())?.delivered && (await find())?.attempts === 4);
  const { attempts } = await t.webhooks.listAttempts({ merchantId: own.merchantId, deliveryId: delivered.id });
  assert.deepEqual(
    attempts.map((a) => [a.trigger, a.statusCode, a.errorCode, a.responseSnippet]),
    [
      ["manual", 200, "", ""],
      ["manual", 500, "http_500", "not  now"],
      ["manual", 200, "", ""],
      ["auto", 200, "", ""],
    ],
  );
  await assert.rejects(t.webhooks.retryDelivery({ ...own, deliveryId: newId("delivery") }), refused("NOT_FOUND"));
  await assert.rejects(
    t.webhooks.listAttempts({ merchantId: newId("merchant"), deliveryId: delivered.id }),
    refused("NOT_FOUND"),
  );
});

test("a retry during an attempt is not lost", async () => {
  const own = await register();
  const { promise: retried, resolve: answerNow } = Promise.withResolvers<void>();
  receiver.answer({ status: 200, after: retried });
  const { paymentId } = await t.announce({ merchantId: own.merchantId });
  await receiver.waitFor((r) => r.body.includes(paymentId));
  const pending = (await t.webhooks.listDeliveries(own)).deliveries[0];
  assert(pending && !pending.delivered);
  await t.webhooks.retryDelivery({ ...own, deliveryId: pending.id });
  answerNow();
  await eventually("two requests", () => receiver.received.filter((r) => r.body.includes(paymentId)).length === 2);
  await eventually("it to be delivered", async () => (await t.webhooks.listDeliveries(own)).deliveries[0]?.delivered);
});

test.run();
