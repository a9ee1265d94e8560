// Rotation of hash keys: API keys and session secrets keep working and are rehashed on use, and the command lists the
// rest. Services restart on the same databases with each list of keys.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Client } from "@connectrpc/connect";
import pg from "pg";
import { connectPeer } from "#platform/rpc/client.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { RiskKind, RiskService } from "#proto/checkout/v1/risk_pb.ts";
import { ApiKeyService, Environment, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { hashedColumns } from "../../../deploy/cli/setup/hashed-columns.ts";
import { startCheckout } from "../../../services/checkout/service.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { freshDatabase, type TestDatabase } from "../../harness/database.ts";
import { type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";

const test = suite("rotation of hash keys");
const [a, b] = [randomBytes(32), randomBytes(32)];
type Ring = ReadonlyMap<string, Buffer>;
const onlyA: Ring = new Map([["", a]]);
const aThenB: Ring = new Map([...onlyA, ["h2", b]]);
const bThenA: Ring = new Map([["h2", b], ...onlyA]);
const onlyB: Ring = new Map([["h2", b]]);
const environment = Environment.SANDBOX;
let money: MoneyServices;
const databases: Partial<Record<"merchant" | "checkout", TestDatabase>> = {};

test.before(async () => {
  money = await startMoneyServices();
  databases.merchant = await freshDatabase("merchant");
  databases.checkout = await freshDatabase("checkout");
});
test.after(() => money?.stop());

function databaseOf(service: "merchant" | "checkout"): TestDatabase {
  const database = databases[service];
  assert(database);
  return database;
}

interface MerchantClients {
  readonly keys: Client<typeof ApiKeyService>;
  readonly merchants: Client<typeof MerchantService>;
}

/** Runs the work on a merchant service with these keys. */
async function merchantWith<T>(HASH_KEY: Ring, work: (clients: MerchantClients) => Promise<T>): Promise<T> {
  const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
  const DATABASE_URL = databaseOf("merchant").serviceUrl;
  const service = await startMerchant({ ...money.settings, ...simulator, DATABASE_URL, HASH_KEY });
  const peer = connectPeer({ url: `http://127.0.0.1:${service.port}`, token: money.settings.RPC_TOKEN });
  try {
    return await work({ keys: peer.client(ApiKeyService), merchants: peer.client(MerchantService) });
  } finally {
    peer.close();
    await service.stop();
  }
}

interface CheckoutClients {
  readonly checkout: Client<typeof CheckoutService>;
  readonly risk: Client<typeof RiskService>;
}

async function checkoutWith<T>(HASH_KEY: Ring, work: (clients: CheckoutClients) => Promise<T>): Promise<T> {
  const service = await startCheckout({
    ...money.settings,
    HASH_KEY,
    DATABASE_URL: databaseOf("checkout").serviceUrl,
    PAYMENTS_URL: money.urls.payments,
    MERCHANT_URL: undefined,
    CHECKOUT_ORIGIN: undefined,
    BACKUP_DAYS: 30,
    RETENTION_UNPAID_SESSION_DAYS: 400,
    IDEMPOTENCY_LEASE_SECONDS: 90,
  });
  const peer = connectPeer({ url: `http://127.0.0.1:${service.port}`, token: money.settings.RPC_TOKEN });
  try {
    return await work({ checkout: peer.client(CheckoutService), risk: peer.client(RiskService) });
  } finally {
    peer.close();
    await service.stop();
  }
}

async function rows<Row>(service: "merchant" | "checkout", text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client(databaseOf(service).url);
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

const hmac = (key: Buffer, secret: string) => createHmac("sha256", key).update(secret).digest();
const keyRow = async (id: string) =>
  (
    await rows<{ hash: Buffer; key: string }>(
      "merchant",
      "select hash, hash_key_id as key from api_keys where id = $1",
      [id],
    )
  )[0];
const sessionRow = async (id: string) =>
  (
    await rows<{ hash: Buffer; key: string; version: number }>(
      "checkout",
      "select secret_hash as hash, secret_hash_key_id as key, version from sessions where id = $1",
      [id],
    )
  )[0];

/** The command's lines about the service's hash keys. */
async function keyUse(service: "merchant" | "checkout"): Promise<string[]> {
  const env = { ...process.env, DATABASE_URL: databaseOf(service).serviceUrl };
  const script = join(import.meta.dirname, "../../../deploy/cli/main.ts");
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [script, "encryption-keys", "use", "--service", service, "--json"],
    { env },
  );
  const rows: readonly Record<string, string>[] = JSON.parse(stdout);
  return rows
    .filter(({ key }) => key?.startsWith("hash key"))
    .map(({ key, needed_by, in_use, ended }) => `${needed_by}: ${in_use} in use and ${ended} ended under ${key}`);
}

test("an API key that is used survives the removal of its hash key, and the command lists unused ones", async () => {
  const [used, idle, over] = await merchantWith(onlyA, async ({ keys, merchants }) => {
    const profile = { name: "Acme", legalName: "", email: "ops@acme.example", country: "DE", currency: "EUR" };
    const merchantId = (await merchants.createMerchant(profile)).merchant?.id ?? "";
    const make = async () => {
      const made = await keys.createApiKey({ merchantId, environment, name: "key", scopes: ["payments:read"] });
      return { id: made.apiKey?.id ?? "", secret: made.secret };
    };
    const three = [await make(), await make(), await make()] as const;
    await keys.revokeApiKey({ merchantId, environment, apiKeyId: three[2].id });
    return three;
  });
  assert.deepEqual(await keyRow(used.id), { hash: hmac(a, used.secret), key: "" }, "as the previous release writes it");
  assert.deepEqual(await keyUse("merchant"), ["api_keys.hash: 2 in use and 1 ended under hash key without a name"]);
  await merchantWith(aThenB, ({ keys }) => keys.authenticateKey({ apiKey: used.secret }));
  assert.equal((await keyRow(used.id))?.key, "", "only the first key hashes");
  await merchantWith(bThenA, async ({ keys }) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => keys.authenticateKey({ apiKey: used.secret })));
    assert.ok(answers.every(({ apiKey }) => apiKey?.id === used.id));
    await assert.rejects(keys.authenticateKey({ apiKey: over.secret }), isRefusal("UNAUTHORIZED"));
  });
  assert.deepEqual(await keyRow(used.id), { hash: hmac(b, used.secret), key: "h2" });
  assert.deepEqual(await keyRow(idle.id), { hash: hmac(a, idle.secret), key: "" });
  assert.deepEqual(await keyUse("merchant"), [
    "api_keys.hash: 1 in use and 1 ended under hash key without a name",
    "api_keys.hash: 1 in use and 0 ended under hash key h2",
  ]);
  await merchantWith(onlyB, async ({ keys }) => {
    assert.equal((await keys.authenticateKey({ apiKey: used.secret })).apiKey?.id, used.id);
    await assert.rejects(keys.authenticateKey({ apiKey: idle.secret }), isRefusal("UNAUTHORIZED"));
  });
});

test("a session secret that is used survives the removal of its hash key, and the session's version stays", async () => {
  const { merchantId } = money;
  const create = async ({ checkout }: CheckoutClients) => {
    const made = await checkout.createSession({ merchantId, environment, amount: 1_050n, currency: "EUR" });
    return { sessionId: made.session?.id ?? "", sessionSecret: made.sessionSecret };
  };
  const [used, idle] = await checkoutWith(onlyA, async (clients) => [await create(clients), await create(clients)]);
  assert(used && idle);
  const before = await sessionRow(used.sessionId);
  assert.deepEqual(before, { hash: hmac(a, used.sessionSecret), key: "", version: 0 });
  await checkoutWith(bThenA, async (clients) => {
    const wrong = { ...used, sessionSecret: idle.sessionSecret };
    await assert.rejects(clients.checkout.resolveSession(wrong), isRefusal("NOT_FOUND"));
    assert.deepEqual(await sessionRow(used.sessionId), before, "a wrong secret changes nothing");
    await Promise.all(Array.from({ length: 4 }, () => clients.checkout.resolveSession(used)));
    assert.equal((await sessionRow((await create(clients)).sessionId))?.key, "h2");
  });
  assert.deepEqual(await sessionRow(used.sessionId), { hash: hmac(b, used.sessionSecret), key: "h2", version: 0 });
  assert.deepEqual(await keyUse("checkout"), [
    "sessions.secret_hash: 1 in use and 0 ended under hash key without a name",
    "sessions.secret_hash: 2 in use and 0 ended under hash key h2",
  ]);
  await checkoutWith(onlyB, async ({ checkout }) => {
    assert.equal((await checkout.resolveSession(used)).session?.id, used.sessionId);
    await assert.rejects(checkout.resolveSession(idle), isRefusal("NOT_FOUND"));
  });
});

test("a velocity rule counts openings across a new hash key", async () => {
  const { merchantId } = money;
  const address = "8.8.4.4";
  const open = async ({ checkout }: CheckoutClients) => {
    const made = await checkout.createSession({ merchantId, environment, amount: 1_050n, currency: "EUR" });
    const session = { sessionId: made.session?.id ?? "", sessionSecret: made.sessionSecret };
    return await checkout.resolveSession({ ...session, address });
  };
  await checkoutWith(onlyA, async (clients) => {
    const rule = { merchantId, kind: RiskKind.VELOCITY, subject: "address", limit: 1n, windowSeconds: 600 };
    await clients.risk.createRule({ ...rule, operator: "ada@example.com" });
    await open(clients);
  });
  await checkoutWith(bThenA, async (clients) => {
    await assert.rejects(open(clients), isRefusal("PAYMENT_BLOCKED"));
  });
});

test("every hash column has a column with its key's name", async () => {
  for (const service of ["merchant", "checkout"] as const) {
    const named = await rows<{ name: string }>(
      service,
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and column_name like '%hash_key_id'`,
    );
    const known = hashedColumns[service].map(({ table, keyIdColumn }) => `${table}.${keyIdColumn}`);
    assert.deepEqual(named.map(({ name }) => name).sort(), known.sort());
  }
});

test.run();
