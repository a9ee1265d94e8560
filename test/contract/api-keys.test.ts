// docs/contract.md §7: API keys; docs/contract.md §3 and §7.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Answer } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { type CallOptions, contractSuite } from "./caller.ts";

const { test, running, merchant, api } = contractSuite("API keys");

const create = async (body = {}) => await api.call("createApiKey", 201, { body });
const records = async (): Promise<Record<string, unknown>[]> =>
  (await api.call("listApiKeys", 200)).list("data").map((each) => ({ ...Object(each) }));
const recordOf = async (made: Answer) => {
  const found = (await records()).find((each) => each.id === made.text("id"));
  return found ?? assert.fail("the key is not listed");
};

// Proves createApiKey: response; listApiKeys: response; credentials: bearer
test("docs/contract.md §7: the raw key is answered once, works, and is listed by its suffix only", async () => {
  const made = await create();
  const { api_key, note, ...rest } = made.body;
  assert.deepEqual([typeof api_key, typeof note], ["string", "string"]);
  assert.deepEqual(rest, await recordOf(made), "in addition to its two fields the answer has the key's record");
  assert.deepEqual(Object.keys(rest).sort(), "created_at environment id name scopes status suffix".split(" "));
  assert.match(made.text("api_key"), /^sk_test_[0-9A-Za-z]{46}$/);
  assert.match(made.text("note"), /cannot be retrieved again/);
  await api.call("getMerchant", 200, { as: made.text("api_key") });
  const list = await api.call("listApiKeys", 200);
  assert.ok(!list.raw.includes("sk_test_"));
  const record = await recordOf(made);
  assert.deepEqual([record.name, record.environment, record.status], ["API key", "sandbox", "active"]);
  assert.deepEqual([...(Array.isArray(record.scopes) ? record.scopes : [])].sort(), [
    "merchant:read",
    "merchant:write",
    "payments:read",
    "payments:write",
  ]);
});

test("docs/contract.md §7: a key makes and rolls nothing with a scope or a life beyond its own", async () => {
  const message = "an api key gives no more than it has";
  const beyond = async (operation: string, sent: CallOptions) =>
    assert.equal((await api.refused(operation, 403, "forbidden", sent)).text("error.message"), message);
  const scopes = ["merchant:read", "merchant:write"];
  const strong = { path: { id: (await create({ name: "Strong" })).text("id") }, body: { expires_in: 3600 } };
  const narrow = (await create({ scopes: [...scopes, "merchant:read"] })).text("api_key");
  const heir = await api.call("createApiKey", 201, { as: narrow, body: {} });
  assert.deepEqual([heir.at("scopes")].flat().sort(), scopes, "absent: as the calling key's");
  await api.refused("listPayments", 403, "forbidden", { as: heir.text("api_key") });
  await beyond("createApiKey", { as: narrow, body: { scopes: ["payments:read"] } });
  await beyond("rollApiKey", { as: narrow, ...strong });
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const later = new Date(Date.now() + 3_660_000).toISOString();
  const brief = await create({ expires_at });
  assert.equal(brief.text("expires_at"), expires_at);
  const as = brief.text("api_key");
  await beyond("createApiKey", { as, body: { expires_at: later } });
  await beyond("rollApiKey", { as, ...strong });
  const child = await api.call("createApiKey", 201, { as, body: {} });
  assert.equal(child.text("expires_at"), expires_at, "absent: as the calling key's");
  const successor = await api.call("rollApiKey", 201, { as, path: { id: child.text("id") }, body: { expires_in: 0 } });
  assert.equal(successor.text("expires_at"), expires_at);
  assert.equal((await api.call("rollApiKey", 201, strong)).at("expires_at"), undefined);
  await api.call("revokeApiKey", 204, { as: narrow, path: strong.path });
});

test("docs/contract.md §7: at most 50 keys of an environment are active, all can be seen, and active ones come first", async () => {
  const crowded = await freshMerchant(running);
  const as = crowded.apiKey;
  const made = [await api.call("createApiKey", 201, { as, body: {} })];
  const revokeFirst = () => api.call("revokeApiKey", 204, { as, path: { id: made.shift()?.text("id") ?? "" } });
  await revokeFirst();
  while (made.length < 49) made.push(await api.call("createApiKey", 201, { as, body: {} }));
  const path = { id: made[0]?.text("id") ?? "" };
  await api.refused("createApiKey", 422, "too_many_keys", { as, body: {} });
  await api.refused("rollApiKey", 422, "too_many_keys", { as, path });
  await api.call("rollApiKey", 201, { as, path, body: { expires_in: 0 } });
  const pages: Record<string, unknown>[] = [];
  for (let query: Record<string, string | number> = { limit: 20 }; ; ) {
    const page = await api.call("listApiKeys", 200, { as, query });
    assert.equal(page.at("total"), 52);
    pages.push(...page.list("data").map((each) => ({ ...Object(each) })));
    assert.equal(page.at("next_cursor"), pages.length < 52 ? pages.length : 0);
    if (pages.length >= 52) break;
    query = pages.length === 20 ? { limit: 20, offset: 20 } : { limit: 20, after: String(pages.at(-1)?.id) };
  }
  assert.equal(new Set(pages.map(({ id }) => id)).size, 52);
  const statuses = pages.map(({ status }) => status);
  assert.deepEqual(statuses, [...Array(50).fill("active"), "expired", "revoked"]);
  await revokeFirst().then(revokeFirst);
  await api.call("createApiKey", 201, { as, body: {} });
});

test("docs/contract.md §2: a page of keys that cannot be is invalid_body", async () => {
  const stranger = await freshMerchant(running);
  const [theirs] = (await api.call("listApiKeys", 200, { as: stranger.apiKey })).list("data");
  const wrong: [string, string | number][] = [
    ["limit", 201],
    ["offset", -1],
    ["after", "x"],
    ["after", "ak_01jd3v9q6k8m2n4p6r8t0v2x4z"],
    ["after", String(membersOf(theirs).id)],
  ];
  for (const [field, value] of wrong) {
    const answer = await api.refused("listApiKeys", 400, "invalid_body", { query: { [field]: value } });
    assert.equal(answer.at("error.details.0.field"), field, String(value));
  }
});

test("docs/contract.md §3: the environment is the caller's, and keys of one are not seen from the other", async () => {
  const live = await freshMerchant(running, { environment: Environment.LIVE });
  const made = await api.call("createApiKey", 201, { as: live.apiKey, body: {} });
  assert.match(made.text("api_key"), /^sk_live_/);
  const named = await api.call("createApiKey", 201, { as: live.apiKey, body: { environment: "live" } });
  assert.deepEqual([named.at("environment"), named.headers.get("ignored-fields")], ["live", null]);
  const body = { environment: "sandbox" };
  await api.refused("createApiKey", 400, "invalid_body", { as: live.apiKey, body });
  const list = await api.call("listApiKeys", 200, { as: live.apiKey });
  for (const record of list.list("data")) assert.equal(membersOf(record).environment, "live");
});

test("docs/contract.md §2: bad names, scopes and expiries are invalid_body", async () => {
  const wrong: [string, Record<string, unknown>][] = [
    ["name", { name: "" }],
    ["name", { name: "x".repeat(101) }],
    ["name", { name: null }],
    ["scopes", { scopes: [] }],
    ["scopes[0]", { scopes: ["admin"] }],
    ["scopes", { scopes: "payments:read" }],
    ["expires_at", { expires_at: "2020-01-01T00:00:00Z" }],
    ["expires_at", { expires_at: "2031-01-01" }],
    ["expires_at", { expires_at: 1 }],
    ["environment", { environment: "live" }],
    ["environment", { environment: "production" }],
  ];
  for (const [field, body] of wrong) {
    const answer = await api.refused("createApiKey", 400, "invalid_body", { body });
    assert.equal(answer.at("error.details.0.field"), field, JSON.stringify(body));
  }
});

test("docs/contract.md §7: a key stops at its expiry", async () => {
  const made = await create({ expires_at: new Date(Date.now() + 1_500).toISOString() });
  await api.call("getMerchant", 200, { as: made.text("api_key") });
  await stops(made.text("api_key"), 4_000);
  assert.equal((await recordOf(made)).status, "expired");
});

test("docs/contract.md §7: a revoked key stops working within a second; revoking again is the same", async () => {
  const made = await create({ name: "Short" });
  const as = made.text("api_key");
  await api.call("getMerchant", 200, { as });
  const { id } = await recordOf(made);
  await api.call("revokeApiKey", 204, { path: { id: String(id) } });
  await stops(as, 1_000);
  assert.equal((await recordOf(made)).status, "revoked");
  await api.call("revokeApiKey", 204, { path: { id: String(id) } });
});

// Proves credentials: leaked
test("docs/contract.md §7: a rolled key works on during the overlap and stops after it", async () => {
  const old = await create({ name: "Rolled", scopes: ["merchant:read"] });
  const { id } = await recordOf(old);
  const path = { id: String(id) };
  const next = await api.call("rollApiKey", 201, { path, body: { expires_in: 3600 } });
  for (const key of [old, next]) await api.call("getMerchant", 200, { as: key.text("api_key") });
  const record = await recordOf(next);
  assert.deepEqual([record.name, record.scopes], ["Rolled", ["merchant:read"]]);
  const { id: nextId } = record;
  const last = await api.call("rollApiKey", 201, { path: { id: String(nextId) }, body: { expires_in: 0 } });
  await stops(next.text("api_key"), 1_000);
  await api.call("getMerchant", 200, { as: last.text("api_key") });
  await api.call("rollApiKey", 201, { path });
  for (const expires_in of [-1, 604_801, "0", null]) {
    await api.refused("rollApiKey", 400, "invalid_body", { path, body: { expires_in } });
  }
});

async function stops(apiKey: string, limitMs: number): Promise<void> {
  await eventually(
    "the key to stop working",
    async () => (await merchant.api.get("/v1/merchants/me", { authorization: `Bearer ${apiKey}` })).status === 401,
    { limitMs },
  );
}

test("docs/contract.md §3: keys of other merchants and unknown ids are not_found", async () => {
  const stranger = await freshMerchant(running);
  const [record] = await records();
  for (const operation of ["revokeApiKey", "rollApiKey"]) {
    await api.refused(operation, 404, "not_found", { as: stranger.apiKey, path: { id: String(record?.id) } });
    for (const id of ["ak_01jd3v9q6k8m2n4p6r8t0v2x4z", "x"]) {
      await api.refused(operation, 404, "not_found", { path: { id } });
    }
  }
});

test(
  "docs/contract.md §7: last_used_at is written in batches, at most 60 s late",
  async () => {
    const made = await create({ name: "Used" });
    const before = Date.now();
    await api.call("getMerchant", 200, { as: made.text("api_key") });
    const at = await eventually("the use to be recorded", async () => (await recordOf(made)).last_used_at, {
      limitMs: 60_000,
      everyMs: 500,
    });
    assert.ok(Math.abs(Date.parse(String(at)) - before) < 60_000);
  },
  { timeoutMs: 65_000 },
);

test("every described code of these operations was seen", () =>
  api.sawEverything([], "listApiKeys", "createApiKey", "rollApiKey", "revokeApiKey"));

test.run();
