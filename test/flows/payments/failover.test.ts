// Two accounts of one merchant at the simulator: when nothing can be sent to the primary one, new intents go to the
// other, and never after an attempt may have reached a processor.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Database } from "#platform/database/database.ts";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { insertConnector, listConnectors } from "../../../services/merchant/store/connectors.ts";
import { eventually } from "../../harness/eventually.ts";
import { type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("failover of new intents", { timeoutMs: 30_000 });
let services: MoneyServices;
let db: Database;
let peer: Peer;
const accounts = { primary: { id: "", external: "" }, other: { id: "", external: "" } };

test.before(async () => {
  services = await startMoneyServices({ circuitWindowCalls: 8 });
  db = await Database.open({ url: services.paymentsDatabaseUrl, name: "test", log: createLog("test", "fatal") });
  peer = connectPeer({ url: services.urls.merchant, token: services.settings.RPC_TOKEN });
  await openSecondAccount();
});
test.after(async () => {
  peer.close();
  await db.close();
  await services.stop();
});
test.afterEach(async () => {
  await services.processor("DELETE", "/test/faults");
  await eventually(
    "the primary account to serve again",
    async () => (await createdAt(order())) === accounts.primary.id,
  );
});

async function openSecondAccount(): Promise<void> {
  const merchantDb = await Database.open({
    url: services.merchantDatabaseUrl,
    name: "test",
    log: createLog("test", "fatal"),
  });
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

/** Changes the primary account's key at the processor behind everybody's back. @param key undefined: the right one */
async function setSecretKey(key: string | undefined): Promise<void> {
  const url = services.merchantDatabaseUrl;
  const merchantDb = await Database.open({ url, name: "test", log: createLog("test", "fatal") });
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

function order(id = newId("payment")) {
  const { merchantId, environment } = services;
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  const sessionId = `cs_${id.slice(4)}`;
  return { paymentId: id, sessionId, merchantId, environment, amount: 1_000n, currency: "EUR", expiresAt };
}

/** The account at which the intent was made; undefined: it was not made. */
async function createdAt(request: ReturnType<typeof order>): Promise<string | undefined> {
  try {
    await services.payments.createIntent(request);
  } catch {
    return undefined;
  }
  return (await stored(request.paymentId)).connector_account_id;
}

async function stored(paymentId: string) {
  const [row] = await db.rows<{ connector_account_id: string; connector_ref: string | null }>(
    `select connector_account_id, connector_ref from payments where id = $1`,
    [paymentId],
  );
  assert(row);
  return row;
}

async function failing(target: string, kind: string, count?: number): Promise<void> {
  const at = { account: accounts.primary.external };
  await services.processor("PUT", "/test/faults", { target, kind, ...at, ...(count ? { count } : {}) });
}

test("without the merchant's leave a failing connector is an error, and nothing goes elsewhere", async () => {
  await allowFailover(false);
  await failing("api.intents.create", "error_before", 1);
  const request = order();
  assert.equal(await createdAt(request), undefined);
  assert.equal((await stored(request.paymentId)).connector_account_id, accounts.primary.id);
});

test("an intent that surely was not made goes to the other account, and is paid and refunded there", async () => {
  await allowFailover(true);
  await setSecretKey("refused before any work");
  const request = order();
  assert.equal(await createdAt(request), accounts.other.id);
  await setSecretKey(undefined);
  assert.equal(await createdAt(request), accounts.other.id, "a repeat answers the same intent");
  const { connector_ref } = await stored(request.paymentId);
  await services.processor("POST", `/test/intents/${connector_ref}/pay`, { card: "4242424242424242" });
  const { payment } = await services.payments.verifyIntent({ paymentId: request.paymentId });
  assert.equal(payment?.status, "succeeded");
  const { merchantId, environment, paymentId } = request;
  const { refund } = await services.payments.refundPayment({ merchantId, environment, paymentId });
  assert.equal(refund?.status, "succeeded");
});

test("an answered 5xx is no leave to go elsewhere: what may have been made stays where it is", async () => {
  await allowFailover(true);
  await failing("api.intents.create", "edge_error", 1);
  const request = order();
  assert.equal(await createdAt(request), undefined, "nobody could know");
  assert.equal(await createdAt(request), accounts.primary.id, "the repeat goes on there");
});

test("an intent that may have been made stays where it is", async () => {
  await allowFailover(true);
  await failing("api.intents.create", "error_after", 1);
  await failing("api.intents.get", "error_before", 1);
  const request = order();
  assert.equal(await createdAt(request), undefined, "made, but nobody could know");
  assert.equal(await createdAt(request), accounts.primary.id, "the repeat finds it");
});

test("while the primary account is down its circuit is open and new intents do not even try it", async () => {
  await allowFailover(true);
  await failing("api.*", "error_before");
  await eventually("the circuit to open", async () => (await createdAt(order())) === accounts.other.id);
  const many = await Promise.all(Array.from({ length: 5 }, () => createdAt(order())));
  assert.ok(many.filter((at) => at === accounts.other.id).length >= 4, "at most one is the probe");
});

test.run();
