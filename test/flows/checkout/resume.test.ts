// A claimed key resumes its object: later changes (risk rules, connector) do not refuse what the first run has made.
// Work that it had not started is screened as new.
import assert from "node:assert/strict";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { CreatePaymentRequestSchema } from "#proto/checkout/v1/checkout_pb.ts";
import { RiskKind, RiskService } from "#proto/checkout/v1/risk_pb.ts";
import { ConnectorService, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import { presentCreated } from "../../../services/public-json/checkout-session.ts";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { type CheckoutServices, freshKey, startCheckoutServices } from "./services.ts";

const test = suite("resumed keys", { timeoutMs: 30_000 });
const delayMs = 1_000;
const peers: Peer[] = [];
let services: CheckoutServices;
let risk: Client<typeof RiskService>;
let merchants: Client<typeof MerchantService>;
let connectors: Client<typeof ConnectorService>;
let accounts: Client<typeof ConnectorAccountService>;

test.before(async () => {
  services = await startCheckoutServices();
  const { urls, settings } = services.money;
  const to = (url: string) => {
    const peer = connectPeer({ url, token: settings.RPC_TOKEN });
    peers.push(peer);
    return peer;
  };
  risk = to(services.url).client(RiskService);
  merchants = to(urls.merchant).client(MerchantService);
  connectors = to(urls.merchant).client(ConnectorService);
  accounts = to(urls.payments).client(ConnectorAccountService);
});
test.after(async () => {
  for (const peer of peers) peer.close();
  await services?.stop();
});

interface Shop {
  readonly merchantId: string;
  readonly connectorId: string;
  /** Its account at the processor. */
  readonly account: string;
}

async function newShop(): Promise<Shop> {
  const order = { name: "Shop", email: "shop@example.com", country: "AT", currency: "EUR" };
  const { merchant } = await merchants.createMerchant(order);
  assert(merchant);
  const owner = { merchantId: merchant.id, environment: services.money.environment };
  const [connector] = (await connectors.listConnectors(owner)).connectors;
  assert(connector);
  return { merchantId: merchant.id, connectorId: connector.id, account: connector.externalAccountId };
}

const idempotency = (key: string) => ({ key, fingerprint: new Uint8Array(32) });

async function paymentOrder(shop: Shop, key: string): Promise<MessageInitShape<typeof CreatePaymentRequestSchema>> {
  const card = { number: "4242424242424242", exp_month: 12, exp_year: 2040, cvc: "123" };
  const { body } = await services.money.processor("POST", "/payment-methods", { account: shop.account, ...card });
  assert(typeof body === "object" && body !== null && "id" in body && typeof body.id === "string");
  const { environment } = services.money;
  const order = { merchantId: shop.merchantId, environment, amount: 1_050n, currency: "EUR", paymentMethod: body.id };
  return { ...order, idempotency: idempotency(key) };
}

/** Runs the work until the processor has done it, and loses the key before the answer is stored, as if killed. */
async function diesAfterwards(key: string, work: () => Promise<unknown>): Promise<string> {
  const delay = { target: "api.intents.create", kind: "delay", ms: delayMs, count: 1 };
  await services.money.processor("PUT", "/test/faults", delay);
  const running = work().then(
    () => assert.fail("the key was lost"),
    (error: unknown) => error,
  );
  await eventually("the key to be claimed and stolen", async () => {
    const theft = "update idempotency_keys set lock_id = 'thief' where key = $1 returning key";
    return (await services.db.rows(theft, [key])).length === 1;
  });
  assert(isRefusal("IDEMPOTENCY_CONFLICT")(await running));
  const [row] = await services.db.rows<{ object_id: string }>(
    "update idempotency_keys set locked_until = null where key = $1 returning object_id",
    [key],
  );
  assert(row);
  return row.object_id;
}

/** Blocks any amount and removes the connector, so that new requests are refused. */
async function closeShop({ merchantId, connectorId }: Shop): Promise<void> {
  const rule = { kind: RiskKind.AMOUNT_CAP, subject: "EUR", limit: 1n };
  await risk.createRule({ merchantId, operator: "ada@example.com", ...rule });
  await accounts.deactivateConnectorAccount({ merchantId, environment: services.money.environment, connectorId });
}

test("a key answers a payment that its dead run made, also when a new one would be refused", async () => {
  const [shop, key] = [await newShop(), freshKey()];
  const order = await paymentOrder(shop, key);
  const died = await diesAfterwards(key, () => services.checkout.createPayment(order));
  await closeShop(shop);
  const { payment } = await services.checkout.createPayment(order);
  assert.deepEqual([payment?.id, payment?.status], [died, "succeeded"]);
  const { payments, environment } = services.money;
  const { total } = await payments.listPayments({ merchantId: shop.merchantId, environment, limit: 10 });
  assert.equal(total, 1n);
  assert.equal((await services.checkout.createPayment(order)).replayed, true);
  const other = await paymentOrder(shop, freshKey());
  await assert.rejects(services.checkout.createPayment(other), isRefusal("PAYMENT_BLOCKED"));
});

test("a key answers a session whose intent its dead run made, also when a new one would be refused", async () => {
  const [shop, key] = [await newShop(), freshKey()];
  const change = { merchantId: shop.merchantId };
  const died = await diesAfterwards(key, () => services.create(change, key));
  await closeShop(shop);
  const session = await services.create(change, key);
  assert.deepEqual([session.id, session.replayed], [died, false]);
  assert.equal(await session.pay(), "succeeded");
  assert.equal((await session.confirm()).status, "completed");
  await assert.rejects(services.create(change), isRefusal("PAYMENT_BLOCKED"));
});

test("a run that died before it called payments is screened like a new one, and its refusal is stored", async () => {
  const { merchantId } = await newShop();
  const blocked = { merchantId, environment: services.money.environment, customerEmail: "blocked@example.com" };
  const dead = async (operation: string, key: string, objectId: string) => {
    await services.db.rows(
      `insert into idempotency_keys (merchant_id, environment, operation, key, fingerprint, object_id)
       values ($1, $2, $3, $4, $5, $6)`,
      [merchantId, blocked.environment, operation, key, Buffer.alloc(32), objectId],
    );
    return { amount: 1_050n, currency: "EUR", ...blocked, idempotency: idempotency(key) };
  };
  const payment = { ...(await dead("create_payment", freshKey(), newId("payment"))), paymentMethod: "pm_any" };
  const session = await dead("create_session", freshKey(), newId("session"));
  for (let tries = 0; tries < 2; tries++) {
    const isReplay = (error: unknown) =>
      error instanceof Failure && error.reason === "PAYMENT_BLOCKED" && error.replayed === tries > 0;
    await assert.rejects(services.checkout.createPayment(payment), isReplay);
    await assert.rejects(services.checkout.createSession(session), isReplay);
  }
});

// Proves createCheckoutSession: hosted
test("without an origin for the hosted page a session has no checkout_url", async () => {
  const { merchantId, environment } = services.money;
  const order = { merchantId, environment, amount: 1_050n, currency: "EUR" };
  const answer = presentCreated(await services.checkout.createSession(order));
  assert.ok(answer.session_secret);
  assert.equal("checkout_url" in answer, false);
});

test.run();
