// Address limits of live keys over RPC on a fresh database, judged by the stored keys and announced for the audit log.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";
import { startMerchantOverRpc } from "./over-rpc.ts";
import { onBehalf } from "./people-over-rpc.ts";

const test = suite("addresses of API keys");
const environment = Environment.LIVE;
const every = ["payments:read", "payments:write", "merchant:read", "merchant:write"];
const here = "203.0.113.0/24";
const corner = "203.0.113.7/32";
const elsewhere = "198.51.100.0/24";

let merchantId: string;

const rpc = fixture(test, () => startMerchantOverRpc());
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

test("refuses invalid ranges by position, more than twenty, and any for a sandbox key", async () => {
  await assert.rejects(made({ ranges: [here, "203.0.113.7/24"] }), refused("INVALID_BODY", "allowed_ips[1]"));
  await assert.rejects(made({ ranges: ["0.0.0.0/0"] }), refused("INVALID_BODY", "allowed_ips[0]"));
  const many = Array.from({ length: 21 }, (_, i) => `203.0.113.${i}`);
  await assert.rejects(made({ ranges: many }), refused("INVALID_BODY"));
  assert.equal((await made({ ranges: many.slice(1) })).ranges.length, 20);
  const sandbox = { merchantId, environment: Environment.SANDBOX, name: "key", scopes: every };
  const input = { ...sandbox, allowedIps: { ranges: [here] } };
  await assert.rejects(rpc.keys.createApiKey(input), refused("INVALID_BODY", "allowed_ips"));
  const { apiKey } = await rpc.keys.createApiKey({ ...sandbox, allowedIps: { ranges: [] } });
  const limit = { ...sandbox, apiKeyId: apiKey?.id ?? "", allowedIps: { ranges: [here] } };
  await assert.rejects(rpc.keys.limitApiKey(limit), refused("INVALID_BODY", "allowed_ips"));
});

test("a limited key cannot widen itself, and limits others within its own addresses only", async () => {
  const own = await made({ ranges: [here] });
  for (const ranges of [[], [elsewhere], [here, elsewhere]]) {
    await assert.rejects(limited(own.id, ranges, own.id), refused("FORBIDDEN"), String(ranges));
    await assert.rejects(limited((await made()).id, ranges, own.id), refused("FORBIDDEN"), String(ranges));
  }
  assert.deepEqual(await asUsed(own.secret), [here]);
  assert.deepEqual(await limited((await made()).id, [corner], own.id), [corner]);
  assert.deepEqual(await limited(own.id, [corner], own.id), [corner]);
  assert.deepEqual(await limited(own.id, []), [], "an operator can remove the limit");
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

test("only an active key of the merchant can be limited", async () => {
  const ended = await made();
  await rpc.keys.revokeApiKey({ merchantId, environment, apiKeyId: ended.id });
  for (const id of [ended.id, newId("apiKey"), "x"]) await assert.rejects(limited(id, [here]), refused("NOT_FOUND"));
});

test.run();
