// docs/contract.md §9: webhook endpoints, their deliveries, the catalogue; docs/contract.md §9.
import assert from "node:assert/strict";
import { Webhook as StandardWebhook, WebhookVerificationError } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { eventTypes } from "../../services/webhook/rules/event-types.ts";
import { makePurchase } from "../console/purchases.ts";
import type { Answer } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { isSignedWith, type ReceivedRequest, startReceiver } from "../harness/receiver.ts";
import { fixture } from "../harness/suite.ts";
import { contractSuite } from "./caller.ts";

const { test, running, merchant, api } = contractSuite("webhooks", { timeoutMs: 30_000 });
const receiver = fixture(test, () => startReceiver(running.tls));

const create = (change = {}, as = merchant.apiKey) =>
  api.call("createWebhookEndpoint", 201, {
    as,
    body: { url: `${receiver.url}/hook`, event_types: ["payment.succeeded"], ...change },
  });
const pathOf = (endpoint: Answer) => ({ path: { id: endpoint.text("id") } });

// Proves createWebhookEndpoint: body, response; listWebhookEndpoints: response
test("docs/contract.md §9: the signing secret is in the creation's answer and nowhere else", async () => {
  const created = await create({
    description: "Shop",
    event_types: ["payment.succeeded", "payment.refunded", "payment.succeeded"],
  });
  assert.match(created.text("id"), /^whk_/);
  assert.match(created.text("signing_secret"), /^whsec_[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(
    ["url", "description", "event_types", "environment", "status"].map((name) => created.at(name)),
    [`${receiver.url}/hook`, "Shop", ["payment.succeeded", "payment.refunded"], "sandbox", "active"],
  );
  const list = await api.call("listWebhookEndpoints", 200);
  const listed = list
    .list("data")
    .map(Object)
    .find((each) => each.id === created.at("id"));
  assert.ok(listed && !("signing_secret" in listed) && !("standard_secret" in listed));
  assert.ok(!list.raw.includes("whsec_"));
});

// Proves createWebhookEndpoint: body, errors; limits: url
test("docs/contract.md §9: a bad endpoint is invalid_body, named", async () => {
  const wrong: [string, Record<string, unknown>][] = [
    ["url", { url: "http://shop.example.com" }],
    ["url", { url: "shop.example.com" }],
    ["url", { url: "https://user:pw@shop.example.com" }],
    ["url", { url: "https://shop.example.com/#x" }],
    ["url", { url: "https://10.0.0.1/hook" }],
    ["url", { url: "https://169.254.169.254/latest/meta-data" }],
    ["url", { url: `https://shop.example.com/${"x".repeat(2048)}` }],
    ["url", { url: 7 }],
    ["event_types", { event_types: [] }],
    ["event_types", { event_types: "payment.succeeded" }],
    ["event_types", { event_types: undefined }],
    ["description", { description: "x".repeat(256) }],
    ["environment", { environment: "live" }],
    ["environment", { environment: "production" }],
  ];
  for (const [field, change] of wrong) {
    const body = { url: "https://shop.example.com/hook", event_types: ["payment.succeeded"], ...change };
    const answer = await api.refused("createWebhookEndpoint", 400, "invalid_body", { body });
    assert.equal(answer.at("error.details.0.field"), field, JSON.stringify(change).slice(0, 80));
  }
  const unknown = { url: "https://shop.example.com/hook", event_types: ["payment.invented"] };
  const answer = await api.refused("createWebhookEndpoint", 400, "invalid_body", { body: unknown });
  assert.match(answer.text("error.details.0.field"), /^event_types/);
});

// Proves createWebhookEndpoint: replay, reuse
test("docs/contract.md §6: a repeated registration with its key registers nothing, and hides the secret", async () => {
  const own = await freshMerchant(running);
  const body = { url: `${receiver.url}/hook`, event_types: ["payment.succeeded"] };
  const sent = { as: own.apiKey, body, headers: { "Idempotency-Key": "hook 1" } };
  const register = async () => await own.api.post("/v1/merchants/me/webhooks", body, sent.headers);
  const answers = await Promise.all([1, 2, 3, 4].map(register));
  const [made] = answers.filter(({ status }) => status === 201);
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.ok(answers.every(({ status }) => [200, 201, 409].includes(status)));
  const again = await api.call("createWebhookEndpoint", 200, sent);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  const { signing_secret: secret, standard_secret: standard, ...endpoint } = made?.body ?? {};
  for (const shown of [secret, standard]) assert.match(String(shown), /^whsec_/);
  assert.deepEqual(again.body, endpoint);
  await own.api.patch(`/v1/merchants/me/webhooks/${endpoint.id}`, { status: "disabled" });
  assert.deepEqual((await api.call("createWebhookEndpoint", 200, sent)).body, endpoint, "as it was registered");
  assert.equal((await own.api.get("/v1/merchants/me/webhooks")).list("data").length, 1);
  const other = { ...sent, body: { ...body, description: "x" } };
  await api.refused("createWebhookEndpoint", 422, "idempotency_key_reuse", other);
  const twice = [await register(), await own.api.post("/v1/merchants/me/webhooks", body)];
  assert.deepEqual(
    twice.map(({ status }) => status),
    [200, 201],
    "without the key it is another one, on purpose",
  );
  const wrong = { ...sent, body: { ...body, url: "https://10.0.0.1" }, headers: { "Idempotency-Key": "hook 2" } };
  await api.refused("createWebhookEndpoint", 400, "invalid_body", wrong);
  await api.call("createWebhookEndpoint", 201, { ...wrong, body });
});

test("docs/contract.md §9: at most 16 endpoints of a merchant and environment", async () => {
  const own = await freshMerchant(running);
  for (let i = 0; i < 16; i++) await create({}, own.apiKey);
  const body = { url: `${receiver.url}/hook`, event_types: ["payment.succeeded"] };
  await api.refused("createWebhookEndpoint", 400, "invalid_body", { as: own.apiKey, body });
});

// Proves getWebhookEndpoint: response; updateWebhookEndpoint: body, response, errors
test("docs/contract.md §9: an endpoint's URL, event types and description are changed, alone and together, and read back", async () => {
  const endpoint = await create({ description: "Shop" });
  const record = (await api.call("getWebhookEndpoint", 200, pathOf(endpoint))).body;
  assert.ok(!JSON.stringify(record).includes("whsec_"));
  let wanted = { ...membersOf(record) };
  for (const body of [
    { url: `${receiver.url}/other` },
    { event_types: ["payment.failed"] },
    { description: "" },
    { status: "disabled" },
    { status: "disabled" },
    { status: "active" },
    { url: `${receiver.url}/both`, status: "disabled", description: "Both" },
  ]) {
    const { description, ...rest } = { ...wanted, ...body };
    wanted = description ? { ...rest, description } : rest;
    assert.deepEqual((await api.call("updateWebhookEndpoint", 200, { ...pathOf(endpoint), body })).body, wanted);
  }
  for (const body of [{}, { status: "paused" }, { status: null }])
    await api.refused("updateWebhookEndpoint", 400, "invalid_body", { ...pathOf(endpoint), body });
  for (const [field, body] of [
    ["url", { url: "https://10.0.0.1/hook" }],
    ["url", { url: "" }],
    ["event_types", { event_types: [] }],
    ["event_types[0]", { event_types: ["payment.invented"] }],
    ["description", { description: "x".repeat(256) }],
  ] as const) {
    const answer = await api.refused("updateWebhookEndpoint", 400, "invalid_body", { ...pathOf(endpoint), body });
    assert.equal(answer.at("error.details.0.field"), field);
  }
  for (const [code, meant] of [
    ["payment.success", "did you mean payment.succeeded? "],
    ["<b>", ""],
  ]) {
    const sent = { ...pathOf(endpoint), body: { event_types: [code] } };
    const answer = await api.refused("updateWebhookEndpoint", 400, "invalid_body", sent);
    assert.equal(answer.at("error.details.0.problem"), `is not an event type; ${meant}see /docs/api/events`);
  }
  assert.deepEqual((await api.call("getWebhookEndpoint", 200, pathOf(endpoint))).body, wanted);
});

// Proves testWebhookEndpoint: disabled
test("docs/contract.md §9: a test event for a disabled endpoint is rejected", async () => {
  const endpoint = await create();
  await api.call("updateWebhookEndpoint", 200, { ...pathOf(endpoint), body: { status: "disabled" } });
  assert.deepEqual((await api.call("testWebhookEndpoint", 200, pathOf(endpoint))).body, { sent: false });
});

// Proves retryFailedWebhookDeliveries: response, errors
test("docs/contract.md §9: what failed since a time is sent again by a run, whose progress can be read", async () => {
  const endpoint = await create();
  const body = { since: new Date(Date.now() - 3_600_000).toISOString() };
  const run = await api.call("retryFailedWebhookDeliveries", 200, { ...pathOf(endpoint), body });
  assert.deepEqual([run.at("endpoint_id"), run.at("total")], [endpoint.at("id"), 0]);
  const path = { id: endpoint.text("id"), run_id: run.text("id") };
  await eventually("the run to end", async () => {
    return (await api.call("getWebhookRetryRun", 200, { path })).at("status") === "finished";
  });
  for (const since of ["yesterday", "2025-01-01", ""]) {
    const wrong = { ...pathOf(endpoint), body: { since } };
    await api.refused("retryFailedWebhookDeliveries", 400, "invalid_body", wrong);
  }
  const other = await create();
  const elsewhere = { path: { ...path, id: other.text("id") } };
  await api.refused("getWebhookRetryRun", 404, "not_found", elsewhere);
  const stranger = await freshMerchant(running);
  await api.refused("getWebhookRetryRun", 404, "not_found", { path, as: stranger.apiKey });
});

// Proves testWebhookEndpoint: response; listWebhookDeliveries: response; credentials: signatures
test("docs/contract.md §9: test.ping reaches the endpoint, subscribed or not, signed; its delivery is listed", async () => {
  const endpoint = await create();
  assert.deepEqual((await api.call("testWebhookEndpoint", 200, pathOf(endpoint))).body, { sent: true });
  const received = await receiver.waitFor((request) => request.headers["service-event"] === "test.ping");
  assert.ok(isSignedWith(received, endpoint.text("signing_secret")));
  const delivered = await eventually("the delivery to be recorded", async () => {
    const answer = await api.call("listWebhookDeliveries", 200, {
      ...pathOf(endpoint),
      query: { status: "delivered" },
    });
    return answer.list("data").map(Object)[0];
  });
  assert.deepEqual(
    [delivered.event_type, delivered.attempts, delivered.delivered, delivered.failed, delivered.status_code],
    ["test.ping", 1, true, false, 200],
  );
  assert.deepEqual(delivered.payload, JSON.parse(received.body.toString()));
  assert.equal(delivered.next_attempt_at, undefined);
});

// Proves retryWebhookDelivery: response; getWebhookDelivery: response, errors
test("docs/contract.md §9: a refused delivery is pending with next_attempt_at and last_error, and retry sends it again", async () => {
  const endpoint = await create();
  receiver.answer({ status: 500 });
  await api.call("testWebhookEndpoint", 200, pathOf(endpoint));
  const pending = await eventually("the failed attempt to be recorded", async () => {
    const answer = await api.call("listWebhookDeliveries", 200, { ...pathOf(endpoint), query: { status: "pending" } });
    return answer
      .list("data")
      .map(Object)
      .find((delivery) => delivery.attempts === 1);
  });
  assert.deepEqual([pending.delivered, pending.failed, pending.status_code], [false, false, 500]);
  assert.ok(Date.parse(pending.next_attempt_at) > Date.now());
  assert.ok(pending.last_error);
  receiver.answer({ status: 200 });
  const retry = { path: { id: endpoint.text("id"), delivery_id: String(pending.id) } };
  assert.deepEqual((await api.call("retryWebhookDelivery", 200, retry)).body, { queued: true });
  await eventually("the retried delivery to arrive", async () => {
    const answer = await api.call("listWebhookDeliveries", 200, pathOf(endpoint));
    return answer.list("data").map(Object)[0]?.delivered === true;
  });
  const read = await api.call("getWebhookDelivery", 200, retry);
  assert.deepEqual([read.at("id"), read.at("delivered"), read.at("attempts")], [pending.id, true, 2]);
  const log = read.list("attempt_log").map(membersOf);
  assert.deepEqual(
    log.map(({ trigger, status_code }) => [trigger, status_code]),
    [
      ["manual", 200],
      ["test", 500],
    ],
  );
  for (const { duration_ms, first_byte_ms } of log) assert.ok(Number(duration_ms) >= Number(first_byte_ms));
  const other = await create();
  const elsewhere = { path: { ...retry.path, id: other.text("id") } };
  await api.refused("getWebhookDelivery", 404, "not_found", elsewhere);
});

test("docs/contract.md §9: deliveries are filtered by status and event type, and bounded", async () => {
  const endpoint = await create();
  for (let i = 0; i < 3; i++) await api.call("testWebhookEndpoint", 200, pathOf(endpoint));
  const count = async (query = {}) =>
    (await api.call("listWebhookDeliveries", 200, { ...pathOf(endpoint), query })).list("data").length;
  assert.deepEqual([await count(), await count({ limit: 2 }), await count({ event_type: "test.ping" })], [3, 2, 3]);
  assert.deepEqual([await count({ event_type: "payment.failed" }), await count({ status: "failed" })], [0, 0]);
  for (const query of [{ limit: 201 }, { limit: 0 }, { status: "lost" }, { after: "whd_1" }]) {
    await api.refused("listWebhookDeliveries", 400, "invalid_body", { ...pathOf(endpoint), query });
  }
});

test("docs/contract.md §9: every delivery is reached page by page, newest first, whatever is queued meanwhile", async () => {
  const endpoint = await create();
  const ping = async () => await api.call("testWebhookEndpoint", 200, pathOf(endpoint));
  for (let i = 0; i < 5; i++) await ping();
  const seen: string[] = [];
  for (let hasMore = true; hasMore; await ping()) {
    const query = { limit: 2, ...(seen.length > 0 && { after: seen.at(-1) ?? "" }) };
    const page = await api.call("listWebhookDeliveries", 200, { ...pathOf(endpoint), query });
    seen.push(...page.list("data").map((delivery) => String(membersOf(delivery).id)));
    hasMore = page.at("has_more") === true;
  }
  assert.equal(seen.length, 5);
  assert.deepEqual(seen, [...new Set(seen)].sort().reverse());
});

// Proves listPaymentDeliveries: response, errors; getWebhookEndpointHealth: response, errors
test("docs/contract.md §9: a payment's deliveries to all endpoints are listed, and an endpoint shows its health", async () => {
  const own = await freshMerchant(running);
  const endpoints = [await create({}, own.apiKey), await create({}, own.apiKey)];
  const path = { id: (await makePurchase(running, own)).payment };
  const wanted = new Set(endpoints.map((each) => each.text("id")));
  const found = await eventually("both to be delivered", async () => {
    const { body } = await api.call("listPaymentDeliveries", 200, { as: own.apiKey, path });
    const list = [body.data].flat().map(membersOf);
    const isDone = list.length >= 2 && list.every(({ delivered }) => delivered === true);
    return isDone && list;
  });
  // Announced by the confirm, and possibly again by the processor's report.
  for (const each of found) assert.deepEqual([each.event_type, each.attempts], ["payment.succeeded", 1]);
  assert.deepEqual(new Set(found.map(({ endpoint_id: id }) => String(id))), wanted);
  const [endpoint] = endpoints;
  assert(endpoint);
  const health = (await api.call("getWebhookEndpointHealth", 200, { as: own.apiKey, ...pathOf(endpoint) })).body;
  const { delivered, attempts, ...rest } = health;
  assert.ok(Number(delivered) >= 1 && attempts === delivered, JSON.stringify(health));
  assert.deepEqual(rest, { failed: 0, pending: 0, failed_attempts: 0 });
  await api.refused("listPaymentDeliveries", 404, "not_found", { path });
  await api.refused("getWebhookEndpointHealth", 404, "not_found", pathOf(endpoint));
  const query = { window_seconds: 59 };
  await api.refused("getWebhookEndpointHealth", 400, "invalid_body", { as: own.apiKey, ...pathOf(endpoint), query });
});

test("docs/contract.md §9: a rolled secret signs together with the old one", async () => {
  const endpoint = await create({ url: `${receiver.url}/rolled` });
  const rolled = await api.call("rollWebhookSecret", 200, pathOf(endpoint));
  assert.notEqual(rolled.text("signing_secret"), endpoint.text("signing_secret"));
  assert.equal(rolled.at("id"), endpoint.at("id"));
  await api.call("testWebhookEndpoint", 200, pathOf(endpoint));
  const received = await receiver.waitFor((request) => request.path === "/rolled");
  for (const answer of [endpoint, rolled]) assert.ok(isSignedWith(received, answer.text("signing_secret")));
});

test("docs/contract.md §9: expires_in of a roll limits every replaced secret; with 0 only the new one signs", async () => {
  const endpoint = await create({ url: `${receiver.url}/short` });
  const roll = async (body: object) => await api.call("rollWebhookSecret", 200, { ...pathOf(endpoint), body });
  const signers = async () => {
    const count = receiver.received.length;
    await api.call("testWebhookEndpoint", 200, pathOf(endpoint));
    const isNew = (each: ReceivedRequest) => each.path === "/short" && receiver.received.indexOf(each) >= count;
    return await receiver.waitFor(isNew);
  };
  const first = await roll({});
  const second = await roll({ expires_in: 3_600 });
  const overlapping = await signers();
  for (const answer of [endpoint, first, second]) {
    assert.ok(isSignedWith(overlapping, answer.text("signing_secret")));
  }
  const last = await roll({ expires_in: 0 });
  const alone = await signers();
  assert.ok(isSignedWith(alone, last.text("signing_secret")));
  for (const answer of [endpoint, first, second]) assert.ok(!isSignedWith(alone, answer.text("signing_secret")));
  for (const body of [{ expires_in: -1 }, { expires_in: 86_401 }, { expires_in: "soon" }, { overlap: 1 }])
    await api.refused("rollWebhookSecret", 400, "invalid_body", { ...pathOf(endpoint), body });
});

// Proves replayWebhookEvents: response, errors
test("docs/contract.md §9: an endpoint that was registered later gets earlier events by a replay, each once", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  await makePurchase(running, own);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const ids = async () => {
    const { body } = await api.call("listEvents", 200, { as, query: { type: "payment.succeeded" } });
    return [body.data].flat().map((event) => String(membersOf(event).id));
  };
  // By the confirm, and by the processor's report.
  await eventually("both events", async () => (await ids()).length === 2);
  const endpoint = await create({ url: `${receiver.url}/later` }, as);
  const replay = async () => await api.call("replayWebhookEvents", 200, { as, ...pathOf(endpoint), body: { since } });
  const run = await replay();
  assert.deepEqual([run.at("endpoint_id"), run.at("total")], [endpoint.at("id"), 2]);
  const path = { id: endpoint.text("id"), run_id: run.text("id") };
  await eventually("the run to end", async () => {
    const now = await api.call("getWebhookRetryRun", 200, { as, path });
    return now.at("status") === "finished" && now.at("queued") === 2;
  });
  await eventually("both to be delivered", async () => {
    const { body } = await api.call("listWebhookDeliveries", 200, { as, ...pathOf(endpoint) });
    const list = [body.data].flat().map(membersOf);
    return list.length === 2 && list.every(({ delivered }) => delivered === true);
  });
  assert.equal((await replay()).at("total"), 0);
  for (const body of [
    { since: "yesterday" },
    { until: since },
    { since, until: "2025-01-01" },
    { since, event_types: [] },
    { since, event_types: ["payment.invented"] },
    { since, types: ["payment.succeeded"] },
  ]) {
    await api.refused("replayWebhookEvents", 400, "invalid_body", { as, ...pathOf(endpoint), body });
  }
});

// Proves credentials: signatures
test("docs/contract.md §9: a delivery is verified by standardwebhooks, svix and stripe, also while its secret is rolled", async () => {
  const endpoint = await create({ url: `${receiver.url}/standard` });
  const rolled = await api.call("rollWebhookSecret", 200, pathOf(endpoint));
  await api.call("testWebhookEndpoint", 200, pathOf(endpoint));
  const { headers, body } = await receiver.waitFor((request) => request.path === "/standard");
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
  const spellings = [(name: string) => name, (name: string) => name.toUpperCase()].map((spell) =>
    Object.fromEntries(names.map((name) => [spell(name), String(headers[name])])),
  );
  assert.equal(headers["webhook-id"], headers["service-delivery"]);
  assert.match(String(headers["webhook-signature"]), /^v1,\S+ v1,\S+$/);
  for (const answer of [endpoint, rolled]) {
    const standard = answer.text("standard_secret");
    assert.match(standard, /^whsec_[A-Za-z0-9+/]{43}=$/);
    for (const sent of spellings) {
      for (const library of [new StandardWebhook(standard), new SvixWebhook(standard)]) {
        library.verify(body.toString(), sent);
        assert.throws(() => library.verify(`${body} `, sent), WebhookVerificationError);
      }
    }
    const header = String(headers["service-signature"]);
    const event: unknown = Stripe.webhooks.constructEvent(body, header, answer.text("signing_secret"));
    assert.equal(membersOf(event).type, "test.ping");
  }
});

test("docs/contract.md §9: a delivery carries the trace of the request that caused it", async () => {
  const own = await freshMerchant(running);
  await create({ url: `${receiver.url}/traced`, event_types: ["payment.refunded"] }, own.apiKey);
  const { payment } = await makePurchase(running, own);
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
  (await own.api.post(`/v1/payments/${payment}/refunds`, { amount: 100 }, headers)).expect(201);
  const received = await receiver.waitFor((request) => request.path === "/traced");
  assert.match(String(received.headers.traceparent), new RegExp(`^00-${trace}-[0-9a-f]{16}-[0-9a-f]{2}$`));
});

test("docs/contract.md §9: a deleted endpoint is gone for every operation", async () => {
  const endpoint = await create();
  await api.call("deleteWebhookEndpoint", 204, pathOf(endpoint));
  const list = await api.call("listWebhookEndpoints", 200);
  assert.ok(!list.raw.includes(endpoint.text("id")));
  await nowhere(endpoint.text("id"), merchant.apiKey);
});

// Proves updateWebhookEndpoint: errors; retryWebhookDelivery: errors; testWebhookEndpoint: errors; getWebhookEndpoint: errors
test("docs/contract.md §3: endpoints of other merchants and of the other environment are not_found", async () => {
  const endpoint = await create();
  const stranger = await freshMerchant(running);
  const live = await freshMerchant(running, { environment: Environment.LIVE });
  for (const other of [stranger, live]) await nowhere(endpoint.text("id"), other.apiKey);
  for (const id of ["whk_x", "%00", "ak_01jd3v9q6k8m2n4p6r8t0v2x4z"]) await nowhere(id, merchant.apiKey);
  const unknown = { id: endpoint.text("id"), delivery_id: "whd_01jd3v9q6k8m2n4p6r8t0v2x4z" };
  await api.refused("retryWebhookDelivery", 404, "not_found", { path: unknown });
  await api.refused("retryWebhookDelivery", 404, "not_found", { path: { ...unknown, delivery_id: "x" } });
});

async function nowhere(id: string, as: string): Promise<void> {
  const sent = { as, path: { id, delivery_id: "whd_01jd3v9q6k8m2n4p6r8t0v2x4z" } };
  await api.refused("updateWebhookEndpoint", 404, "not_found", { ...sent, body: { status: "active" } });
  const others = ["deleteWebhookEndpoint", "rollWebhookSecret", "testWebhookEndpoint", "retryWebhookDelivery"];
  const readers = ["getWebhookEndpoint", "listWebhookDeliveries", "getWebhookDelivery"];
  for (const operation of [...others, ...readers]) await api.refused(operation, 404, "not_found", sent);
  const again = { ...sent, body: { since: "2025-01-01T00:00:00Z" } };
  for (const operation of ["retryFailedWebhookDeliveries", "replayWebhookEvents"])
    await api.refused(operation, 404, "not_found", again);
}

// Proves listEventTypes: response
test("docs/contract.md §9: the catalogue is the table of event types, and the document describes the delivered ones", async () => {
  const { body } = await api.call("listEventTypes", 200);
  assert.deepEqual(body, { data: eventTypes.map(({ code, label, category }) => ({ code, label, category })) });
  const described = Object.keys(membersOf(api.document.root.webhooks)).sort();
  assert.deepEqual(
    described,
    eventTypes
      .filter(({ announcedAs, category }) => announcedAs !== undefined || category === "test")
      .map(({ code }) => code)
      .sort(),
  );
});

test("every described code of these operations was seen", () =>
  api.sawEverything(
    [],
    ...["createWebhookEndpoint", "listWebhookEndpoints", "updateWebhookEndpoint", "deleteWebhookEndpoint"],
    ...["rollWebhookSecret", "listWebhookDeliveries", "retryWebhookDelivery", "testWebhookEndpoint", "listEventTypes"],
    ...["getWebhookEndpoint", "getWebhookDelivery", "retryFailedWebhookDeliveries", "getWebhookRetryRun"],
    "replayWebhookEvents",
  ));

test.run();
