// Payment and refund with Stripe as the active connector, through the six real processes, which do not know the
// processor. A fake of Stripe's API takes its place and signs its webhooks.
import assert from "node:assert/strict";
import pg from "pg";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { seeScreen } from "../browser/buyer.ts";
import { type Answer, apiClient } from "../harness/api.ts";
import { browserSuite } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { isSignedWith, type Receiver, startReceiver } from "../harness/receiver.ts";
import { startTestStack } from "../harness/stack.ts";
import { FakeStripe, signEvent } from "../harness/stripe/fake-stripe.ts";
import type { StripeAccount } from "../harness/stripe/stripe-account.ts";
import type { Json } from "../harness/stripe/stripe-records.ts";
import { suite } from "../harness/suite.ts";

const test = suite("Stripe as the active connector", { timeoutMs: 30_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
const environment = Environment.SANDBOX;
const credentials = { secret_key: "sk_test_1", publishable_key: "pk_test_1", webhook_secret: "whsec_1" };
let fake: FakeStripe;
let stripe: StripeAccount;
let running: RunningStack;
let merchant: TestMerchant;
let receiver: Receiver;
let signingSecret: string;
let operator: Peer;
let connectorId: string;

const accounts = () => operator.client(ConnectorAccountService);

test.before(async () => {
  fake = await new FakeStripe().start();
  stripe = fake.account("acct_1Lemon", credentials.secret_key);
  running = await startTestStack({ shape: "one", env: { STRIPE_API_URL: fake.url, PROCESSOR_TIMEOUT_SECONDS: "2" } });
  operator = connectPeer({ url: running.stack.rpc.payments, token: running.stack.rpc_token });
  merchant = await freshMerchant(running.stack);
  receiver = await startReceiver(running.stack.tls);
  const endpoint = await merchant.api.post("/v1/merchants/me/webhooks", {
    url: `${receiver.url}/hook`,
    event_types: ["payment.succeeded", "payment.failed", "payment.refunded", "payment.disputed"],
  });
  signingSecret = endpoint.expect(201).text("signing_secret");
});
test.after(async () => {
  operator.close();
  await receiver.close();
  await running.stop();
  await fake.stop();
});

async function newSession(members: Json = {}): Promise<Answer> {
  const body = {
    amount: 1_050,
    currency: "EUR",
    description: "Order 7",
    customer_email: "ada@example.com",
    ...members,
  };
  return (await merchant.api.post("/v1/checkout-sessions", body)).expect(201);
}

function buyer(session: Answer, action: "" | "/confirm"): Promise<Answer> {
  const path = `/v1/checkout/${session.text("id")}${action}?secret=${session.text("session_secret")}`;
  const caller = apiClient(running.stack.gateway);
  return action === "" ? caller.get(path) : caller.post(path);
}

/** The intent behind a session: its id is the first part of its client secret. */
const intentOf = (session: Answer) => session.text("render.client_secret").split("_secret")[0] ?? "";

async function paid(): Promise<{ intentId: string; paymentId: string; session: Answer }> {
  const session = await newSession();
  const intentId = intentOf(session);
  stripe.pay(intentId);
  const confirmed = (await buyer(session, "/confirm")).expect(200);
  return { intentId, paymentId: confirmed.text("payment_id"), session };
}

function deliver(event: Json, secret: string = credentials.webhook_secret): Promise<Answer> {
  const { body, header } = signEvent(event, secret);
  return apiClient(running.stack.gateway).post(`/processors/stripe/${stripe.id}`, body, { "stripe-signature": header });
}

/** The newest event of a type. */
function event(type: string): Json {
  const found = stripe.events.findLast((each) => each.type === type);
  if (!found) throw new Error(`Stripe has no event ${type}`);
  return found;
}

const waitForWebhook = (type: string, paymentId: string, status: string) =>
  receiver.waitFor((request) => request.body.toString() === JSON.stringify({ type, payment_id: paymentId, status }));
const payment = async (id: string) => (await merchant.api.get(`/v1/payments/${id}`)).expect(200);
const failed = (reason: string, field?: string) => (error: unknown) =>
  error instanceof Failure && error.reason === reason && (field === undefined || error.violations[0]?.field === field);

test("one RPC takes a merchant from the simulator to Stripe, with credentials that Stripe knows and of the right environment", async () => {
  const added = { merchantId: merchant.id, environment, connector: "stripe", credentials, makeDefault: true };
  const before = fake.requests.length;
  const live = { ...added, environment: Environment.LIVE };
  await assert.rejects(accounts().addConnectorAccount(live), failed("INVALID_BODY", "credentials.secret_key"));
  assert.equal(fake.requests.length, before, "a key of the other environment is sent nowhere");
  const wrong = { ...added, credentials: { ...credentials, secret_key: "sk_test_wrong" } };
  await assert.rejects(accounts().addConnectorAccount(wrong), failed("INVALID_BODY", "credentials.secret_key"));
  const { connector, account, webhookPath } = await accounts().addConnectorAccount(added);
  connectorId = connector?.id ?? "";
  assert.equal(webhookPath, `/processors/stripe/${stripe.id}`);
  assert.deepEqual(
    [account?.externalAccountId, account?.displayName, account?.canCharge],
    [stripe.id, "Lemon Books", true],
  );
  const again = await accounts().addConnectorAccount(added);
  assert.equal(again.connector?.id, connectorId, "the same account again is the same connector");
  const listed = (await merchant.api.get("/v1/merchants/me/connectors")).list("data").map(Object);
  assert.deepEqual(
    listed.map((each) => [each.connector, each.is_default]),
    [
      ["stripe", true],
      ["simulator", false],
    ],
  );
  const other = await freshMerchant(running.stack);
  const duplicate = { ...added, merchantId: other.id };
  await assert.rejects(accounts().addConnectorAccount(duplicate), failed("CONNECTOR_NOT_ELIGIBLE"));
  assert.ok(!(await storedCredentials()).includes("sk_test_1"), "ciphertext at rest");
});

async function storedCredentials(): Promise<string> {
  const url = new URL(running.stack.database);
  url.pathname += "_merchant";
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    const { rows } = await client.query("select credentials from connectors where id = $1", [connectorId]);
    return rows[0].credentials.toString("latin1");
  } finally {
    await client.end();
  }
}

test("a buyer pays on Stripe's fields, the session completes, and each path notifies the merchant once", async () => {
  const session = await newSession();
  assert.deepEqual(
    [session.text("connector"), session.text("render.kind"), session.text("render.publishable_key")],
    ["stripe", "element", "pk_test_1"],
  );
  assert.match(session.text("render.script_url"), /^https:\/\/js\.stripe\.com\//);
  assert.equal((await buyer(session, "/confirm")).text("payment_status"), "pending");
  stripe.pay(intentOf(session), "pm_card_chargeDeclined");
  assert.equal((await buyer(session, "/confirm")).text("payment_status"), "failed");
  stripe.pay(intentOf(session));
  const confirmed = (await buyer(session, "/confirm")).expect(200);
  assert.deepEqual([confirmed.text("status"), confirmed.text("payment_status")], ["completed", "succeeded"]);
  const id = confirmed.text("payment_id");
  assert.ok(isSignedWith(await waitForWebhook("payment.succeeded", id, "succeeded"), signingSecret));
  await waitForWebhook("payment.failed", id, "failed");
  const happened = event("payment_intent.succeeded");
  for (let i = 0; i < 3; i++) (await deliver(happened)).expect(200);
  (await deliver(event("payment_intent.payment_failed"))).expect(200);
  const count = () =>
    receiver.received.filter((r) => r.body.toString().includes(`"payment.succeeded","payment_id":"${id}"`));
  await eventually("the announcement of Stripe's webhook", () => count().length === 2);
  const record = await payment(id);
  assert.deepEqual(
    [record.text("status"), record.text("connector"), record.text("connector_ref"), record.text("card.last4")],
    ["succeeded", "stripe", intentOf(session), "4242"],
  );
  assert.equal(record.text("verification.cvc_check"), "pass");
  assert.match(record.text("receipt_url"), /^https:\/\/pay\.stripe\.com\//);
});

test("a buyer who never comes back is completed by Stripe's webhook alone; what is not about us is acknowledged", async () => {
  const session = await newSession();
  stripe.pay(intentOf(session));
  (await deliver(event("payment_intent.succeeded"))).expect(200);
  await eventually("the session to complete", async () => (await buyer(session, "")).at("status") === "completed");
  const unknown = { id: stripe.newId("evt"), object: "event", type: "invoice.paid", livemode: false, created: 1 };
  (await deliver({ ...unknown, data: { object: { id: "in_1", object: "invoice" } } })).expect(200);
  (await deliver(event("payment_intent.succeeded"), "whsec_forged")).expect(400);
});

test("the merchant chooses Stripe's own page, and its buyer pays there", async () => {
  const path = `/v1/merchants/me/connectors/${connectorId}`;
  (await merchant.api.patch(path, { selected_surface: "redirect" })).expect(200);
  const without = await merchant.api.post("/v1/checkout-sessions", { amount: 1_050, currency: "EUR" });
  if (without.status === 400) assert.equal(without.at("error.details.0.field"), "success_url");
  const session = await newSession({ success_url: "https://shop.example/thanks" });
  assert.match(session.text("render.redirect_url"), /^https:\/\/checkout\.stripe\.com\//);
  const page = session.text("render.redirect_url").split("/").at(-1) ?? "";
  stripe.payOnPage(page);
  (await deliver(event("payment_intent.succeeded"))).expect(200);
  await eventually("the session to complete", async () => (await buyer(session, "")).at("status") === "completed");
  const paymentId = (await buyer(session, "")).text("payment_id");
  (await merchant.api.post(`/v1/payments/${paymentId}/refunds`, {})).expect(201);
});

inBrowser(
  "the hosted page sends the buyer to Stripe's page, and shows paid when the buyer returns",
  async ({ page, context }) => {
    const thanks = "https://shop.example/thanks";
    const session = await newSession({ success_url: thanks });
    const outside = session.text("render.redirect_url");
    await context.route(outside, async (route) => {
      stripe.payOnPage(outside.split("/").at(-1) ?? "");
      await route.fulfill({ contentType: "text/html", body: `<a href="${thanks}">Pay and return</a>` });
    });
    await context.route(`${thanks}**`, (route) =>
      route.fulfill({ contentType: "text/html", body: "<h1>Thank you</h1>" }),
    );
    await page.goto(session.text("checkout_url"));
    await page.getByRole("button", { name: /^Continue to/ }).click();
    await page.waitForURL(outside);
    assert.doesNotMatch(await page.evaluate("document.referrer"), /secret/);
    await page.getByRole("link", { name: "Pay and return" }).click();
    await seeScreen(page, "Thank you");
    (await deliver(event("payment_intent.succeeded"))).expect(200);
    await page.goto(session.text("checkout_url"));
    await seeScreen(page, "Payment successful");
  },
);

inBrowser(
  "a tab that was left open sends its buyer to the page in the place of the one that expired, and is charged once",
  async ({ page, context }) => {
    stripe.pageSeconds = 200; // so near its end that it is asked about each time
    const session = await newSession({ success_url: "https://shop.example/thanks", expires_in: 2_592_000 });
    const outside = session.text("render.redirect_url");
    await context.route("https://checkout.stripe.com/**", (route) =>
      route.fulfill({ contentType: "text/html", body: "<h1>Stripe</h1>" }),
    );
    await page.goto(session.text("checkout_url"));
    const going = page.getByRole("button", { name: /^Continue to/ });
    await going.waitFor();
    stripe.expirePage(outside.split("/").at(-1) ?? "");
    (await deliver(event("checkout.session.expired"))).expect(200);
    assert.equal((await buyer(session, "")).at("status"), "open", "the page's end is not the session's");
    await page.locator('.pay-view[data-state="ready"]').waitFor();
    await going.click();
    await page.waitForURL("https://checkout.stripe.com/**");
    assert.notEqual(page.url(), outside);
    stripe.payOnPage(page.url().split("/").at(-1) ?? "");
    (await deliver(event("payment_intent.succeeded"))).expect(200);
    await eventually("the session to complete", async () => (await buyer(session, "")).at("status") === "completed");
    const paid = await payment((await buyer(session, "")).text("payment_id"));
    assert.deepEqual([paid.at("status"), paid.at("connector_ref")], ["succeeded", page.url().split("/").at(-1)]);
  },
);

test("the merchant chooses the embedded form again", async () => {
  const path = `/v1/merchants/me/connectors/${connectorId}`;
  (await merchant.api.patch(path, { selected_surface: "embedded" })).expect(200);
  assert.equal((await newSession()).text("render.kind"), "element");
});

test("credentials are rotated without a gap, and only within the same account", async () => {
  const named = { merchantId: merchant.id, environment, connectorId };
  const rotate = (newCredentials: Record<string, string>) =>
    accounts().rotateConnectorCredentials({ ...named, credentials: newCredentials });
  fake.account("acct_1Other", "sk_test_other");
  await assert.rejects(rotate({ secret_key: "sk_test_other" }), failed("INVALID_BODY", "credentials"));
  await assert.rejects(rotate({ webhook_secret: "nonsense" }), failed("INVALID_BODY", "credentials.webhook_secret"));
  await rotate({ webhook_secret: "whsec_2,whsec_1" });
  const happened = event("payment_intent.succeeded");
  for (const secret of ["whsec_1", "whsec_2"]) (await deliver(happened, secret)).expect(200);
  await rotate({ webhook_secret: "whsec_2" });
  (await deliver(happened, "whsec_1")).expect(400);
  const { account } = await accounts().checkConnectorAccount(named);
  assert.deepEqual([account?.credentialsTaken, account?.externalAccountId], [true, stripe.id]);
  const stranger = { ...named, merchantId: (await freshMerchant(running.stack)).id };
  await assert.rejects(accounts().checkConnectorAccount(stranger), failed("NOT_FOUND"));
});

test("a deactivated account takes no new sessions, and still refunds what it took", async () => {
  const { paymentId } = await paid();
  const { connector } = await accounts().deactivateConnectorAccount({
    merchantId: merchant.id,
    environment,
    connectorId,
  });
  assert.deepEqual([connector?.isActive, connector?.isDefault], [false, false]);
  const refused = await merchant.api.post("/v1/checkout-sessions", { amount: 500, currency: "EUR" });
  assert.equal(refused.expect(422).text("error.code"), "no_connector");
  (await merchant.api.post(`/v1/payments/${paymentId}/refunds`, {})).expect(201);
});

test.run();
