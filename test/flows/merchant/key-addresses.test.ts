// Address limits of live keys over RPC on a fresh database, judged by the stored keys and announced for the audit log.
import assert from "node:assert/strict";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";
import { onBehalf, startPeopleOverRpc } from "./people-over-rpc.ts";

const test = suite("addresses of API keys");
const environment = Environment.LIVE;
const every = ["payments:read", "payments:write", "merchant:read", "merchant:write"];
const here = "203.0.113.0/24";
const corner = "203.0.113.7/32";
const elsewhere = "198.51.100.0/24";

let merchantId: string;

const rpc = fixture(test, () => startPeopleOverRpc());
test.before(async () => {
  merchantId = await rpc.newMerchant();
});

interface KeyInput {
  readonly ranges?: string[];
  readonly scopes?: string[];
  readonly by?: string;
}

async function made({ ranges, scopes = every, by = "" }: KeyInput = {}) {
  const allowedIps = ranges && { allowedIps: { ranges } };
  const input = { merchantId, environment, name: "key", scopes, ...allowedIps };
  const { apiKey, secret } = await onBehalf(by, () => rpc.keys.createApiKey(input));
  assert(apiKey);
  return { id: apiKey.id, ranges: apiKey.allowedIps, secret };
}

async function limited(apiKeyId: string, ranges: string[], by = ""): Promise<string[]> {
  const input = { merchantId, environment, apiKeyId, allowedIps: { ranges } };
  const { apiKey } = await onBehalf(by, () => rpc.keys.limitApiKey(input));
  return apiKey?.allowedIps ?? assert.fail("no record");
}

/** The key's limits at its next use. */
async function asUsed(secret: string): Promise<string[] | undefined> {
  return (await rpc.keys.authenticateKey({ apiKey: secret })).apiKey?.allowedIps;
}

test("a key's addresses are stored in canonical form, listed, and copied to its successor", async () => {
  const key = await made({ ranges: ["203.0.113.7", "::ffff:203.0.113.7", "2001:0DB8::/32", here] });
  const canonical = [corner, "2001:db8::/32", here];
  assert.deepEqual(key.ranges, canonical);
  assert.deepEqual(await asUsed(key.secret), canonical);
  const { apiKeys } = await rpc.keys.listApiKeys({ merchantId, environment });
  assert.deepEqual(apiKeys.find(({ id }) => id === key.id)?.allowedIps, canonical);
  const { apiKey, secret } = await rpc.keys.rollApiKey({
    merchantId,
    environment,
    apiKeyId: key.id,
    overlapSeconds: 60,
  });
  assert.deepEqual(apiKey?.allowedIps, canonical);
  assert.deepEqual(await asUsed(secret), canonical);
  assert.deepEqual((await made()).ranges, []);
});

test("a key's right to limit others is that of the stored key, also under concurrent changes", async () => {
  const { id: by } = await made();
  await rpc.database.query("update api_keys set allowed_ips = $2 where id = $1", [by, [here]]);
  await assert.rejects(made({ by, ranges: [elsewhere] }), refused("FORBIDDEN"));
  const racing = await made();
  const rival = await made();
  // Each limits the other; once limited itself, a key may not.
  const answers = await Promise.allSettled([
    limited(rival.id, [here], racing.id),
    limited(racing.id, [elsewhere], rival.id),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
});

test("a change of addresses is announced with old and new ones, an unchanged set is not", async () => {
  const key = await made({ ranges: [here, elsewhere] });
  const created = await rpc.announced.event("api_key.created", key.id);
  assert.deepEqual(created.attributes, { allowed_ips: `${here} ${elsewhere}` });
  await limited(key.id, [elsewhere, here]);
  await limited(key.id, [corner], key.id);
  const changed = await rpc.announced.event("api_key.limited", key.id);
  assert.deepEqual(changed.attributes, { allowed_ips_before: `${here} ${elsewhere}`, allowed_ips: corner });
  assert.equal(changed.actor, key.id);
  await limited(key.id, []);
  await rpc.keys.revokeApiKey({ merchantId, environment, apiKeyId: key.id });
  await rpc.announced.event("api_key.revoked", key.id);
  assert.equal(rpc.announced.count("api_key.limited", key.id), 2);
});

test.run();
