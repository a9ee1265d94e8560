// docs/contract.md §5: POST /v1/payments, a payment without a session by the processor's token of a card; §6: its
// idempotency.
import assert from "node:assert/strict";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards, cardToken } from "../harness/pay.ts";
import { contractSuite, withoutFee } from "./caller.ts";
import { accountOf, failProcessor } from "./operator.ts";

const { test, running, merchant, api } = contractSuite("direct payments", { timeoutMs: 30_000 });

const token = async (card?: string, of = merchant) => await cardToken(running.processor, await accountOf(of), card);

async function order(card?: string, of = merchant) {
  return { amount: 1050, currency: "eur", payment_method: await token(card, of) };
}

test("docs/contract.md §5: a payment by token succeeds, is listed, read and refunded like any other", async () => {
  const extra = { description: "Renewal", customer_email: "ada@example.com", metadata: { plan: "gold" } };
  const made = await api.call("createPayment", 201, { body: { ...(await order()), ...extra } });
  assert.deepEqual(
    ["amount", "currency", "status", "connector", "description", "customer_email", "card.last4"].map((f) => made.at(f)),
    [1050, "EUR", "succeeded", "simulator", "Renewal", "ada@example.com", "4242"],
  );
  assert.deepEqual(made.at("metadata"), { plan: "gold" });
  assert.ok(made.text("connector_ref") && made.text("captured_at") && made.text("receipt_url"));
  const path = { id: made.text("id") };
  assert.deepEqual(withoutFee(await api.call("getPayment", 200, { path })), withoutFee(made));
  assert.equal((await api.call("listPayments", 200, { query: { q: path.id } })).at("total"), 1);
  assert.equal(
    (await api.call("createRefund", 201, { path, body: { amount: 50 } })).at("status"),
    "partially_refunded",
  );
  assert.equal((await api.call("listCheckoutSessions", 200)).at("total"), 0);
});

test("docs/contract.md §5: what the issuer refuses, also for want of the buyer, is a failed payment; what it decides later is processing", async () => {
  for (const card of [cards.declined, cards.needsChallenge]) {
    const made = await api.call("createPayment", 201, { body: await order(card) });
    assert.equal(made.at("status"), "failed");
    assert.ok(made.text("failed_at"));
  }
  const later = await api.call("createPayment", 201, { body: await order(cards.asynchronous) });
  assert.equal(later.at("status"), "processing");
  await eventually("the processor's webhook to settle it", async () => {
    return (await api.call("getPayment", 200, { path: { id: later.text("id") } })).at("status") === "succeeded";
  });
});

test("docs/contract.md §5: without an answer a payment is pending, then the processor's report decides; the key replays", async () => {
  const own = await freshMerchant(running);
  await failProcessor(running, own, { target: "api.intents.create", kind: "error_after", count: 1 });
  await failProcessor(running, own, { target: "api.intents.get", kind: "error_before", count: 1 });
  const sent = { as: own.apiKey, body: await order(cards.succeeds, own), headers: { "Idempotency-Key": "silent" } };
  const first = await api.call("createPayment", 201, sent);
  // The processor's webhook may come before our answer is made.
  assert.ok(["pending", "succeeded"].includes(first.text("status")));
  await eventually("the processor's webhook", async () => {
    const read = await api.call("getPayment", 200, { as: own.apiKey, path: { id: first.text("id") } });
    return read.at("status") === "succeeded";
  });
  const second = await api.call("createPayment", 201, sent);
  assert.deepEqual([second.raw, second.headers.get("idempotent-replayed")], [first.raw, "true"]);
  assert.equal((await api.call("listPayments", 200, { as: own.apiKey })).at("total"), 1);
});

test("a processor that answers 500 may have charged: the payment is pending, never connector_error, and its key replays it", async () => {
  const own = await freshMerchant(running);
  await failProcessor(running, own, { target: "api.intents.create", kind: "error_before", count: 1 });
  const sent = { as: own.apiKey, body: await order(cards.succeeds, own), headers: { "Idempotency-Key": "again" } };
  const first = await api.call("createPayment", 201, sent);
  assert.equal(first.at("status"), "pending");
  assert.equal((await api.call("createPayment", 201, sent)).raw, first.raw);
  assert.equal((await api.call("listPayments", 200, { as: own.apiKey })).at("total"), 1);
});

test("docs/contract.md §6: one key makes one payment; another body is idempotency_key_reuse; a 400 leaves the key free", async () => {
  const headers = { "Idempotency-Key": "once" };
  const unknown = { ...(await order()), payment_method: "pm_unknown" };
  const refused = await api.refused("createPayment", 400, "invalid_body", { body: unknown, headers });
  assert.deepEqual(refused.at("error.details.0"), {
    field: "payment_method",
    problem: "is unknown to the processor",
  });
  const body = await order();
  const before = (await api.call("listPayments", 200)).number("total");
  const answers = await Promise.all(Array.from({ length: 8 }, () => merchant.api.post("/v1/payments", body, headers)));
  for (const answer of answers) api.document.check("createPayment", answer);
  assert.ok(answers.every((answer) => [201, 409].includes(answer.status)));
  const replay = await api.call("createPayment", 201, { body, headers });
  assert.equal(replay.headers.get("idempotent-replayed"), "true");
  await api.refused("createPayment", 422, "idempotency_key_reuse", { body: { ...body, amount: 1 }, headers });
  assert.equal((await api.call("listPayments", 200)).number("total"), before + 1);
});

test("docs/contract.md §2: payment_blocked and no_connector; wrong fields are invalid_body, each named", async () => {
  const body = await order();
  await api.refused("createPayment", 402, "payment_blocked", {
    body: { ...body, customer_email: "blocked@example.com" },
  });
  const live = await freshMerchant(running, { environment: Environment.LIVE });
  await api.refused("createPayment", 422, "no_connector", { as: live.apiKey, body });
  for (const [field, value] of [
    ["amount", 0],
    ["amount", 100_000_000],
    ["amount", "1"],
    ["currency", "XXX"],
    ["payment_method", ""],
    ["payment_method", "4242 4242 4242 4242"],
    ["customer_email", "nobody"],
    ["description", "x".repeat(256)],
    ["metadata", { a: 1 }],
  ]) {
    const answer = await api.refused("createPayment", 400, "invalid_body", {
      body: { ...body, [String(field)]: value },
    });
    assert.match(answer.text("error.details.0.field"), new RegExp(`^${field}`));
  }
  const missing = await api.refused("createPayment", 400, "invalid_body", { body: {} });
  assert.equal(missing.list("error.details").length, 3);
});

test("every described code of the operation was seen", () =>
  // connector_error needs a processor to which nothing could be sent: outage.test.ts stops it.
  api.sawEverything(["createPayment connector_error"], "createPayment"));

test.run();
