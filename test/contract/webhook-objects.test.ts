// docs/contract.md §9: endpoints with the payload `object`. Their deliveries show an object as GET answers it at their
// sequence, while payments, refunds, disputes and sessions change at the same time.
import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connectPeer } from "#platform/rpc/client.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { eventTypes } from "../../services/webhook/rules/event-types.ts";
import { disputedPurchase, makePurchase } from "../console/purchases.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { type ReceivedRequest, startReceiver } from "../harness/receiver.ts";
import { fixture } from "../harness/suite.ts";
import { contractSuite, withoutFee } from "./caller.ts";

const { test, running, api } = contractSuite("webhook objects", { timeoutMs: 120_000 });
const receiver = fixture(test, () => startReceiver(running.tls));
const sentCodes = eventTypes.filter(({ announcedAs }) => announcedAs !== undefined).map(({ code }) => code);

interface ObjectBody {
  readonly type: string;
  readonly id: string;
  readonly created_at: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

function bodyOf({ body }: ReceivedRequest): ObjectBody {
  const parsed = membersOf(JSON.parse(body.toString()));
  const { type, id, created_at, sequence, data } = parsed;
  assert.deepEqual(Object.keys(parsed), ["type", "id", "created_at", "sequence", "data"]);
  return {
    type: String(type),
    id: String(id),
    created_at: String(created_at),
    sequence: Number(sequence),
    data: membersOf(data),
  };
}

async function register(own: TestMerchant, payload: string | undefined, path: string): Promise<string> {
  const body = { url: `${receiver.url}${path}`, event_types: sentCodes, ...(payload !== undefined && { payload }) };
  const made = (await own.api.post("/v1/merchants/me/webhooks", body)).expect(201);
  assert.equal(made.text("payload"), payload ?? "reference");
  return made.text("id");
}

const paths = [
  ["pay_", "payments"],
  ["re_", "refunds"],
  ["dp_", "disputes"],
  ["cs_", "checkout-sessions"],
] as const;

async function readObject(own: TestMerchant, id: string): Promise<unknown> {
  const [, path] = paths.find(([prefix]) => id.startsWith(prefix)) ?? assert.fail(id);
  return withoutFee((await own.api.get(`/v1/${path}/${id}`)).expect(200));
}

/** Reads objects all the time, and keeps what GET answers while the version is the same before and after. */
function recordStates(own: TestMerchant, paymentOf: ReadonlyMap<string, string>) {
  const [payments, checkout] = [running.rpc.payments, running.rpc.checkout].map((url) =>
    connectPeer({ url, token: running.rpc_token }),
  );
  assert(payments && checkout);
  const states = new Map<string, unknown>();
  const versionOf = async (id: string) => {
    if (id.startsWith("cs_")) {
      const { sessions } = await checkout.client(CheckoutService).batchGetSessions({ sessionIds: [id] });
      return sessions[0]?.version;
    }
    const found = await payments.client(PaymentsService).batchGetPayments({ paymentIds: [paymentOf.get(id) ?? id] });
    return Number(found.payments[0]?.version);
  };
  let isOver = false;
  const record = async (id: string) => {
    const before = await versionOf(id);
    const body = await readObject(own, id);
    if (before !== (await versionOf(id))) return;
    const key = `${id} ${before}`;
    if (states.has(key)) assert.deepEqual(body, states.get(key), `two states of ${key}`);
    states.set(key, body);
  };
  const reading = (async () => {
    for (; !isOver; await nextTurn()) await Promise.all([...paymentOf.keys()].map(record));
  })();
  // `stop` reports it.
  reading.catch(() => undefined);
  return {
    states,
    stop: async () => {
      isOver = true;
      await reading;
      payments.close();
      checkout.close();
    },
  };
}

test("docs/contract.md §9: each delivered object is what GET answers at its sequence, and the highest is the last state", async () => {
  const own = await freshMerchant(running);
  await register(own, "object", "/objects");
  await register(own, undefined, "/references");
  const paymentOf = new Map<string, string>();
  const recorder = recordStates(own, paymentOf);
  const follow = (payment: string, ...ids: string[]) => {
    for (const id of [payment, ...ids]) paymentOf.set(id, payment);
  };
  const refunded: string[] = [];
  const refunding = async () => {
    const { payment, session } = await makePurchase(running, own, {
      capture_method: "manual",
      metadata: { order: "7" },
    });
    follow(payment, session);
    refunded.push(payment);
    (await own.api.post(`/v1/payments/${payment}/capture`, { amount: 4_000 })).expect(200);
    const refund = async () => {
      const made = await own.api.post(`/v1/payments/${payment}/refunds`, { amount: 1_000 });
      if (made.status === 201) follow(payment, made.text("id"));
    };
    await Promise.all([refund(), refund(), refund()]);
  };
  const disputing = async () => {
    const { dispute, payment, session } = await disputedPurchase(running, own);
    follow(payment, dispute, session);
    const evidence = { uncategorized_text: "winning_evidence" };
    (await own.api.post(`/v1/disputes/${dispute}/evidence`, evidence)).expect(200);
    const outcome = async () => (await own.api.get(`/v1/disputes/${dispute}`)).at("outcome");
    await eventually("the bank to decide", async () => (await outcome()) === "won");
  };
  await Promise.all([refunding(), refunding(), disputing()]);
  const events = await eventually("every event to be delivered to both", async () => {
    const list = (await own.api.get("/v1/events?limit=100")).list("data").map(membersOf);
    const counts = ["/objects", "/references"].map((path) => receiver.received.filter((r) => r.path === path).length);
    return list.some(({ type }) => type === "dispute.won") &&
      list.length >= 17 &&
      counts.every((count) => count === list.length)
      ? list
      : undefined;
  });
  await recorder.stop();
  const isListed = (body: ReturnType<typeof bodyOf>) => events.some(({ id }) => id === body.id);
  const bodies = receiver.received
    .filter(({ path }) => path === "/objects")
    .map(bodyOf)
    .filter(isListed);
  let matched = 0;
  for (const body of bodies) {
    const event = events.find(({ id }) => id === body.id);
    assert.deepEqual([event?.type, event?.created_at], [body.type, body.created_at]);
    const state = recorder.states.get(`${body.data.id} ${body.sequence}`);
    if (state === undefined) continue;
    assert.deepEqual(body.data, state);
    matched += 1;
  }
  assert.ok(matched > bodies.length / 4, `${matched} of ${bodies.length} states were read, too`);
  const states = new Map(bodies.map((body) => [`${body.data.id} ${body.sequence}`, body.data]));
  for (const { data, sequence } of bodies) assert.deepEqual(data, states.get(`${data.id} ${sequence}`), "one state");
  const newest = new Map(bodies.toSorted((a, b) => a.sequence - b.sequence).map(({ data }) => [String(data.id), data]));
  assert.equal(newest.size, 3 + 6 + 1 + 3, "payments, refunds, a dispute, sessions");
  // No event of a payment follows the bank's decision, and none of a session its completion.
  const isLast = (id: string) => /^(?:re|dp)_/.test(id) || refunded.includes(id);
  const ended = [...newest].filter(([id]) => isLast(id));
  assert.equal(ended.length, 2 + 6 + 1);
  for (const [id, data] of ended) assert.deepEqual(data, await readObject(own, id));
  const references = receiver.received.filter(({ path }) => path === "/references");
  const wanted = events.map(({ payload }) => JSON.stringify(payload)).sort();
  assert.deepEqual(
    references.map(({ body }) => body.toString()).sort(),
    wanted,
    "the other endpoint's bytes are as ever",
  );
});

// Proves createWebhookEndpoint: body; updateWebhookEndpoint: body; getWebhookEndpoint: response
test("docs/contract.md §9: the payload is chosen at the creation, read, and changed for the next events", async () => {
  const own = await freshMerchant(running);
  const id = await register(own, undefined, "/changed");
  const call = { as: own.apiKey, path: { id } };
  const bodies = () =>
    receiver.received.filter(({ path }) => path === "/changed").map(({ body }) => JSON.parse(body.toString()));
  await makePurchase(running, own);
  await eventually("three references", () => bodies().length === 3);
  const changed = await api.call("updateWebhookEndpoint", 200, { ...call, body: { payload: "object" } });
  assert.equal(changed.at("payload"), "object");
  assert.equal((await api.call("getWebhookEndpoint", 200, call)).at("payload"), "object");
  await makePurchase(running, own);
  await eventually("three objects", () => bodies().length === 6);
  assert.deepEqual(
    bodies().map((body) => "data" in body),
    [false, false, false, true, true, true],
  );
  await api.refused("updateWebhookEndpoint", 400, "invalid_body", { ...call, body: { payload: "all" } });
  const same = await api.call("updateWebhookEndpoint", 200, { ...call, body: { description: "Shop" } });
  assert.equal(same.at("payload"), "object", "another change leaves it");
});

// Proves replayWebhookEvents: response
test("docs/contract.md §9: a replay to an endpoint with objects delivers each missing event once, as an object", async () => {
  const own = await freshMerchant(running);
  const { payment, session } = await makePurchase(running, own);
  await eventually("its events", async () => (await own.api.get("/v1/events")).list("data").length === 3);
  const id = await register(own, "object", "/replayed");
  const since = new Date(Date.now() - 3_600_000).toISOString();
  for (const _ of [1, 2]) (await own.api.post(`/v1/merchants/me/webhooks/${id}/replay`, { since })).expect(200);
  const bodies = () => receiver.received.filter(({ path }) => path === "/replayed").map(bodyOf);
  await eventually("its three events", () => bodies().length >= 3);
  const list = await own.api.get(`/v1/merchants/me/webhooks/${id}/deliveries`);
  assert.equal(list.list("data").length, 3);
  for (const { data } of bodies()) assert.deepEqual(data, await readObject(own, String(data.id)));
  assert.deepEqual([...new Set(bodies().map(({ data }) => data.id))].sort(), [session, payment].sort());
  assert.equal(bodies().length, 3);
});

test("docs/contract.md §9: an object of more than 64 KiB is null, and its event names it", async () => {
  const own = await freshMerchant(running);
  await register(own, "object", "/large");
  const { dispute } = await disputedPurchase(running, own);
  const evidence = { refund_policy: "€".repeat(20_000), access_activity_log: "€".repeat(1_700) };
  (await own.api.post(`/v1/disputes/${dispute}/evidence`, evidence)).expect(200);
  const request = await receiver.waitFor(({ path, body }) => path === "/large" && body.includes("dispute.updated"));
  const { id, data, sequence } = membersOf(JSON.parse(request.body.toString()));
  assert.equal(data, null);
  assert.ok(Number(sequence) > 0);
  const event = (await own.api.get(`/v1/events/${id}`)).expect(200);
  assert.equal(event.at("payload.dispute_id"), dispute);
});

test.run();
