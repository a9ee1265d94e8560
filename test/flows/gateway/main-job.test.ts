// The main flow over HTTP against the six processes: a buyer pays, the merchant is notified, reads and refunds
// (docs/contract.md §1).
import assert from "node:assert/strict";
import type { StackInfo } from "../../../deploy/local/stack-file.ts";
import { type Answer, apiClient } from "../../harness/api.ts";
import { eventually } from "../../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../../harness/merchant.ts";
import { answerChallenge, cards, payInFrame } from "../../harness/pay.ts";
import { isSignedWith, type ReceivedRequest, type Receiver, startReceiver } from "../../harness/receiver.ts";
import { sharedStack } from "../../harness/stack.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("main job", { timeoutMs: 30_000 });
let running: StackInfo;
let merchant: TestMerchant;
let receiver: Receiver;
let signingSecret: string;

test.before(async () => {
  running = await sharedStack();
  merchant = await freshMerchant(running);
  receiver = await startReceiver(running.tls);
  const endpoint = await merchant.api.post("/v1/merchants/me/webhooks", {
    url: `${receiver.url}/hook`,
    event_types: [
      ...["payment.succeeded", "payment.processing", "payment.failed", "payment.refunded", "payment.disputed"],
      ...["authorization.captured", "authorization.canceled", "authorization.expired"],
    ],
  });
  endpoint.expect(201);
  signingSecret = endpoint.text("signing_secret");
});
test.after(() => receiver.close());

async function newSession(headers: Record<string, string> = {}, members: object = {}): Promise<Answer> {
  const body = {
    amount: 1050,
    currency: "eur",
    description: "Order 7",
    customer_email: "Ada@example.com",
    metadata: { order: "7" },
    ...members,
  };
  return (await merchant.api.post("/v1/checkout-sessions", body, headers)).expect(201);
}

function confirm(session: Answer): Promise<Answer> {
  const query = new URLSearchParams({ secret: session.text("session_secret") });
  return apiClient(running.gateway).post(`/v1/checkout/${session.text("id")}/confirm?${query}`);
}

function resolve(session: Answer): Promise<Answer> {
  const query = new URLSearchParams({ secret: session.text("session_secret") });
  return apiClient(running.gateway).get(`/v1/checkout/${session.text("id")}?${query}`);
}

async function paidSession(card: string = cards.succeeds): Promise<{ session: Answer; paymentId: string }> {
  const session = await newSession();
  (await payInFrame(session.text("render.frame_url"), card)).expect(200);
  const confirmed = (await confirm(session)).expect(200);
  return { session, paymentId: confirmed.text("payment_id") };
}

function waitForWebhook(type: string, paymentId: string, status: string): Promise<ReceivedRequest> {
  const body = JSON.stringify({ type, payment_id: paymentId, status });
  return receiver.waitFor((request) => request.body.toString() === body);
}

function payment(paymentId: string): Promise<Answer> {
  return merchant.api.get(`/v1/payments/${paymentId}`);
}

test("a paid session completes, its payment has all fields, and the merchant gets a signed webhook", async () => {
  const session = await newSession();
  assert.deepEqual([session.text("status"), session.at("amount"), session.text("currency")], ["open", 1050, "EUR"]);
  assert.equal((await payInFrame(session.text("render.frame_url"))).text("status"), "succeeded");
  const first = (await confirm(session)).expect(200);
  const second = (await confirm(session)).expect(200);
  assert.deepEqual([first.text("status"), first.text("payment_status")], ["completed", "succeeded"]);
  assert.deepEqual(second.body, first.body, "a repeated confirm replays");
  const id = first.text("payment_id");
  const request = await waitForWebhook("payment.succeeded", id, "succeeded");
  assert.equal(request.headers["service-event"], "payment.succeeded");
  assert.ok(isSignedWith(request, signingSecret));
  const record = (await payment(id)).expect(200);
  assert.equal(record.text("status"), "succeeded");
  assert.equal(record.number("net_amount"), 1050 - record.number("fee_amount"));
  assert.deepEqual(record.at("card.last4"), "4242");
  assert.equal(record.text("customer_email"), "Ada@example.com");
  assert.deepEqual(record.list("refunds"), []);
  assert.equal((await resolve(session)).text("status"), "completed");
});

test("payment.succeeded comes once from the confirm path and once from the processor, however often either is repeated", async () => {
  const { session, paymentId } = await paidSession();
  await Promise.all(Array.from({ length: 10 }, () => confirm(session)));
  const count = () => receiver.received.filter((r) => r.body.toString().includes(paymentId)).length;
  await eventually("both announcements", () => count() === 2);
  await confirm(session);
  const refund = await merchant.api.post(`/v1/payments/${paymentId}/refunds`, {});
  refund.expect(201);
  await waitForWebhook("payment.refunded", paymentId, "refunded");
  assert.equal(count(), 3, "two announcements and the refund");
});

async function authorizedPayment(card: string = cards.succeeds): Promise<{ session: Answer; id: string }> {
  const session = await newSession({}, { capture_method: "manual" });
  assert.equal(session.text("capture_method"), "manual");
  (await payInFrame(session.text("render.frame_url"), card)).expect(200);
  const confirmed = (await confirm(session)).expect(200);
  assert.deepEqual([confirmed.text("status"), confirmed.text("payment_status")], ["completed", "succeeded"]);
  return { session, id: confirmed.text("payment_id") };
}

test("an uncaptured authorization expires, with a failure code", async () => {
  const { id } = await authorizedPayment(cards.lapses);
  await waitForWebhook("authorization.expired", id, "canceled");
  const ended = await payment(id);
  assert.deepEqual([ended.text("status"), ended.text("failure.code")], ["canceled", "expired"]);
});

test("a passed 3-D Secure challenge pays", async () => {
  const session = await newSession();
  const challenge = await payInFrame(session.text("render.frame_url"), cards.needsChallenge);
  assert.equal(challenge.text("status"), "requires_action");
  assert.equal((await confirm(session)).text("payment_status"), "requires_action");
  await answerChallenge(challenge.text("challenge_url"), "pass");
  const confirmed = await confirm(session);
  assert.equal(confirmed.text("status"), "completed");
  assert.equal((await payment(confirmed.text("payment_id"))).at("verification.three_ds_result"), "authenticated");
});

test("a session completes by the processor's webhook when the buyer never returns", async () => {
  const session = await newSession();
  await payInFrame(session.text("render.frame_url"));
  await eventually("the session to complete", async () => (await resolve(session)).at("status") === "completed");
});

test("a payment that takes longer is announced as processing and then with its outcome", async () => {
  const { paymentId } = await paidSession(cards.asynchronous);
  await waitForWebhook("payment.processing", paymentId, "processing");
  await waitForWebhook("payment.succeeded", paymentId, "succeeded");
});

test("a dispute is announced, shows in the payment and blocks refunds", async () => {
  const { paymentId } = await paidSession(cards.disputedLater);
  await waitForWebhook("payment.disputed", paymentId, "disputed");
  const record = await payment(paymentId);
  assert.deepEqual([record.text("status"), record.text("dispute.status")], ["disputed", "needs_response"]);
  const refund = await merchant.api.post(`/v1/payments/${paymentId}/refunds`, {});
  assert.equal(refund.expect(422).text("error.code"), "not_refundable");
});

test("a refund that fails later returns its amount", async () => {
  const { paymentId } = await paidSession(cards.refundFailsLater);
  (await merchant.api.post(`/v1/payments/${paymentId}/refunds`, { amount: 1000 })).expect(201);
  await eventually("the refund to fail", async () => (await payment(paymentId)).at("refunds.0.status") === "failed");
  const record = await payment(paymentId);
  assert.deepEqual([record.text("status"), record.number("refunded_amount")], ["succeeded", 0]);
});

test.run();
