// docs/contract.md §9: what was announced to a merchant, as it is listed and as it is delivered.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { disputedPurchase, makePurchase } from "../console/purchases.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { startReceiver } from "../harness/receiver.ts";
import { fixture } from "../harness/suite.ts";
import { contractSuite } from "./caller.ts";

const { test, running, merchant, api } = contractSuite("events", { timeoutMs: 30_000 });
const receiver = fixture(test, () => startReceiver(running.tls));

type Query = Record<string, string | number>;
const list = async (query: Query = {}) => (await api.call("listEvents", 200, { query })).list("data").map(membersOf);
const types = async (query: Query = {}) => (await list(query)).map(({ type }) => String(type));
const order = { amount: 1000, currency: "EUR" };

async function newSession() {
  return await api.call("createCheckoutSession", 201, { body: order });
}

const paid = (card?: string) => makePurchase(running, merchant, order, card);

/** Deliveries that the receiver got about the object. */
function delivered(id: string): string[] {
  return receiver.received
    .map(({ headers, body }) => ({ id: String(headers["service-delivery"]), text: body.toString() }))
    .filter(({ text }) => text.includes(id))
    .map(({ text }) => text);
}

// Proves listEvents: filters, response; getEvent: response, errors
test("docs/contract.md §9: what happened is listed newest first, though no endpoint was subscribed", async () => {
  const { session: sessionId, payment: paymentId } = await paid();
  const refund = await api.call("createRefund", 201, { path: { id: paymentId }, body: { amount: 400 } });
  await eventually("five listed events, each with its position", async () => {
    const listed = await list();
    return listed.length >= 5 && listed.every((event) => event.position !== undefined);
  });
  const all = await list();
  const ids = all.map(({ id }) => String(id));
  assert.deepEqual(ids, ids.toSorted().reverse());
  const of = (type: string) => all.filter((event) => event.type === type).map(({ payload }) => payload);
  const about = { payment_id: paymentId };
  assert.deepEqual(of("refund.succeeded"), [
    { type: "refund.succeeded", refund_id: refund.text("id"), ...about, status: "succeeded" },
  ]);
  assert.deepEqual(of("checkout_session.completed"), [
    { type: "checkout_session.completed", session_id: sessionId, ...about, status: "completed" },
  ]);
  assert.equal(of("payment.succeeded").length, 2, "once by confirm, once by the processor's word");
  assert.deepEqual(await types({ type: "payment.refunded" }), ["payment.refunded"]);
  assert.equal((await list({ payment_id: paymentId })).length, all.length);
  assert.deepEqual(await list({ payment_id: "pay_00000000000000000000000000" }), []);
  const [newest, next] = all;
  assert.deepEqual(await list({ after: String(newest?.id), limit: 1 }), [next]);
  const page = await api.call("listEvents", 200, { query: { limit: 1 } });
  assert.deepEqual([page.list("data").map(membersOf), page.at("has_more")], [[newest], true]);
  const at = String(newest?.created_at);
  assert.deepEqual((await list({ from: at })).at(-1)?.created_at, at);
  assert.ok(
    (await list({ to: at })).some(({ id }) => id === newest?.id),
    "both ends are in it",
  );
  assert.deepEqual(await list({ to: "2020-01-01" }), []);
  assert.deepEqual(await list({ from: "2199-01-01" }), []);
  const path = { id: String(newest?.id) };
  assert.deepEqual((await api.call("getEvent", 200, { path })).body, newest);
  for (const id of ["evt_x", `evt_${"0".repeat(26)}`])
    await api.refused("getEvent", 404, "not_found", { path: { id } });
  for (const query of [{ after: "evt_x" }, { from: "soon" }, { offset: 1 }, { payment_id: "x" }, { limit: 201 }])
    await api.refused("listEvents", 400, "invalid_body", { query: { ...query } });
  const beyond = await api.refused("listEvents", 400, "invalid_body", { query: { after: `evt_${"z".repeat(26)}` } });
  assert.equal(beyond.at("error.details.0.field"), "after", "in the caller's own name");
});

// Proves listEvents: filters
test("docs/contract.md §9: a poller goes on after a position, oldest first, and keeps it while nothing is new", async () => {
  const { payment: paymentId } = await paid();
  const about = { payment_id: paymentId };
  await eventually("three events with positions", async () => {
    const positions = (await list(about)).map(({ position }) => position);
    return positions.length >= 3 && !positions.includes(undefined);
  });
  const newestFirst = await list(about);
  const page = await api.call("listEvents", 200, { query: { ...about, after_position: 0, limit: 2 } });
  assert.equal(page.at("has_more"), true);
  const position = Number(page.at("next_position"));
  const rest = await api.call("listEvents", 200, { query: { ...about, after_position: position } });
  const listed = [...page.list("data"), ...rest.list("data")].map(membersOf);
  const positions = listed.map((event) => Number(event.position));
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  );
  assert.equal(position, positions[1]);
  assert.deepEqual(new Set(listed.map(({ id }) => id)), new Set(newestFirst.map(({ id }) => id)));
  const last = Number(rest.at("next_position"));
  assert.equal(rest.at("has_more"), false);
  assert.ok(last >= (positions.at(-1) ?? 0));
  const failed = await api.call("listEvents", 200, { query: { ...about, after_position: 0, type: "payment.failed" } });
  assert.deepEqual(
    [failed.list("data"), Number(failed.at("next_position")) >= last],
    [[], true],
    "past all it left out",
  );
  const nothing = { data: [], has_more: false, next_position: last };
  const unknown = { after_position: last, type: "no.such" };
  assert.deepEqual((await api.call("listEvents", 200, { query: unknown })).body, nothing);
  assert.deepEqual(await list({ type: "no.such" }), []);
  const id = String(newestFirst[0]?.id);
  const wrong: [Query, string][] = [
    [{ after_position: 2 ** 52 }, "after_position"],
    [{ after_position: -1 }, "after_position"],
    [{ after_position: 0, after: id }, "after"],
    [{ after_position: 0, from: "2025-01-01" }, "from"],
    [{ after_position: 0, to: "2025-01-01" }, "to"],
  ];
  for (const [query, field] of wrong) {
    const refused = await api.refused("listEvents", 400, "invalid_body", { query });
    assert.equal(refused.at("error.details.0.field"), field);
  }
});

// Proves listEvents: tenants
test("another merchant's events, and the other environment's, are in no list and cannot be read", async () => {
  const [other, live] = [await freshMerchant(running), await freshMerchant(running, { environment: Environment.LIVE })];
  await paid();
  const newest = await eventually("an event", async () => (await list())[0]);
  const path = { id: String(newest.id) };
  for (const as of [other.apiKey, live.apiKey]) {
    assert.deepEqual((await api.call("listEvents", 200, { as })).list("data"), []);
    await api.refused("getEvent", 404, "not_found", { as, path });
  }
});

test("docs/contract.md §9: the ends of a refund and of a session are delivered to subscribers only", async () => {
  const subscribe = async (path: string, ...event_types: string[]) =>
    await api.call("createWebhookEndpoint", 201, { body: { url: `${receiver.url}/${path}`, event_types } });
  const ends = ["checkout_session.completed", "checkout_session.expired", "checkout_session.canceled"];
  await subscribe("ends", "refund.succeeded", "refund.failed", ...ends);
  await subscribe("payments", "payment.succeeded");
  const unpaid = await newSession();
  await api.call("expireCheckoutSession", 200, { path: { id: unpaid.text("id") } });
  const { session: sessionId, payment: paymentId } = await paid(cards.refundFailsLater);
  const refund = await api.call("createRefund", 201, { path: { id: paymentId } });
  const refundId = refund.text("id");
  const failed = { type: "refund.failed", refund_id: refundId, payment_id: paymentId, status: "failed" };
  const completed = { type: ends[0], session_id: sessionId, payment_id: paymentId, status: "completed" };
  const expired = { type: ends[1], session_id: unpaid.text("id"), status: "expired" };
  for (const [id, body] of [
    [refundId, failed],
    [sessionId, completed],
    [unpaid.text("id"), expired],
  ] as const) {
    await eventually(`${body.type} to be delivered`, () => delivered(id).includes(JSON.stringify(body)), {
      limitMs: 8_000,
    });
  }
  const elsewhere = receiver.received.filter(({ path }) => path === "/payments").map(({ body }) => body.toString());
  assert.ok(elsewhere.every((body) => JSON.parse(body).type === "payment.succeeded"));
});

test("docs/contract.md §9: each change of a dispute is delivered once, to subscribers only", async () => {
  const subscribe = async (path: string, ...event_types: string[]) =>
    await api.call("createWebhookEndpoint", 201, { body: { url: `${receiver.url}/${path}`, event_types } });
  await subscribe("disputes", "dispute.created", "dispute.updated", "dispute.won", "dispute.lost");
  await subscribe("lost", "dispute.lost");
  const about = async ({ dispute, payment }: { dispute: string; payment: string }, statuses: readonly string[]) => {
    const bodies = statuses.map((status) => ({
      type: `dispute.${disputeEvents[status] ?? status}`,
      ...{ dispute_id: dispute, payment_id: payment, status },
    }));
    const texts = bodies.map((body) => JSON.stringify(body)).sort();
    const came = () =>
      receiver.received.filter(({ path, body }) => path === "/disputes" && `${body}`.includes(dispute));
    await eventually(`${statuses} to be delivered`, () => came().length >= texts.length, { limitMs: 8_000 });
    assert.deepEqual(
      came()
        .map(({ body }) => `${body}`)
        .sort(),
      texts,
    );
    const listed = (await list({ payment_id: payment })).map(({ payload }) => JSON.stringify(payload));
    assert.deepEqual(listed.filter((text) => text.includes('"dispute.')).sort(), texts);
  };
  const won = await disputedPurchase(running, merchant);
  const lost = await disputedPurchase(running, merchant);
  const body = { uncategorized_text: "winning_evidence" };
  await api.call("submitDisputeEvidence", 200, { path: { id: won.dispute }, body });
  await api.call("acceptDispute", 200, { path: { id: lost.dispute } });
  await api.call("acceptDispute", 200, { path: { id: lost.dispute } });
  await about(won, ["needs_response", "under_review", "won"]);
  await about(lost, ["needs_response", "lost"]);
  const elsewhere = receiver.received.filter(({ path }) => path === "/lost").map(({ body }) => JSON.parse(`${body}`));
  assert.deepEqual(
    elsewhere.map(({ dispute_id }) => dispute_id),
    [lost.dispute],
  );
});

const disputeEvents: Readonly<Record<string, string>> = { needs_response: "created", under_review: "updated" };

test("every described code of these operations was seen", () => api.sawEverything([], "listEvents", "getEvent"));

test.run();
