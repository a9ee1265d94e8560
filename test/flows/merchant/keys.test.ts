// What an API key may give to another one, and how many there are, over RPC on a fresh database: by the keys as they
// are stored.
import assert from "node:assert/strict";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import pg from "pg";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { callContext } from "#platform/values/call-context.ts";
import { newId } from "#platform/values/id.ts";
import { ApiKeyService, Environment, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { suite } from "../../harness/suite.ts";
import { refused, serviceConfig } from "../service-config.ts";

const test = suite("API keys of the merchant service");
const environment = Environment.SANDBOX;
const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
const every = ["payments:read", "payments:write", "merchant:read", "merchant:write"];
const managing = ["merchant:read", "merchant:write"];
const keysMax = 50;

let service: { port: number; stop(): Promise<void> };
let peer: Peer;
let database: pg.Client;
let merchants: Client<typeof MerchantService>;
let keys: Client<typeof ApiKeyService>;

test.before(async () => {
  const config = await serviceConfig("merchant");
  service = await startMerchant({ ...config, ...simulator });
  peer = connectPeer({ url: `http://127.0.0.1:${service.port}`, token: config.RPC_TOKEN });
  database = new pg.Client(config.DATABASE_URL);
  await database.connect();
  merchants = peer.client(MerchantService);
  keys = peer.client(ApiKeyService);
});
test.after(async () => {
  await database?.end();
  peer?.close();
  await service?.stop();
});

async function newMerchant(): Promise<string> {
  const profile = { name: "Acme", legalName: "", email: "ops@acme.example", country: "DE", currency: "EUR" };
  const { merchant } = await merchants.createMerchant(profile);
  assert(merchant);
  return merchant.id;
}

interface KeyInput {
  readonly scopes?: string[];
  readonly expiresAt?: Date;
  /** The key on whose behalf it is made; absent: an operator makes it. */
  readonly by?: string;
}

/** As the gateway calls for a request with this key. */
function onBehalf<T>(actor: string, call: () => Promise<T>): Promise<T> {
  return callContext.run({ requestId: newId("request"), actor, traceparent: "", deadlineMs: undefined }, call);
}

async function made(merchantId: string, { scopes = every, expiresAt, by = "" }: KeyInput = {}) {
  const expiry = expiresAt && { expiresAt: timestampFromDate(expiresAt) };
  const input = { merchantId, environment, name: "key", scopes, ...expiry };
  const { apiKey, secret } = await onBehalf(by, () => keys.createApiKey(input));
  assert(apiKey);
  return { ...apiKey, secret, expiry: apiKey.expiresAt && timestampDate(apiKey.expiresAt) };
}

async function rolled(merchantId: string, apiKeyId: string, overlapSeconds: number, by = "") {
  const input = { merchantId, environment, apiKeyId, overlapSeconds };
  const { apiKey } = await onBehalf(by, () => keys.rollApiKey(input));
  assert(apiKey);
  return { ...apiKey, expiry: apiKey.expiresAt && timestampDate(apiKey.expiresAt) };
}

async function listed(merchantId: string, page: { limit?: number; offset?: bigint; afterId?: string } = {}) {
  const { apiKeys, total, offset } = await keys.listApiKeys({ merchantId, environment, ...page });
  return { ids: apiKeys.map(({ id }) => id), statuses: apiKeys.map(({ status }) => status), total, offset };
}

const inAnHour = () => new Date(Date.now() + 3_600_000);

test("a key makes and rolls only what has no scope beyond its own; an operator makes and rolls everything", async () => {
  const merchantId = await newMerchant();
  const full = await made(merchantId);
  const { id: by } = await made(merchantId, { scopes: managing });
  await assert.rejects(made(merchantId, { scopes: every, by }), refused("FORBIDDEN"));
  await assert.rejects(made(merchantId, { scopes: ["payments:read"], by }), refused("FORBIDDEN"));
  await assert.rejects(rolled(merchantId, full.id, 60, by), refused("FORBIDDEN"));
  assert.equal((await keys.authenticateKey({ apiKey: full.secret })).apiKey?.expiresAt, undefined, "a refused roll");
  assert.equal((await listed(merchantId)).total, 2n);
  const child = await made(merchantId, { scopes: ["merchant:read"], by });
  assert.deepEqual((await rolled(merchantId, child.id, 60, by)).scopes, ["merchant:read"]);
  assert.deepEqual((await rolled(merchantId, by, 60, by)).scopes, managing);
  assert.deepEqual((await rolled(merchantId, full.id, 60)).scopes, every);
});

test("a person at a console gives any scope: what they may do was looked up there", async () => {
  const merchantId = await newMerchant();
  const by = newId("person");
  const { id, scopes } = await made(merchantId, { by });
  assert.deepEqual(scopes, every);
  assert.deepEqual((await rolled(merchantId, id, 60, by)).scopes, every);
});

test("a key makes and rolls nothing that outlives it, and what it makes ends with it unless told otherwise", async () => {
  const merchantId = await newMerchant();
  const end = inAnHour();
  const immortal = await made(merchantId);
  assert.equal(immortal.expiry, undefined);
  const { id: by } = await made(merchantId, { expiresAt: end });
  assert.deepEqual((await made(merchantId, { by })).expiry, end);
  const sooner = new Date(end.getTime() - 60_000);
  assert.deepEqual((await made(merchantId, { by, expiresAt: sooner })).expiry, sooner);
  const later = new Date(end.getTime() + 1);
  await assert.rejects(made(merchantId, { by, expiresAt: later }), refused("FORBIDDEN"));
  await assert.rejects(rolled(merchantId, immortal.id, 60, by), refused("FORBIDDEN"));
  assert.deepEqual((await rolled(merchantId, by, 60, by)).expiry, end);
});

test("a successor lives exactly as long as the key that it replaces, whoever rolls it", async () => {
  const merchantId = await newMerchant();
  const end = inAnHour();
  const brief = await made(merchantId, { expiresAt: end });
  assert.deepEqual((await rolled(merchantId, brief.id, 60)).expiry, end);
  assert.equal((await rolled(merchantId, (await made(merchantId)).id, 60)).expiry, undefined);
});

test("what a key may give is judged by the key as it is stored, not as its caller knew it", async () => {
  const merchantId = await newMerchant();
  const { id: by } = await made(merchantId);
  await database.query("update api_keys set scopes = $2 where id = $1", [by, managing]);
  await assert.rejects(made(merchantId, { by }), refused("FORBIDDEN"));
  await made(merchantId, { by, scopes: managing });
  await keys.revokeApiKey({ merchantId, environment, apiKeyId: by });
  await assert.rejects(made(merchantId, { by, scopes: managing }), refused("FORBIDDEN"));
  const stranger = await made(await newMerchant());
  for (const other of [stranger.id, newId("apiKey"), "ak_"]) {
    await assert.rejects(made(merchantId, { by: other, scopes: managing }), refused("FORBIDDEN"));
  }
});

test("a key that may manage keys revokes also a stronger one", async () => {
  const merchantId = await newMerchant();
  const strong = await made(merchantId);
  const { id: by } = await made(merchantId, { scopes: ["merchant:write"], expiresAt: inAnHour() });
  const input = { merchantId, environment, apiKeyId: strong.id };
  assert.equal((await onBehalf(by, () => keys.revokeApiKey(input))).apiKey?.status, "revoked");
  await assert.rejects(keys.authenticateKey({ apiKey: strong.secret }), refused("UNAUTHORIZED"));
});

test("however many are made at once, 50 keys are active in an environment, and an ended one makes room", async () => {
  const merchantId = await newMerchant();
  const make = () => made(merchantId).then(() => "made", refusalReason);
  const answers = await Promise.all(Array.from({ length: keysMax + 10 }, make));
  assert.equal(answers.filter((answer) => answer === "made").length, keysMax);
  assert.equal(answers.filter((answer) => answer === "TOO_MANY_KEYS").length, 10);
  const { ids } = await listed(merchantId);
  assert.equal(ids.length, keysMax);
  const live = { merchantId, environment: Environment.LIVE, name: "live", scopes: every };
  assert.match((await keys.createApiKey(live)).secret, /^sk_live_/, "the other environment has keys of its own");
  const [first = "", second = ""] = ids;
  await assert.rejects(rolled(merchantId, first, 60), refused("TOO_MANY_KEYS"));
  assert.equal((await listed(merchantId)).total, BigInt(keysMax), "a refused roll leaves everything as it was");
  await rolled(merchantId, first, 0);
  await assert.rejects(made(merchantId), refused("TOO_MANY_KEYS"));
  await keys.revokeApiKey({ merchantId, environment, apiKeyId: second });
  await made(merchantId);
  const { statuses } = await listed(merchantId);
  assert.equal(statuses.filter((status) => status === "active").length, keysMax);
});

function refusalReason(error: unknown): string {
  return refused("TOO_MANY_KEYS")(error) ? "TOO_MANY_KEYS" : String(error);
}

test("the list has every key, active ones first and then the newest first, page by page", async () => {
  const merchantId = await newMerchant();
  const all: string[] = [];
  for (let i = 0; i < 6; i++) all.unshift((await made(merchantId)).id);
  const ended = all.filter((_, i) => i % 2 === 0);
  for (const apiKeyId of ended) await keys.revokeApiKey({ merchantId, environment, apiKeyId });
  const wanted = [...all.filter((id) => !ended.includes(id)), ...ended];
  assert.deepEqual((await listed(merchantId)).ids, wanted);
  assert.deepEqual(await listed(merchantId, { limit: 2, offset: 2n }), {
    ids: wanted.slice(2, 4),
    statuses: ["active", "revoked"],
    total: 6n,
    offset: 2n,
  });
  const seen: string[] = [];
  for (let afterId = ""; seen.length < 6; afterId = seen.at(-1) ?? "") {
    const page = await listed(merchantId, { limit: 4, afterId });
    assert.deepEqual([page.total, page.offset], [6n, BigInt(seen.length)]);
    seen.push(...page.ids);
  }
  assert.deepEqual(seen, wanted);
  assert.deepEqual(await listed(merchantId, { offset: 9n }), { ids: [], statuses: [], total: 6n, offset: 9n });
  const strangers = (await made(await newMerchant())).id;
  for (const afterId of [strangers, newId("apiKey"), "x"]) {
    await assert.rejects(listed(merchantId, { afterId }), refused("INVALID_BODY", "after"));
  }
});

test.run();
