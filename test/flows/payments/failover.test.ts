// Two accounts of one merchant: new intents go where the routing sends them, to the second while the primary cannot be
// reached, and never when an intent may have been made at the primary.
import assert from "node:assert/strict";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { connectPeer } from "#platform/rpc/client.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { newId } from "#platform/values/id.ts";
import { ConnectorService, MerchantService, type RoutingSchema } from "#proto/merchant/v1/merchant_pb.ts";
import { insertConnector, listConnectors } from "../../../services/merchant/store/connectors.ts";
import { openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("failover of new intents", { timeoutMs: 30_000 });
const accounts = { primary: { id: "", external: "" }, other: { id: "", external: "" } };

const services = fixture(test, () => startMoneyServices({ circuitWindowCalls: 8 }));
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const money = fixture(test, () => merchantMoney(services, db));
const peer = fixture(test, () => connectPeer({ url: services.urls.merchant, token: services.settings.RPC_TOKEN }));
test.before(async () => {
  await openSecondAccount();
});
test.afterEach(async () => {
  await services.processor("DELETE", "/test/faults");
  await setSecretKey(undefined);
  await route({ rules: [], onOutage: "stop" });
  await eventually(
    "the primary account to serve again",
    async () => (await createdAt(money.order())) === accounts.primary.id,
  );
});

async function openSecondAccount(): Promise<void> {
  const merchantDb = await openDatabase(services.merchantDatabaseUrl);
  try {
    const { merchantId, environment } = services;
    const [primary] = await listConnectors(merchantDb, merchantId, environment);
    assert(primary);
    const [sealed] = await merchantDb.rows<{ credentials: Buffer }>(`select credentials from connectors`);
    const vault = new Vault(services.settings.ENCRYPTION_KEYS);
    const id = newId("connector");
    const credentials = vault.decrypt(sealed?.credentials ?? Buffer.alloc(0), `connector:${primary.id}`);
    const other = { ...primary, id, isPrimary: false, externalAccountId: "acct_second" };
    await insertConnector(merchantDb, other, vault.encrypt(credentials, `connector:${id}`));
    accounts.primary = { id: primary.id, external: primary.externalAccountId };
    accounts.other = { id, external: other.externalAccountId };
  } finally {
    await merchantDb.close();
  }
}

/** Changes the primary account's stored key, unnoticed by the services. @param key undefined: the right one */
async function setSecretKey(key: string | undefined): Promise<void> {
  const url = services.merchantDatabaseUrl;
  const merchantDb = await openDatabase(url);
  try {
    const vault = new Vault(services.settings.ENCRYPTION_KEYS);
    const of = (id: string) => `connector:${id}`;
    const [other] = await merchantDb.rows<{ sealed: Buffer }>(
      `select credentials as sealed from connectors where id = $1`,
      [accounts.other.id],
    );
    assert(other);
    const right = JSON.parse(vault.decrypt(other.sealed, of(accounts.other.id)).toString());
    const wanted = key === undefined ? right : { ...right, secret_key: key };
    const sealed = vault.encrypt(Buffer.from(JSON.stringify(wanted)), of(accounts.primary.id));
    await merchantDb.rows(`update connectors set credentials = $2 where id = $1`, [accounts.primary.id, sealed]);
  } finally {
    await merchantDb.close();
  }
}

async function allowFailover(failoverEnabled: boolean): Promise<void> {
  await peer.client(MerchantService).updateMerchantState({ merchantId: services.merchantId, failoverEnabled });
}

/** Replaces the routing. */
async function route(routing: MessageInitShape<typeof RoutingSchema>): Promise<void> {
  const { merchantId, environment } = services;
  const connectors = peer.client(ConnectorService);
  const { routing: read } = await connectors.getRouting({ merchantId, environment });
  const version = read?.version ?? 0;
  await connectors.replaceRouting({ merchantId, environment, routing: { ...routing, version } });
}

async function routingOf(paymentId: string) {
  const [row] = await db.rows<{ rule: number | null; reason: string }>(
    `select routing_rule as rule, routing_reason as reason from payments where id = $1`,
    [paymentId],
  );
  return row;
}

/** The account that made the intent; undefined: none did. */
async function createdAt(request: ReturnType<typeof money.order>): Promise<string | undefined> {
  try {
    await services.payments.createIntent(request);
  } catch {
    return undefined;
  }
  return await accountOf(request.paymentId);
}

async function accountOf(paymentId: string): Promise<string | undefined> {
  const [row] = await db.rows<{ id: string }>(`select connector_account_id as id from payments where id = $1`, [
    paymentId,
  ]);
  return row?.id;
}

async function failing(target: string, kind: string, count?: number): Promise<void> {
  await money.fault(target, kind, { account: accounts.primary.external, count });
}

test("a failing account is an error when the merchant has not enabled failover", async () => {
  await allowFailover(false);
  await failing("api.intents.create", "error_before", 1);
  const request = money.order();
  assert.equal(await createdAt(request), undefined);
  assert.equal(await accountOf(request.paymentId), accounts.primary.id);
});

test("an intent that provably was not made goes to the second account, and is paid and refunded there", async () => {
  await allowFailover(true);
  await setSecretKey("refused before any work");
  const request = money.order();
  assert.equal(await createdAt(request), accounts.other.id);
  await setSecretKey(undefined);
  assert.equal(await createdAt(request), accounts.other.id, "a repeat answers the same intent");
  assert.deepEqual(await routingOf(request.paymentId), { rule: null, reason: "outage" });
  await money.pay(request.paymentId);
  const { payment } = await services.payments.verifyIntent({ paymentId: request.paymentId });
  assert.equal(payment?.status, "succeeded");
  const { refund } = await services.payments.refundPayment({ ...money.owner, paymentId: request.paymentId });
  assert.equal(refund?.status, "succeeded");
});

test("an intent that may have been made stays at the primary account", async () => {
  await allowFailover(true);
  await failing("api.intents.create", "error_after", 1);
  await failing("api.intents.get", "error_before", 1);
  const request = money.order();
  assert.equal(await createdAt(request), undefined, "made, but not provably");
  await eventually("the repeat to find it", async () => (await createdAt(request)) === accounts.primary.id);
});

test("new intents skip the primary account while its circuit is open", async () => {
  await allowFailover(true);
  await failing("api.*", "error_before");
  await eventually("the circuit to open", async () => (await createdAt(money.order())) === accounts.other.id);
  const many = await Promise.all(Array.from({ length: 5 }, () => createdAt(money.order())));
  assert.ok(many.filter((at) => at === accounts.other.id).length >= 4, "at most one is the probe");
});

test("a rule, or the session, chooses the account of a new intent, and the payment shows why", async () => {
  const { amount, currency } = money.order();
  const use = [accounts.other.id];
  await route({
    rules: [
      { currency, amountMin: amount + 1n, use },
      { currency, amountMin: amount, use },
    ],
    onOutage: "stop",
  });
  const ruled = money.order();
  assert.equal(await createdAt(ruled), accounts.other.id);
  assert.deepEqual(await routingOf(ruled.paymentId), { rule: 2, reason: "rule" });
  await money.pay(ruled.paymentId);
  await services.payments.verifyIntent({ paymentId: ruled.paymentId });
  const { payment } = await services.payments.getPayment({ ...money.owner, paymentId: ruled.paymentId });
  assert.deepEqual([payment?.routing?.rule, payment?.attempts.map((one) => one.connectorId)], [2, use]);
  const other = { ...money.order(), amount: amount - 1n, lineItems: [] };
  assert.equal(await createdAt(other), accounts.primary.id);
  assert.deepEqual(await routingOf(other.paymentId), { rule: null, reason: "primary" });
  const named = { ...money.order(), connectorId: accounts.primary.id };
  assert.equal(await createdAt(named), accounts.primary.id);
  assert.deepEqual(await routingOf(named.paymentId), { rule: null, reason: "session" });
  const unknown = { ...money.order(), connectorId: newId("connector") };
  assert.equal(await createdAt(unknown), undefined);
  assert.equal(await accountOf(unknown.paymentId), undefined, "nothing was begun");
});

test("a session that names its account, and a rule with `stop`, use no other account in an outage", async () => {
  const use = [accounts.primary.id, accounts.other.id];
  await route({ rules: [{ use }], onOutage: "stop" });
  await failing("api.intents.create", "error_before", 1);
  assert.equal(await createdAt(money.order()), undefined);
  await route({ rules: [{ use }], onOutage: "next" });
  await setSecretKey("refused before any work");
  const named = { ...money.order(), connectorId: accounts.primary.id };
  assert.equal(await createdAt(named), undefined);
  const ruled = money.order();
  assert.equal(await createdAt(ruled), accounts.other.id);
  assert.deepEqual(await routingOf(ruled.paymentId), { rule: 1, reason: "outage" });
  await setSecretKey(undefined);
  assert.equal(await createdAt(named), accounts.primary.id, "a repeat stays with its account");
});

test("the operators' switch sets on_outage of a stored routing, and a stale version is refused", async () => {
  const { merchantId, environment } = services;
  const connectors = peer.client(ConnectorService);
  await route({ rules: [], onOutage: "stop" });
  await allowFailover(true);
  const { routing } = await connectors.getRouting({ merchantId, environment });
  assert.equal(routing?.onOutage, "next");
  const stale = { rules: [], onOutage: "stop", version: (routing?.version ?? 0) - 1 };
  await assert.rejects(connectors.replaceRouting({ merchantId, environment, routing: stale }), /INVALID_BODY/);
  const two = await Promise.allSettled(
    ["stop", "stop"].map((onOutage) =>
      connectors.replaceRouting({ merchantId, environment, routing: { ...routing, onOutage } as never }),
    ),
  );
  assert.equal(two.filter(({ status }) => status === "fulfilled").length, 1, "one of two concurrent replacements");
});

test("a preview has the shares of the accounts that a session would get", async () => {
  const { merchantId, environment } = services;
  await route({ rules: [{ currency: "EUR", use: [accounts.other.id], share: 30 }], onOutage: "stop" });
  const of = async (currency: string) => {
    const order = { merchantId, environment, amount: 2_500n, currency };
    const { previews } = await services.payments.previewRouting(order);
    return previews.map(({ connectorId, share, routing }) => [connectorId, share, routing?.rule, routing?.reason]);
  };
  assert.deepEqual(await of("EUR"), [
    [accounts.primary.id, 70, 0, "primary"],
    [accounts.other.id, 30, 1, "rule"],
  ]);
  assert.deepEqual(await of("USD"), [[accounts.primary.id, 100, 0, "primary"]]);
});

test.run();
