// Endpoints over RPC: registration and its bounds, status, deletion, secrets, and what a merchant sees and does with
// deliveries.
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
import { isSignedWith, type Receiver, startReceiver } from "../../harness/receiver.ts";
import { suite } from "../../harness/suite.ts";
import { startWebhookTest, type WebhookTest } from "./service.ts";

const test = suite("webhook endpoints");
let t: WebhookTest;
let receiver: Receiver;

test.before(async () => {
  t = await startWebhookTest({
    WEBHOOK_RETRY_BASE_MS: 60_000,
    WEBHOOK_RETRY_CAP_MS: 3_600_000,
    WEBHOOK_ATTEMPTS_MAX: 78,
  });
  receiver = await startReceiver(t.tls);
});
test.beforeEach(() => receiver.answer({ status: 200 }));
test.after(async () => {
  await t?.stop();
  await receiver?.close();
});

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

test("a new endpoint is active, normalized, with a secret that is told once and stored encrypted", async () => {
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

test("a bad url or event type is refused with its field, and nothing is stored", async () => {
  const owner = newOwner();
  const create = (url: string, types = eventTypes) => t.webhooks.createEndpoint({ ...owner, url, eventTypes: types });
  for (const url of [
    "http://example.com/",
    "https://10.0.0.1/",
    "https://[fe80::1]/",
    "https://a:b@example.com/",
    "nonsense",
  ]) {
    await assert.rejects(create(url), refused("INVALID_BODY", "url"), url);
  }
  await assert.rejects(
    create(receiver.url, ["payment.succeeded", "payment.nonsense"]),
    refused("INVALID_BODY", "event_types[1]"),
  );
  await assert.rejects(create(receiver.url, []), refused("INVALID_BODY", "event_types"));
  assert.deepEqual((await t.webhooks.listEndpoints(owner)).endpoints, []);
});

test("a host that does not resolve may be registered", async () => {
  const { endpoint } = await register(newOwner(), "https://no-such-host.invalid/hook");
  assert.equal(endpoint.status, "active");
});

test("a merchant never has more than 16 endpoints in one environment, whatever runs at once", async () => {
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

test("endpoints of another merchant or environment look like unknown ones", async () => {
  const own = await register();
  for (const owner of [newOwner(), { ...own, environment: 2 as const }]) {
    const key = { merchantId: owner.merchantId, environment: owner.environment, endpointId: own.endpointId };
    const calls = [
      () => t.webhooks.getEndpoint(key),
      () => t.webhooks.updateEndpoint({ ...key, status: "disabled" }),
      () => t.webhooks.updateEndpoint({ ...key, url: `${receiver.url}/taken-over` }),
      () => t.webhooks.deleteEndpoint(key),
      () => t.webhooks.rollEndpointSecret(key),
      () => t.webhooks.listDeliveries(key),
      () => t.webhooks.sendTestEvent(key),
      () => t.webhooks.retryDelivery({ ...key, deliveryId: newId("delivery") }),
      () => t.webhooks.getDelivery({ ...key, deliveryId: newId("delivery") }),
    ];
    for (const call of calls) await assert.rejects(call, refused("NOT_FOUND"), String(call));
  }
});

test("a test event reaches the endpoint whatever it subscribed to", async () => {
  const own = await register();
  const { deliveryId } = await t.webhooks.sendTestEvent(own);
  const request = await receiver.waitFor((r) => r.headers["service-delivery"] === deliveryId);
  assert.equal(request.headers["service-event"], "test.ping");
  assert.match(
    request.body.toString(),
    /^\{"type":"test\.ping","created_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"\}$/,
  );
  assert(isSignedWith(request, own.signingSecret));
  await eventually("the test attempt", async () => {
    const { attempts } = await t.webhooks.listAttempts({ merchantId: own.merchantId, deliveryId });
    return attempts[0]?.trigger === "test" && attempts[0].statusCode === 200;
  });
});

// Proves updateWebhookEndpoint: body
test("disabled stops new deliveries at once and keeps what is pending; active resumes it", async () => {
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

test("what waits goes to an endpoint's new URL, signed as before, and new event types count from then on", async () => {
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
  const unheard = await t.announce({ merchantId: own.merchantId });
  const other = await register();
  const marker = await t.announce({ merchantId: other.merchantId });
  await receiver.waitFor((request) => request.body.includes(marker.paymentId));
  assert.equal((await t.webhooks.listDeliveries(own)).deliveries.length, 1);
  assert(!receiver.received.some((request) => request.body.includes(unheard.paymentId)));
});

test("a change to a URL inside, or to an unknown event type, changes nothing", async () => {
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

test("a disabled endpoint is sent no test event, and is told so", async () => {
  const own = await register();
  await t.webhooks.updateEndpoint({ ...own, status: "disabled" });
  assert.equal((await t.webhooks.sendTestEvent(own)).deliveryId, "");
  assert.deepEqual((await t.webhooks.listDeliveries(own)).deliveries, []);
});

test("deleting an endpoint stops what is pending", async () => {
  const own = await register();
  receiver.answer({ status: 500 });
  await t.announce({ merchantId: own.merchantId });
  await eventually(
    "a failed attempt",
    async () => (await t.webhooks.listDeliveries(own)).deliveries[0]?.attempts === 1,
  );
  await t.webhooks.deleteEndpoint(own);
  await assert.rejects(t.webhooks.deleteEndpoint(own), refused("NOT_FOUND"));
  await eventually("the queue to be empty of it", async () => {
    const rows = await t.db.rows("select id from delivery_queue where endpoint_id = $1", [own.endpointId]);
    return rows.length === 0;
  });
});

test("changes of an endpoint that meet wait for each other: each is done, and none misses it before it is deleted", async () => {
  const own = await register();
  const patches = (round: string) =>
    Array.from({ length: 6 }, (_, i) => t.webhooks.updateEndpoint({ ...own, description: `${round} ${i}` }));
  const begun = await meeting(own.endpointId, () => [...patches("first"), t.webhooks.rollEndpointSecret(own)]);
  for (const change of begun) if (change.status === "rejected") throw change.reason;
  assert.equal(await updates(own.endpointId), 6);

  const last = await meeting(own.endpointId, () => [
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

/** Begins the calls while another change holds the endpoint; none may end before all of them wait for it. */
async function meeting(endpointId: string, begin: () => readonly Promise<unknown>[]) {
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
    assert.equal(ended, 0, "one did not wait");
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

test("after a roll both secrets sign, and the old one alone still verifies", async () => {
  const own = await register();
  const rolled = await t.webhooks.rollEndpointSecret(own);
  assert.notEqual(rolled.signingSecret, own.signingSecret);
  const { deliveryId } = await t.webhooks.sendTestEvent(own);
  const request = await receiver.waitFor((r) => r.headers["service-delivery"] === deliveryId);
  assert(isSignedWith(request, own.signingSecret) && isSignedWith(request, rolled.signingSecret));
  await t.db.rows("update endpoints set previous_until = now() where id = $1", [own.endpointId]);
  await t.webhooks.updateEndpoint({ ...own, status: "disabled" });
  await t.webhooks.updateEndpoint({ ...own, status: "active" });
  const later = await t.webhooks.sendTestEvent(own);
  const second = await receiver.waitFor((r) => r.headers["service-delivery"] === later.deliveryId);
  assert(!isSignedWith(second, own.signingSecret) && isSignedWith(second, rolled.signingSecret));
});

test("secrets that were rolled over and over sign for 24 hours each, at most four beside the current one", async () => {
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
  assert.deepEqual(await signing(), [1, 2, 3, 4, 5], "the oldest makes room");
  await t.db.rows(
    `update earlier_secrets set signs_until = now()
     where signs_until = (select min(signs_until) from earlier_secrets where endpoint_id = $1)`,
    [own.endpointId],
  );
  assert.deepEqual(await signing(), [2, 3, 4, 5], "each has its own end");
  await dropEarlierSecrets(t.db);
  assert.deepEqual(await signing(), [2, 3, 4, 5]);
  const kept = await t.db.rows("select from earlier_secrets where endpoint_id = $1", [own.endpointId]);
  assert.equal(kept.length, 2);
});

test("an endpoint that changes while it is read is read again, and not kept as it was", async () => {
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

test("deliveries are listed newest first, in pages, by state and by type", async () => {
  const own = await register();
  const paymentIds: string[] = [];
  for (let i = 0; i < 5; i++) paymentIds.push((await t.announce({ merchantId: own.merchantId })).paymentId);
  await eventually(
    "five deliveries",
    async () => (await t.webhooks.listDeliveries({ ...own, status: "delivered" })).deliveries.length === 5,
  );
  receiver.answer({ status: 503 });
  const { deliveryId } = await t.webhooks.sendTestEvent(own);
  await eventually(
    "the ping to be refused",
    async () => (await t.webhooks.listDeliveries({ ...own, status: "pending" })).deliveries[0]?.attempts === 1,
  );
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await t.webhooks.listDeliveries({ ...own, pageSize: 2, pageToken });
    assert(page.deliveries.length <= 2);
    seen.push(...page.deliveries.map((d) => d.id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  assert.equal(seen.length, 6);
  assert.deepEqual(seen, [...seen].sort().reverse());
  assert.equal(seen[0], deliveryId);
  const pings = await t.webhooks.listDeliveries({ ...own, eventType: "test.ping" });
  assert.deepEqual(
    pings.deliveries.map((d) => d.id),
    [deliveryId],
  );
  assert.deepEqual((await t.webhooks.listDeliveries({ ...own, status: "failed" })).deliveries, []);
  await assert.rejects(t.webhooks.listDeliveries({ ...own, pageToken: "x" }), refused("INVALID_BODY", "page_token"));
});

// Proves retryWebhookDelivery: response
test("retry makes a delivered, a pending or a failed delivery due now, with a fresh budget", async () => {
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
  // One minute ±10 %; the times are told to the millisecond.
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

test("a retry that is asked for while a send is under way is not lost", async () => {
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

test("the catalogue lists every code once, by category and code", async () => {
  const { eventTypes: catalogue } = await t.webhooks.listEventTypes({});
  const keys = catalogue.map((c) => `${c.category} ${c.code}`);
  assert.deepEqual(keys, [...new Set(keys)].sort());
  assert.equal(keys.length, 23);
});

test.run();
