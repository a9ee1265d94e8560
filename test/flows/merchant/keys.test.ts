// Rights and addresses that an API key may grant to another key, judged by the stored keys, and the limit of active
// keys. Over RPC on a fresh database.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { onBehalf, startPeopleOverRpc } from "./people-over-rpc.ts";

const test = suite("API keys of the merchant service");
const { SANDBOX: environment, LIVE: live } = Environment;
const every = ["payments:read", "payments:write", "merchant:read", "merchant:write"];
const managing = ["merchant:read", "merchant:write"];
const keysMax = 50;
const [here, corner, elsewhere] = ["203.0.113.0/24", "203.0.113.7/32", "198.51.100.0/24"] as const;

const rpc = fixture(test, () => startPeopleOverRpc());
const keys = fixture(test, () => rpc.keys);

interface KeyInput {
  readonly scopes?: string[];
  readonly ranges?: string[];
  readonly environment?: Environment;
  /** The key that makes it; absent: an operator. */
  readonly by?: string;
}

async function made(merchantId: string, { scopes = every, ranges, by = "", ...more }: KeyInput = {}) {
  const allowedIps = ranges && { allowedIps: { ranges } };
  const input = { merchantId, environment, name: "key", scopes, ...allowedIps, ...more };
  const { apiKey } = await onBehalf(by, () => keys.createApiKey(input));
  return apiKey ?? assert.fail("no key");
}

async function rolled(merchantId: string, apiKeyId: string, overlapSeconds: number, by = "") {
  const input = { merchantId, environment, apiKeyId, overlapSeconds };
  const { apiKey } = await onBehalf(by, () => keys.rollApiKey(input));
  return apiKey ?? assert.fail("no key");
}

async function limited(merchantId: string, apiKeyId: string, ranges: string[], by = "") {
  const input = { merchantId, environment: live, apiKeyId, allowedIps: { ranges } };
  await onBehalf(by, () => keys.limitApiKey(input));
}

async function listed(merchantId: string) {
  const { apiKeys, total } = await keys.listApiKeys({ merchantId, environment });
  return { ids: apiKeys.map(({ id }) => id), statuses: apiKeys.map(({ status }) => status), total };
}

test("a person at a console can grant any scope", async () => {
  const merchantId = await rpc.newMerchant();
  const by = newId("person");
  const { id, scopes } = await made(merchantId, { by });
  assert.deepEqual(scopes, every);
  assert.deepEqual((await rolled(merchantId, id, 60, by)).scopes, every);
});

test("a key's rights to grant are those of the stored key", async () => {
  const merchantId = await rpc.newMerchant();
  const { id: by } = await made(merchantId);
  await rpc.database.query("update api_keys set scopes = $2 where id = $1", [by, managing]);
  await assert.rejects(made(merchantId, { by }), isRefusal("FORBIDDEN"));
  await made(merchantId, { by, scopes: managing });
  await keys.revokeApiKey({ merchantId, environment, apiKeyId: by });
  await assert.rejects(made(merchantId, { by, scopes: managing }), isRefusal("FORBIDDEN"));
  const stranger = await made(await rpc.newMerchant());
  for (const other of [stranger.id, newId("apiKey"), "ak_"]) {
    await assert.rejects(made(merchantId, { by: other, scopes: managing }), isRefusal("FORBIDDEN"));
  }
});

test("at most 50 keys are active in an environment, also under concurrent creations, and an ended one makes room", async () => {
  const merchantId = await rpc.newMerchant();
  const make = () => made(merchantId).then(() => "made", refusalReason);
  const answers = await Promise.all(Array.from({ length: keysMax + 10 }, make));
  assert.equal(answers.filter((answer) => answer === "made").length, keysMax);
  assert.equal(answers.filter((answer) => answer === "TOO_MANY_KEYS").length, 10);
  const { ids } = await listed(merchantId);
  assert.equal(ids.length, keysMax);
  const live = { merchantId, environment: Environment.LIVE, name: "live", scopes: every };
  assert.match((await keys.createApiKey(live)).secret, /^sk_live_/, "the other environment has its own limit");
  const [first = "", second = ""] = ids;
  await assert.rejects(rolled(merchantId, first, 60), isRefusal("TOO_MANY_KEYS"));
  assert.equal((await listed(merchantId)).total, BigInt(keysMax), "a refused roll changes nothing");
  await rolled(merchantId, first, 0);
  await assert.rejects(made(merchantId), isRefusal("TOO_MANY_KEYS"));
  await keys.revokeApiKey({ merchantId, environment, apiKeyId: second });
  await made(merchantId);
  const { statuses } = await listed(merchantId);
  assert.equal(statuses.filter((status) => status === "active").length, keysMax);
});

function refusalReason(error: unknown): string {
  return isRefusal("TOO_MANY_KEYS")(error) ? "TOO_MANY_KEYS" : String(error);
}

test("a key's right to limit others is that of the stored key, also under concurrent changes", async () => {
  const merchantId = await rpc.newMerchant();
  const { id: by } = await made(merchantId, { environment: live });
  await rpc.database.query("update api_keys set allowed_ips = $2 where id = $1", [by, [here]]);
  await assert.rejects(made(merchantId, { environment: live, by, ranges: [elsewhere] }), isRefusal("FORBIDDEN"));
  const racing = await made(merchantId, { environment: live });
  const rival = await made(merchantId, { environment: live });
  // Each limits the other; once limited itself, a key may not.
  const answers = await Promise.allSettled([
    limited(merchantId, rival.id, [here], racing.id),
    limited(merchantId, racing.id, [elsewhere], rival.id),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
});

test("a change of addresses is announced with old and new ones, an unchanged set is not", async () => {
  const merchantId = await rpc.newMerchant();
  const key = await made(merchantId, { environment: live, ranges: [here, elsewhere] });
  const created = await rpc.announced.event("api_key.created", key.id);
  assert.deepEqual(created.attributes, { allowed_ips: `${here} ${elsewhere}` });
  await limited(merchantId, key.id, [elsewhere, here]);
  await limited(merchantId, key.id, [corner], key.id);
  const changed = await rpc.announced.event("api_key.limited", key.id);
  assert.deepEqual(changed.attributes, { allowed_ips_before: `${here} ${elsewhere}`, allowed_ips: corner });
  assert.equal(changed.actor, key.id);
  await limited(merchantId, key.id, []);
  await rpc.keys.revokeApiKey({ merchantId, environment: live, apiKeyId: key.id });
  await rpc.announced.event("api_key.revoked", key.id);
  assert.equal(rpc.announced.count("api_key.limited", key.id), 2);
});

test.run();
