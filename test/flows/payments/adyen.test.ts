// Adyen as the active connector, through the real processes: its webhooks are the only truth, in any order.
import assert from "node:assert/strict";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { OperatorService } from "#proto/payments/v1/operator_pb.ts";
import { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import type { RunningStack } from "../../../deploy/local/running-stack.ts";
import { adyenCredentials, storedCredentials } from "../../connectors/adyen-rig.ts";
import type { AdyenAccount } from "../../harness/adyen/adyen-account.ts";
import { FakeAdyen } from "../../harness/adyen/fake-adyen.ts";
import { type Answer, apiClient } from "../../harness/api.ts";
import { eventually } from "../../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../../harness/merchant.ts";
import { startTestStack } from "../../harness/stack.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("Adyen as the active connector", { timeoutMs: 30_000, hookTimeoutMs: 120_000 });
const environment = Environment.SANDBOX;
let fake: FakeAdyen;
let adyen: AdyenAccount;
let running: RunningStack;
let merchant: TestMerchant;
let operator: Peer;

test.before(async () => {
  fake = await new FakeAdyen().start();
  const { merchant_account: name, webhook_password: webhookPassword } = storedCredentials;
  adyen = fake.account(name, { ...adyenCredentials, webhookPassword });
  const env = { ADYEN_API_URL: fake.url, PROCESSOR_TIMEOUT_SECONDS: "2", RECONCILE_AFTER_SECONDS: "1" };
  running = await startTestStack({ shape: "one", env });
  operator = connectPeer({ url: running.stack.rpc.payments, token: running.stack.rpc_token });
  merchant = await freshMerchant(running.stack);
});
test.after(async () => {
  operator.close();
  await running.stop();
  await fake.stop();
});

const accounts = () => operator.client(ConnectorAccountService);
const hook = () => `${running.stack.gateway}/processors/adyen/${adyen.name}`;
const deliver = (options = {}) => adyen.send(hook(), options);

async function newSession(members: object = {}): Promise<Answer> {
  const body = { amount: 1_050, currency: "EUR", success_url: "https://shop.example/thanks", ...members };
  return (await merchant.api.post("/v1/checkout-sessions", body)).expect(201);
}

function buyer(session: Answer, action: "" | "/confirm" = ""): Promise<Answer> {
  const path = `/v1/checkout/${session.text("id")}${action}?secret=${session.text("session_secret")}`;
  const caller = apiClient(running.stack.gateway);
  return action === "" ? caller.get(path) : caller.post(path);
}

const linkOf = (session: Answer) => session.text("render.redirect_url").split("/").at(-1) ?? "";
const read = async (id: string) => (await merchant.api.get(`/v1/payments/${id}`)).expect(200);
const statusOf = async (id: string) => (await read(id)).at("status");

/** A session whose buyer has paid, by the webhook alone. */
async function paid(members: object = {}): Promise<{ id: string; psp: string; link: string; session: Answer }> {
  const session = await newSession(members);
  const link = linkOf(session);
  const psp = adyen.pay(link);
  await deliver();
  await eventually("the session to complete", async () => (await buyer(session)).at("status") === "completed");
  return { id: (await buyer(session)).text("payment_id"), psp, link, session };
}

test("an account is added after a live call; a wrong key, account or environment names its field and stores nothing", async () => {
  const added = { merchantId: merchant.id, environment, connector: "adyen", makeDefault: true };
  const add = (changed: Record<string, string>, more = {}) =>
    accounts().addConnectorAccount({ ...added, ...more, credentials: { ...storedCredentials, ...changed } });
  const refusedFor = (field: string) => (error: unknown) =>
    error instanceof Failure &&
    error.reason === "INVALID_BODY" &&
    error.violations[0]?.field === `credentials.${field}`;
  await assert.rejects(add({ api_key: "AQEyhmfxK4PJahZCw0m_another_key" }), refusedFor("api_key"));
  await assert.rejects(add({ merchant_account: "OtherECOM" }), refusedFor("merchant_account"));
  await assert.rejects(add({ client_key: "live_ABCDEFGHIJKLMNOP" }), refusedFor("client_key"));
  await assert.rejects(add({ hmac_key: "00" }), refusedFor("hmac_key"));
  await assert.rejects(add({ live_prefix: "a-B" }), refusedFor("live_prefix"));
  await assert.rejects(add({}, { environment: Environment.LIVE }), refusedFor("client_key"));
  const { connector, webhookPath } = await add({});
  assert.deepEqual([connector?.connector, webhookPath], ["adyen", `/processors/adyen/${adyen.name}`]);
  assert.deepEqual(connector?.allowedSurfaces, ["embedded", "redirect"]);
  const path = `/v1/merchants/me/connectors/${connector?.id}`;
  (await merchant.api.patch(path, { selected_surface: "redirect" })).expect(200);
});

test("confirm answers processing until the webhook decides; the card, its checks and the events follow", async () => {
  const session = await newSession();
  const link = linkOf(session);
  assert.equal((await buyer(session, "/confirm")).text("payment_status"), "pending");
  adyen.pay(link, { refused: "Not enough balance" });
  await deliver();
  await eventually("the refusal", async () => (await buyer(session)).at("payment_status") === "failed");
  adyen.pay(link);
  const confirmed = (await buyer(session, "/confirm")).expect(200);
  assert.deepEqual([confirmed.at("status"), confirmed.at("payment_status")], ["processing", "processing"]);
  await deliver({ shuffle: true, double: true });
  await eventually("the session to complete", async () => (await buyer(session)).at("status") === "completed");
  const record = await read((await buyer(session)).text("payment_id"));
  assert.deepEqual(
    [record.at("status"), record.at("connector"), record.at("connector_ref"), record.at("card.last4")],
    ["succeeded", "adyen", link, "1111"],
  );
  assert.equal(record.at("verification.cvc_check"), "pass");
});

test("a webhook without the password or with a changed field is refused, and an unknown code is acknowledged", async () => {
  const { psp } = await paid();
  adyen.later("REPORT_AVAILABLE_SOON", psp);
  const item = adyen.queue.at(-1);
  assert(item);
  const { body, headers } = adyen.deliver(item);
  const post = async (sent: Uint8Array, also: Record<string, string>) => {
    const answer = await fetch(hook(), { method: "POST", body: Buffer.from(sent), headers: also });
    await answer.arrayBuffer();
    return answer.status;
  };
  assert.equal(await post(body, { "content-type": "application/json" }), 400);
  const changed = Buffer.from(Buffer.from(body).toString().replace("1050", "9999"));
  assert.equal(await post(changed, headers), 400);
  assert.equal(await post(body, headers), 200);
  adyen.queue.length = 0;
});

test("refunds are pending until Adyen decides; one that fails later gives the amount back", async () => {
  const { id } = await paid();
  const refund = (await merchant.api.post(`/v1/payments/${id}/refunds`, { amount: 400 })).expect(201);
  assert.equal(refund.at("refund_status"), "pending");
  adyen.settle();
  await deliver({ shuffle: true, double: true });
  const path = `/v1/refunds/${refund.text("id")}`;
  await eventually("the refund", async () => (await merchant.api.get(path)).at("status") === "succeeded");
  assert.equal(await statusOf(id), "partially_refunded");
  const second = (await merchant.api.post(`/v1/payments/${id}/refunds`, {})).expect(201);
  adyen.settle({ success: false, reason: "Insufficient balance on payment" });
  await deliver();
  const other = `/v1/refunds/${second.text("id")}`;
  await eventually("the refusal", async () => (await merchant.api.get(other)).at("status") === "failed");
  assert.equal((await read(id)).at("refunded_amount"), 400);
});

test("a refund whose answer is lost is sent again under its key, and is made once", async () => {
  const { id } = await paid();
  fake.failNext(/refunds$/, "silent-after");
  const before = fake.requests.filter(({ path }) => path.endsWith("/refunds")).length;
  await merchant.api.post(`/v1/payments/${id}/refunds`, { amount: 100 });
  await eventually(
    "the second send",
    () => fake.requests.filter(({ path }) => path.endsWith("/refunds")).length > before + 1,
  );
  adyen.settle();
  await deliver();
  await eventually("the refund", async () => (await read(id)).at("refunded_amount") === 100);
  const keys = fake.requests
    .slice()
    .filter(({ path }) => path.endsWith("/refunds"))
    .slice(before);
  assert.equal(new Set(keys.map(({ key }) => key)).size, 1);
});

test("an authorization is captured, or released, when Adyen reports it", async () => {
  const held = await paid({ capture_method: "manual" });
  assert.equal((await read(held.id)).at("captured_amount"), 0);
  await merchant.api.post(`/v1/payments/${held.id}/capture`, { amount: 800 });
  assert.equal((await read(held.id)).at("captured_amount"), 0);
  adyen.settle();
  await deliver();
  await eventually("the capture", async () => (await read(held.id)).at("captured_amount") === 800);
  const released = await paid({ capture_method: "manual" });
  await merchant.api.post(`/v1/payments/${released.id}/cancel`, {});
  adyen.settle();
  await deliver();
  await eventually("the release", async () => (await statusOf(released.id)) === "canceled");
});

test("a second payment on one page is unexpected funds, which an operator refunds", async () => {
  const { id, link } = await paid();
  const second = adyen.pay(link, { isLate: true });
  await deliver();
  const funds = operator.client(OperatorService);
  const about = async () =>
    (await funds.listSuspense({ limit: 200 })).items.find(({ connectorRef }) => connectorRef === second);
  await eventually("the row", async () => (await about())?.paymentId === id);
  assert.deepEqual([(await about())?.kind, (await about())?.amount], ["second_charge", 1_050n]);
  assert.equal((await read(id)).at("captured_amount"), 1_050);
});

test("a dispute arrives, is answered with a text, and is lost by its last event", async () => {
  const { id, psp } = await paid();
  const dispute = adyen.dispute(psp, "NOTIFICATION_OF_CHARGEBACK");
  await deliver();
  await eventually("the dispute", async () => (await statusOf(id)) === "disputed");
  const listed = (await merchant.api.get(`/v1/disputes?payment_id=${id}`)).expect(200);
  const path = `/v1/disputes/${listed.text("data.0.id")}`;
  const evidence = { product_description: "A lemon tree" };
  (await merchant.api.post(`${path}/evidence`, evidence)).expect(200);
  assert.equal((await merchant.api.get(path)).at("status"), "under_review");
  adyen.later("SECOND_CHARGEBACK", dispute, { additionalData: { disputeStatus: "Lost" } });
  await deliver({ shuffle: true });
  await eventually("the loss", async () => (await merchant.api.get(path)).at("status") === "lost");
});

test.run();
