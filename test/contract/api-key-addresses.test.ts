// docs/contract.md §7: live keys that are limited to some addresses, by the address that the trusted proxy adds.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { eventually } from "../harness/eventually.ts";
import { freshKey, freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { type Caller, type CallOptions, contractCaller, contractSuite } from "./caller.ts";
import { type OwnGateway, ownGateway } from "./own-gateway.ts";

const { test, running } = contractSuite("addresses of API keys");
const here = "203.0.113.0/24";
let proxied: OwnGateway;
let merchant: TestMerchant;
/** Through a gateway behind one proxy. */
let api: Caller;

test.before(async () => {
  merchant = await freshMerchant(running, { environment: Environment.LIVE });
  proxied = await ownGateway(running, { TRUST_PROXY: "1", RATE_LIMIT: "on", RATE_LIMIT_REFUSED_KEYS_PER_MINUTE: "2" });
  api = await contractCaller(proxied, merchant.apiKey);
});
test.after(() => proxied?.stop());

const from = (address: string): Pick<CallOptions, "headers"> => ({ headers: [["x-forwarded-for", address]] });
const limitedKey = async (allowed_ips: string[], more = {}) =>
  await api.call("createApiKey", 201, { body: { allowed_ips, ...more } });

test("a key works from its addresses, however they are written, and is 403 from all others", async () => {
  const key = await limitedKey(["203.0.113.0/24", "2001:DB8::/32", "198.51.100.9"]);
  assert.deepEqual(key.at("allowed_ips"), ["203.0.113.0/24", "2001:db8::/32", "198.51.100.9/32"]);
  const as = key.text("api_key");
  for (const address of [
    "203.0.113.7",
    "::ffff:203.0.113.255",
    "2001:db8:ffff::1",
    "198.51.100.9",
    "203.0.113.7:443",
    "[2001:db8::1]:443",
  ]) {
    await api.call("getMerchant", 200, { as, ...from(address) });
  }
  for (const address of ["203.0.114.7", "198.51.100.8", "2001:db9::1", "::ffff:203.0.112.1"]) {
    const answer = await api.refused("getMerchant", 403, "forbidden", { as, ...from(address) });
    assert.equal(answer.text("error.message"), `this api key is limited to other addresses than ${address}`);
  }
  for (const junk of ["unknown", "203.0.113.7:https", "<b>"]) {
    const answer = await api.refused("getMerchant", 403, "forbidden", { as, ...from(junk) });
    assert.match(answer.text("error.message"), /than an address that cannot be read$/);
  }
  const forged = await api.refused("getMerchant", 403, "forbidden", { as, ...from("203.0.113.7, 192.0.2.1") });
  assert.match(forged.text("error.message"), /192\.0\.2\.1$/, "the proxy's address counts, not the caller's header");
});

test("a refusal by address comes before scopes, bodies and limits, and is not taken for a wrong key", async () => {
  const key = await limitedKey([here], { scopes: ["payments:read"] });
  const sent = { as: key.text("api_key"), body: { amount: "x" } };
  const address = "192.0.2.77";
  for (let i = 0; i < 5; i++) {
    const answer = await api.refused("createCheckoutSession", 403, "forbidden", { ...sent, ...from(address) });
    assert.match(answer.text("error.message"), /other addresses than 192\.0\.2\.77$/);
    assert.equal(answer.headers.get("ratelimit-limit"), null, "nothing of the key's own limit is used up");
  }
  // The address has two wrong keys a minute, and has used up none.
  for (const status of [401, 401, 429]) {
    await api.call("getMerchant", status, { as: `sk_live_${"x".repeat(46)}`, ...from(address) });
  }
  const used = await api.call("listApiKeys", 200);
  const record = used.list("data").find((each) => membersOf(each).id === key.text("id"));
  assert.equal(membersOf(record).last_used_at, undefined);
});

test("a change takes effect within a second at every gateway with the broker, and is undone as fast", async () => {
  const shop = await contractCaller(running, await freshKey(running, merchant.id, { environment: Environment.LIVE }));
  const made = await api.call("createApiKey", 201, { body: {} });
  const [id, api_key] = [made.text("id"), made.text("api_key")];
  await shop.call("getMerchant", 200, { as: api_key });
  const limit = (allowed_ips: string[]) => shop.call("limitApiKey", 200, { path: { id }, body: { allowed_ips } });
  const answers = async (status: number) => {
    const authorization = `Bearer ${api_key}`;
    return (await merchant.api.get("/v1/merchants/me", { authorization })).status === status;
  };
  assert.deepEqual((await limit(["203.0.113.7"])).at("allowed_ips"), ["203.0.113.7/32"]);
  await eventually("the key to be refused", () => answers(403), { limitMs: 1_000 });
  assert.equal((await limit([])).at("allowed_ips"), undefined);
  await eventually("the key to work", () => answers(200), { limitMs: 1_000 });
});

test("ranges that cannot be are named with what to write instead", async () => {
  const wrong: [unknown, string, RegExp][] = [
    [["203.0.113.7/24"], "allowed_ips[0]", /zero after its prefix, as 203\.0\.113\.0\/24/],
    [[here, "0.0.0.0/0"], "allowed_ips[1]", /leave allowed_ips out/],
    [["here"], "allowed_ips[0]", /must be an IP address/],
    [Array(21).fill(here), "allowed_ips", /20/],
    [here, "allowed_ips", /array/],
    [null, "allowed_ips", /array/],
  ];
  const path = { id: (await limitedKey([])).text("id") };
  for (const [allowed_ips, field, problem] of wrong) {
    for (const [operation, sent] of [["createApiKey", {}] as const, ["limitApiKey", { path }] as const]) {
      const answer = await api.refused(operation, 400, "invalid_body", { ...sent, body: { allowed_ips } });
      assert.equal(answer.at("error.details.0.field"), field, JSON.stringify(allowed_ips));
      assert.match(answer.text("error.details.0.problem"), problem);
    }
  }
  await api.refused("limitApiKey", 400, "invalid_body", { path, body: {} });
});

test("a sandbox key cannot be limited: invalid_body", async () => {
  const sandbox = await freshMerchant(running);
  const as = sandbox.apiKey;
  const answer = await api.refused("createApiKey", 400, "invalid_body", { as, body: { allowed_ips: [here] } });
  assert.match(answer.text("error.details.0.problem"), /only a live key/);
  const path = { id: (await api.call("createApiKey", 201, { as, body: {} })).text("id") };
  await api.refused("limitApiKey", 400, "invalid_body", { as, path, body: { allowed_ips: [here] } });
});

test("a limited key makes, changes and widens nothing beyond its own addresses", async () => {
  const key = await limitedKey([here]);
  const by = { as: key.text("api_key"), ...from("203.0.113.7") };
  const beyond = async (operation: string, sent: object) => {
    const answer = await api.refused(operation, 403, "forbidden", { ...by, ...sent });
    assert.equal(answer.text("error.message"), "an api key gives no more than it has");
  };
  assert.deepEqual((await api.call("createApiKey", 201, { ...by, body: {} })).at("allowed_ips"), [here]);
  await beyond("createApiKey", { body: { allowed_ips: [] } });
  const path = { id: key.text("id") };
  await beyond("limitApiKey", { path, body: { allowed_ips: [] } });
  await beyond("limitApiKey", { path, body: { allowed_ips: [here, "198.51.100.0/24"] } });
  const successor = await api.call("rollApiKey", 201, { path, body: { expires_in: 3600 } });
  assert.deepEqual(successor.at("allowed_ips"), [here]);
  const other = { id: (await limitedKey([])).text("id") };
  await beyond("limitApiKey", { path: other, body: { allowed_ips: ["198.51.100.0/24"] } });
  await api.call("limitApiKey", 200, { ...by, path: other, body: { allowed_ips: ["203.0.113.7"] } });
});

test("keys of other merchants, revoked ones and unknown ids are not_found", async () => {
  const stranger = await freshMerchant(running, { environment: Environment.LIVE });
  const path = { id: (await limitedKey([])).text("id") };
  const body = { allowed_ips: [here] };
  await api.refused("limitApiKey", 404, "not_found", { as: stranger.apiKey, path, body });
  await api.call("revokeApiKey", 204, { path });
  for (const id of [path.id, "ak_01jd3v9q6k8m2n4p6r8t0v2x4z", "x"]) {
    await api.refused("limitApiKey", 404, "not_found", { path: { id }, body });
  }
});

test("every described code of this operation was seen", () => api.sawEverything(["limitApiKey 200"], "limitApiKey"));

test.run();
