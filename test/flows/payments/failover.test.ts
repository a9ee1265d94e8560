// Two accounts of one merchant: new intents go to the second while the primary cannot be reached, and never when an
// intent may have been made at the primary.
import assert from "node:assert/strict";
import { connectPeer } from "#platform/rpc/client.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { newId } from "#platform/values/id.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
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

test.run();
