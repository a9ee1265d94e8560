// Alerts about API keys over RPC on a fresh database: use of a live key from a new network, and bursts of new keys.
import assert from "node:assert/strict";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { register } from "prom-client";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { burstKeys } from "../../../services/merchant/rules/api-key.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { startPeopleOverRpc } from "./people-over-rpc.ts";

const test = suite("watch over API keys");
const home = "203.0.113.0/24";
const remote = "198.51.100.0/24";
const far = "2001:db8:7::/48";

const rpc = fixture(test, () => startPeopleOverRpc());

async function newKey(merchantId: string, environment: Environment = Environment.LIVE): Promise<string> {
  const { apiKey } = await rpc.keys.createApiKey({ merchantId, environment, name: "key", scopes: ["payments:read"] });
  return apiKey?.id ?? assert.fail("no key");
}

/** As a gateway reports it. */
const used = (apiKeyId: string, ...networks: string[]) =>
  rpc.keys.recordKeyUse({ uses: [{ apiKeyId, usedAt: timestampNow(), networks }] });

async function counted(name: string, environment?: string): Promise<number> {
  const metric = await register.getSingleMetric(name)?.get();
  const found = metric?.values.find(({ labels }) => labels.environment === environment);
  return found?.value ?? assert.fail(`${name} has no initial value`);
}
const newNetworkCount = () => counted("tollbooth_api_key_new_networks_total");
const bursts = (environment: string) => counted("tollbooth_api_key_bursts_total", environment);

/** Number of new networks announced for the key, which is revoked to mark the end. */
async function announcedNetworks(merchantId: string, id: string): Promise<number> {
  await rpc.keys.revokeApiKey({ merchantId, environment: Environment.LIVE, apiKeyId: id });
  await rpc.announced.event("api_key.revoked", id);
  return rpc.announced.count("api_key.new_network", id);
}

test("a live key's first network is not announced; each further one is announced and counted once", async () => {
  const before = await newNetworkCount();
  const merchantId = await rpc.newMerchant();
  const id = await newKey(merchantId);
  await used(id, home);
  await used(id, home);
  assert.equal(await newNetworkCount(), before);
  await Promise.all(Array.from({ length: 5 }, () => used(id, home, remote)));
  const event = await rpc.announced.event("api_key.new_network", id);
  assert.deepEqual(event.attributes, { network: remote });
  assert.deepEqual([event.merchantId, event.environment, event.actor], [merchantId, Environment.LIVE, ""]);
  await used(id, far, remote);
  assert.equal(await newNetworkCount(), before + 2);
  assert.equal(await announcedNetworks(merchantId, id), 2);
  assert.equal(rpc.announced.count("api_key.created", id), 1);
});

test("a key's networks are listed newest first, for its own merchant and environment only", async () => {
  const merchantId = await rpc.newMerchant();
  const id = await newKey(merchantId);
  await used(id, home);
  await used(id, remote);
  const live = { merchantId, environment: Environment.LIVE, apiKeyId: id };
  const { apiKey, networks } = await rpc.keys.getApiKey(live);
  assert.equal(apiKey?.id, id);
  assert.deepEqual(
    networks.map(({ network }) => network),
    [remote, home],
  );
  assert.ok(networks.every(({ firstSeenAt }) => firstSeenAt !== undefined));
  for (const foreign of [
    { ...live, merchantId: await rpc.newMerchant() },
    { ...live, environment: Environment.SANDBOX },
    { ...live, apiKeyId: newId("apiKey") },
  ]) {
    await assert.rejects(rpc.keys.getApiKey(foreign), { reason: "NOT_FOUND" });
  }
});

test("networks of sandbox and unknown keys and invalid networks are ignored; the use is recorded", async () => {
  const before = await newNetworkCount();
  const merchantId = await rpc.newMerchant();
  const sandbox = await newKey(merchantId, Environment.SANDBOX);
  const live = await newKey(merchantId);
  const wrong = ["203.0.113.7/24", "203.0.113.7", "0.0.0.0/0", "x", ""];
  const uses = [sandbox, newId("apiKey"), live].map((apiKeyId) => ({ apiKeyId, usedAt: timestampNow() }));
  const networks = [[home, remote], [home, remote], wrong];
  await rpc.keys.recordKeyUse({ uses: uses.map((use, i) => ({ ...use, networks: networks[i] ?? [] })) });
  const { rows } = await rpc.database.query("select 1 from api_key_networks where key_id = any($1)", [
    uses.map(({ apiKeyId }) => apiKeyId),
  ]);
  assert.deepEqual([rows.length, await newNetworkCount()], [0, before]);
  for (const environment of [Environment.SANDBOX, Environment.LIVE]) {
    const { apiKeys } = await rpc.keys.listApiKeys({ merchantId, environment });
    assert.notEqual(apiKeys[0]?.lastUsedAt, undefined);
  }
  await assert.rejects(used(live, ...Array(9).fill(home)), isRefusal("INVALID_BODY"));
});

test("many keys of one merchant within minutes are one burst; over several merchants or hours they are not", async () => {
  const [live, sandbox] = [await bursts("live"), await bursts("sandbox")];
  const merchantId = await rpc.newMerchant();
  for (let i = 1; i < burstKeys; i++) await newKey(merchantId);
  await newKey(await rpc.newMerchant());
  await newKey(merchantId, Environment.SANDBOX);
  assert.equal(await bursts("live"), live);
  await Promise.all(Array.from({ length: 5 }, () => newKey(merchantId)));
  assert.deepEqual([await bursts("live"), await bursts("sandbox")], [live + 1, sandbox]);
  const slow = await rpc.newMerchant();
  for (let i = 1; i < burstKeys; i++) await newKey(slow);
  await rpc.database.query(
    "update api_keys set created_at = created_at - interval '11 minutes' where merchant_id = $1",
    [slow],
  );
  await newKey(slow);
  assert.equal(await bursts("live"), live + 1);
});

test("rolled keys count for a burst", async () => {
  const before = await bursts("live");
  const merchantId = await rpc.newMerchant();
  let id = await newKey(merchantId);
  for (let i = 1; i < burstKeys; i++) {
    const roll = { merchantId, environment: Environment.LIVE, apiKeyId: id, overlapSeconds: 0 };
    id = (await rpc.keys.rollApiKey(roll)).apiKey?.id ?? assert.fail("no successor");
  }
  assert.equal(await bursts("live"), before + 1);
});

test.run();
