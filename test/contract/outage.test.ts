// docs/contract.md §2: every operation is service_unavailable while its service is, and connector_error while the
// processor is; the gateway keeps running, reports it at /readyz, and recovers by itself.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { apiClient, merchantApi } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { refuseWrites } from "../harness/files/read-only.ts";
import { pngFile } from "../harness/files/sample-files.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cardToken, payInFrame } from "../harness/pay.ts";
import { sharedStack, startTestStack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { asBuyer, contractCaller } from "./caller.ts";
import { accountOf, allHaveFailed, failProcessor, hasFailed, paymentsDatabase, timesDone } from "./operator.ts";
import { type OwnGateway, ownGateway } from "./own-gateway.ts";

const test = suite("outage", { timeoutMs: 90_000 });
let own: RunningStack;

test.before(async () => {
  own = await startTestStack({ ownServers: true });
});
test.after(() => own.stop());

const nowhere = "http://127.0.0.1:9";
const bodies: Record<string, object> = {
  createCheckoutSession: { amount: 100, currency: "EUR" },
  createPayment: { amount: 100, currency: "EUR", payment_method: "pm_1" },
  createWebhookEndpoint: { url: "https://shop.example.com", event_types: ["test.ping"] },
  updateWebhookEndpoint: { status: "active" },
  retryFailedWebhookDeliveries: { since: "2025-11-21T08:30:00Z" },
  replayWebhookEvents: { since: "2025-11-21T08:30:00Z" },
  updateConnector: { is_default: true },
  replaceRouting: { rules: [], on_outage: "stop", version: 0 },
  updateApplication: { legal_name: "Lemon Books" },
  submitDisputeEvidence: { product_description: "A lemon tree" },
  createReport: { type: "payments", from: "2025-11-01", to: "2025-12-01" },
  createErasure: { customer_email: "ada@example.com" },
  exportBuyer: { customer_email: "ada@example.com" },
  giveEmail: { customer_email: "ada@example.com" },
};

test("every operation is service_unavailable with Retry-After while its service is away", async () => {
  const running = await sharedStack();
  const merchant = await freshMerchant(running);
  const away = { CHECKOUT_URL: nowhere, PAYMENTS_URL: nowhere, WEBHOOK_URL: nowhere };
  const [withoutMost, withoutMerchant] = [
    await ownGateway(running, away),
    await ownGateway(running, { MERCHANT_URL: nowhere }),
  ];
  const suffix = "01jd3v9q6k8m2n4p6r8t0v2x4z";
  const refuseAll = async (gateway: OwnGateway) => {
    const target = await contractCaller(gateway, merchant.apiKey);
    // An earlier request with the key may have moved the money: the answer must not be a rejection.
    const path = { id: `pay_${suffix}` };
    const underKey = [
      target.refused("createRefund", 409, "idempotency_conflict", { path, headers: { "Idempotency-Key": "r" } }),
      target.refused("createPayment", 409, "idempotency_conflict", {
        body: bodies.createPayment,
        headers: { "Idempotency-Key": "p" },
      }),
    ];
    const isAffected = ({ path }: (typeof target.document.operations)[number]) => {
      const ofMerchant = path.startsWith("/v1/merchants/me") && !/webhooks|event-types/.test(path);
      const byMerchantService = ofMerchant || path.startsWith("/v1/onboarding");
      return gateway === withoutMost ? !byMerchantService : !path.startsWith("/v1/checkout/");
    };
    // Side by side: each waits a while for the service to come back.
    const refusals = target.document.operations.filter(isAffected).map(async (operation) => {
      const body = bodies[operation.id] ?? {};
      return await target.refused(operation.id, 503, "service_unavailable", {
        path: operation.path.startsWith("/v1/checkout/") ? { id: `cs_${suffix}` } : operation.examplePath,
        query: operation.path.startsWith("/v1/checkout/") ? { secret: `cs_secret_${suffix}_${"a".repeat(43)}` } : {},
        ...(operation.hasBody && { body }),
        ...(operation.isRaw && { body: pngFile(), headers: { "content-type": "image/png" } }),
      });
    });
    assert.ok(refusals.length > 20);
    for (const { headers } of await Promise.all(refusals)) assert.ok(Number(headers.get("retry-after")) >= 1);
    for (const { headers } of await Promise.all(underKey)) assert.ok(Number(headers.get("retry-after")) >= 1);
    const ready = await apiClient(gateway.gateway).get("/readyz");
    assert.deepEqual([ready.status, ready.at("error.code")], [503, "service_unavailable"]);
    assert.equal((await apiClient(gateway.gateway).get("/livez")).status, 200);
    await gateway.stop();
  };
  await Promise.all([refuseAll(withoutMost), refuseAll(withoutMerchant)]);
});

// Proves createRefund: errors; capturePayment: errors; cancelPayment: errors; errors: connector_error
test("while the processor is away nothing is lost or done twice, and the same keys go on when it is back", async () => {
  const merchant = await freshMerchant(own.stack);
  const target = await contractCaller(own.stack, merchant.apiKey);
  const order = { amount: 1000, currency: "EUR" };
  const create = () => target.call("createCheckoutSession", 201, { body: order });
  const [paid, open] = [await create(), await create()];
  const held = await target.call("createCheckoutSession", 201, { body: { ...order, capture_method: "manual" } });
  await payInFrame(held.text("render.frame_url"));
  const heldId = (await target.call("confirmCheckout", 200, asBuyer(held))).text("payment_id");
  await payInFrame(paid.text("render.frame_url"));
  const paymentId = (await target.call("confirmCheckout", 200, asBuyer(paid))).text("payment_id");
  const token = await cardToken(own.stack.processor, await accountOf(merchant));
  await own.halt("simulator");
  const creation = { body: order, headers: { "Idempotency-Key": "later" } };
  const charge = { body: { ...order, payment_method: token }, headers: { "Idempotency-Key": "later charge" } };
  const refund = { path: { id: paymentId }, body: { amount: 400 }, headers: { "Idempotency-Key": "later" } };
  await target.refused("createCheckoutSession", 502, "connector_error", creation);
  await target.refused("confirmCheckout", 502, "connector_error", asBuyer(open));
  await target.refused("expireCheckoutSession", 502, "connector_error", { path: { id: open.text("id") } });
  await target.refused("createPayment", 502, "connector_error", charge);
  await target.refused("createRefund", 502, "connector_error", refund);
  const capture = { path: { id: heldId }, headers: { "Idempotency-Key": "later capture" } };
  await target.refused("capturePayment", 502, "connector_error", capture);
  await target.refused("cancelPayment", 502, "connector_error", { path: { id: heldId } });
  await own.resume("simulator");
  await eventually("the same creation to be made", async () => {
    return (await merchant.api.post("/v1/checkout-sessions", creation.body, creation.headers)).status === 201;
  });
  await eventually("the same charge to be made", async () => {
    return (await merchant.api.post("/v1/payments", charge.body, charge.headers)).status === 201;
  });
  await eventually("the same refund to be made", async () => {
    return (await merchant.api.post(`/v1/payments/${paymentId}/refunds`, refund.body, refund.headers)).status === 201;
  });
  await eventually("the same capture to be made", async () => {
    const answer = await merchant.api.post(`/v1/payments/${heldId}/capture`, {}, capture.headers);
    return answer.at("captured_amount") === 1000;
  });
  const record = await target.call("getPayment", 200, { path: { id: paymentId } });
  assert.deepEqual(
    [
      record.number("refunded_amount"),
      record.list("refunds").filter((each) => membersOf(each).status === "succeeded").length,
    ],
    [400, 1],
  );
  assert.equal((await target.call("listCheckoutSessions", 200)).number("total"), 4);
  // Paid at once, or pending until the processor's report.
  assert.equal((await target.call("listPayments", 200)).number("total"), 3);
});

for (const name of ["gateway", "checkout", "payments"]) {
  test(`${name} that is stopped in the middle of every flow answers each of them first`, async () => {
    const merchant = await freshMerchant(own.stack);
    const target = await contractCaller(own.stack, merchant.apiKey);
    const order = { amount: 1000, currency: "EUR" };
    const create = () => target.call("createCheckoutSession", 201, { body: order });
    const [first, second, unpaid] = [await create(), await create(), await create()];
    for (const session of [first, second]) await payInFrame(session.text("render.frame_url"));
    const paymentId = (await target.call("confirmCheckout", 200, asBuyer(first))).text("payment_id");
    // The processor delays each of the four flows, so that all are pending when the process is stopped.
    const slow = { kind: "delay", ms: 1_500, count: 1 } as const;
    const calls = ["api.intents.create", "api.intents.get", "api.intents.cancel", "api.refunds.create"] as const;
    for (const call of calls) await failProcessor(own.stack, merchant, { target: call, ...slow });
    const flows = [
      create(),
      target.call("confirmCheckout", 200, asBuyer(second)),
      target.call("expireCheckoutSession", 200, { path: { id: unpaid.text("id") } }),
      target.call("createRefund", 201, { path: { id: paymentId }, body: { amount: 400 } }),
    ];
    await eventually("every flow to be at the processor", () => allHaveFailed(own.stack, merchant));
    const [, , , refunded] = await Promise.all([...flows, own.restart(name)]);
    assert.equal(refunded?.text("status"), "partially_refunded");
    const total = await target.call("listPayments", 200, { query: { status: "succeeded" } });
    assert.equal(total.number("total"), 1, "the second order; the first is refunded in part");
  });
}

test("a database that goes away after the processor did the work does not invite the same work again, with a key or without", async () => {
  const merchant = await freshMerchant(own.stack);
  const target = await contractCaller(own.stack, merchant.apiKey);
  const session = await target.call("createCheckoutSession", 201, { body: { amount: 1000, currency: "EUR" } });
  await payInFrame(session.text("render.frame_url"));
  const paymentId = (await target.call("confirmCheckout", 200, asBuyer(session))).text("payment_id");
  const token = await cardToken(own.stack.processor, await accountOf(merchant));
  const slow = { kind: "delay", ms: 700, count: 1 } as const;
  for (const call of ["api.intents.create", "api.refunds.create"] as const)
    await failProcessor(own.stack, merchant, { target: call, ...slow });
  const charge = { amount: 700, currency: "EUR", payment_method: token };
  const answers = [
    target.call("createPayment", 201, { body: charge }),
    target.call("createRefund", 201, { path: { id: paymentId }, body: { amount: 400 } }),
  ];
  await eventually("both to be at the processor", () => allHaveFailed(own.stack, merchant));
  const { url, endSessions } = paymentsDatabase(own.stack);
  assert.ok(await refuseWrites(url, 1_500, endSessions));
  const [paid, refunded] = await Promise.all(answers);
  assert.deepEqual([paid?.text("status"), refunded?.text("status")], ["succeeded", "partially_refunded"]);
  const refund = (await target.call("getPayment", 200, { path: { id: paymentId } })).text("refunds.0.id");
  for (const id of [paid?.text("id") ?? "", refund]) assert.equal(await timesDone(own.stack, merchant, id), 1);
});

test("a request with an idempotency key waits while its API key cannot be checked", async () => {
  const merchant = await freshMerchant(own.stack);
  const unknowing = await ownGateway(own.stack);
  const target = await contractCaller(unknowing, merchant.apiKey);
  await own.halt("merchant");
  const body = { amount: 1000, currency: "EUR" };
  const keyed = target.call("createCheckoutSession", 201, { body, headers: { "Idempotency-Key": "waits" } });
  const keyless = target.refused("createCheckoutSession", 503, "service_unavailable", { body });
  const [made] = await Promise.all([keyed, keyless.finally(() => own.resume("merchant"))]);
  assert.equal(made.text("status"), "open");
  await unknowing.stop();
});

test("a key that is revoked while the broker hangs works no longer than one second of memory", async () => {
  const merchant = await freshMerchant(own.stack);
  const spare = (await merchant.api.post("/v1/merchants/me/api-keys", { name: "spare" })).expect(201);
  const holder = merchantApi(own.stack.gateway, spare.text("api_key"));
  (await holder.get("/v1/payments")).expect(200);
  const broker = own.stack.pids.nats ?? assert.fail("the stack has a broker of its own");
  process.kill(broker, "SIGSTOP");
  try {
    const keys = (await merchant.api.get("/v1/merchants/me/api-keys")).list("data");
    const { id } = membersOf(keys.find((each) => membersOf(each).name === "spare"));
    (await merchant.api.delete(`/v1/merchants/me/api-keys/${id}`)).expect(204);
    // A key is cached for half a minute while the broker is connected.
    await eventually("the key to be refused", async () => (await holder.get("/v1/payments")).status === 401, {
      limitMs: 10_000,
    });
  } finally {
    process.kill(broker, "SIGCONT");
  }
});

test("while PostgreSQL is unavailable the gateway is not ready and answers service_unavailable; then it recovers", async () => {
  const merchant = await freshMerchant(own.stack);
  const target = await contractCaller(own.stack, merchant.apiKey);
  const ready = async () => await apiClient(own.stack.gateway).get("/readyz");
  const serving = { checkout: true, payments: true, merchant: true, webhook: true };
  assert.deepEqual((await ready()).body, { status: "ok", services: serving });
  await target.call("listPayments", 200);
  await own.halt("postgres");
  const away = await eventually("the gateway to be unready", async () => {
    const answer = await ready();
    return answer.status === 503 && answer.at("services.payments") === false && answer;
  });
  assert.equal(away.text("error.code"), "service_unavailable");
  for (const operation of ["listPayments", "listCheckoutSessions", "listWebhookEndpoints", "getMerchant"]) {
    await target.refused(operation, 503, "service_unavailable");
  }
  await target.refused("createCheckoutSession", 503, "service_unavailable", { body: { amount: 1, currency: "EUR" } });
  await own.resume("postgres");
  await eventually("the gateway to be ready again", async () => (await ready()).status === 200, { limitMs: 30_000 });
  await target.call("createCheckoutSession", 201, { body: { amount: 1, currency: "EUR" } });
});

test("/readyz reports a read-only database, while reads go on and services accept calls", async () => {
  const merchant = await freshMerchant(own.stack);
  const target = await contractCaller(own.stack, merchant.apiKey);
  const ready = async () => await apiClient(own.stack.gateway).get("/readyz");
  const { url, endSessions } = paymentsDatabase(own.stack);
  const refusal = refuseWrites(url, 4_000, endSessions);
  const away = await eventually("the gateway's report", async () => {
    const answer = await ready();
    return answer.status === 503 && answer.at("services.payments") === false && answer;
  });
  assert.deepEqual([away.at("services.merchant"), away.at("services.webhook")], [true, true]);
  await target.call("listPayments", 200);
  assert.equal((await fetch(`${own.stack.admin.payments}/readyz`)).status, 200, "it stays behind its service's name");
  assert.ok(await refusal);
  await eventually("the gateway to be ready again", async () => (await ready()).status === 200);
});

test("an unavailable processor or broker makes neither /readyz nor a service fail", async () => {
  const merchant = await freshMerchant(own.stack);
  const target = await contractCaller(own.stack, merchant.apiKey);
  await own.halt("simulator", "nats");
  await eventually("a service to know that the broker is away", async () => {
    const metrics = await (await fetch(`${own.stack.admin.checkout}/metrics`)).text();
    return /^tollbooth_broker_connected 0$/m.test(metrics);
  });
  await target.refused("createCheckoutSession", 502, "connector_error", { body: { amount: 1000, currency: "EUR" } });
  await eventually(
    "answers that are newer than that",
    async () => (await apiClient(own.stack.gateway).get("/readyz")).status === 200,
  );
  for (const name of ["checkout", "payments", "merchant", "webhook"] as const)
    assert.equal((await fetch(`${own.stack.admin[name]}/readyz`)).status, 200, name);
  await own.resume("nats");
  await own.resume("simulator");
  await target.call("createCheckoutSession", 201, { body: { amount: 1000, currency: "EUR" } });
});

test("a gateway that stops lets the requests in flight end", async () => {
  const running = await sharedStack();
  const merchant = await freshMerchant(running);
  await failProcessor(running, merchant, { target: "api.intents.create", kind: "delay", ms: 1_500, count: 1 });
  const gateway = await ownGateway(running);
  const order = { amount: 100, currency: "EUR" };
  const slow = merchantApi(gateway.gateway, merchant.apiKey).post("/v1/checkout-sessions", order);
  await eventually("the request to reach the processor", () => hasFailed(running, merchant));
  const began = performance.now();
  const [answer] = await Promise.all([slow, gateway.stop()]);
  answer.expect(201);
  assert.ok(performance.now() - began < 5_000, "the connection must not linger");
  await assert.rejects(fetch(`${gateway.gateway}/livez`));
});

test.run();
