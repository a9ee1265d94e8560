// docs/contract.md §8: what a merchant reads of its own API requests and administrative acts.
import assert from "node:assert/strict";
import { connectPeer } from "#platform/rpc/client.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import type { Answer } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { fixture } from "../harness/suite.ts";
import { contractCaller, contractSuite } from "./caller.ts";

const { test, running, merchant, api } = contractSuite("merchants' logs", { timeoutMs: 30_000 });
const others = fixture(test, async () => await contractCaller(running, (await freshMerchant(running)).apiKey));

const idOf = (answer: Answer) => answer.headers.get("request-id") ?? "";
type Query = Record<string, string | number>;
const dataOf = (answer: Answer) => answer.list("data").map(membersOf);
const idsOf = (answer: Answer) => dataOf(answer).map(({ id }) => String(id));
const ids = async (query: Query = {}) => idsOf(await api.call("listApiRequests", 200, { query }));

// Proves listApiRequests: filters, response, tenants; getApiRequest: response
test("requests are listed newest first by key, status, time and page, and read by their id, by their merchant alone", async () => {
  const made: Answer[] = [];
  for (const amount of [100, 0, 200]) {
    made.push(await merchant.api.post("/v1/checkout-sessions", { amount, currency: "EUR" }));
  }
  const [first, refused, last] = made.map(idOf);
  assert(first && refused && last);
  await eventually("all of them in the log", async () => (await ids()).includes(last));
  const all = await ids();
  assert.deepEqual(
    all.filter((id) => [first, refused, last].includes(id)),
    [last, refused, first],
  );
  const read = await api.call("getApiRequest", 200, { path: { id: refused } });
  const { at, duration_ms: duration, api_key_id: key, ...rest } = read.body;
  assert.ok(Number(duration) > 0 && !Number.isNaN(Date.parse(String(at))));
  const expected = {
    id: refused,
    method: "POST",
    path: "/v1/checkout-sessions",
    status: 400,
    error_code: "invalid_body",
  };
  assert.deepEqual(rest, expected);
  assert.deepEqual(await ids({ min_status: 400 }), [refused]);
  assert.ok((await ids({ api_key_id: String(key) })).includes(first));
  assert.deepEqual(await ids({ api_key_id: "ak_00000000000000000000000000" }), []);
  assert.deepEqual(await ids({ to: "2020-01-01" }), []);
  assert.ok((await ids({ from: String(at), to: String(at) })).includes(refused), "both ends are in it");
  assert.deepEqual(await ids({ after: refused, limit: 1 }), [first]);
  const one = await api.call("listApiRequests", 200, { query: { limit: 1 } });
  assert.deepEqual([one.list("data").length, one.at("has_more")], [1, true]);
  await others.refused("getApiRequest", 404, "not_found", { path: { id: refused } });
  const theirs = await others.call("listApiRequests", 200, { query: { limit: 200 } });
  assert.ok(idsOf(theirs).every((id) => !made.map(idOf).includes(id)));
  for (const query of [{ min_status: 99 }, { after: "req_x" }, { from: "yesterday" }, { offset: 1 }] as Query[])
    await api.refused("listApiRequests", 400, "invalid_body", { query });
});

// Proves listAuditEntries: filters, response, tenants
test("acts are listed newest first, with the key that did them and without an operator's name, to their merchant alone", async () => {
  const made = (await merchant.api.post("/v1/merchants/me/api-keys", { name: "till" })).expect(201);
  const key = made.text("id");
  (await merchant.api.delete(`/v1/merchants/me/api-keys/${key}`)).expect(204);
  const peer = connectPeer({ url: running.rpc.merchant, token: running.rpc_token });
  const change = { merchantId: merchant.id, status: "active" };
  await peer.client(MerchantService).updateMerchantState(change, { headers: { actor: "ada@example.com" } });
  peer.close();
  const entries = async (query: Query = {}) => dataOf(await api.call("listAuditEntries", 200, { query }));
  const about = await eventually("both acts in the log", async () => {
    const found = await entries({ object_id: key });
    return found.length === 2 && found;
  });
  assert.deepEqual(
    about.map(({ action, object_id: of, status }) => [action, of, status]),
    [
      ["api_key.revoked", key, "revoked"],
      ["api_key.created", key, "active"],
    ],
  );
  const [revoked, created] = about;
  assert(revoked && created);
  assert.match(String(created.actor), /^ak_/);
  assert.equal(created.request_id, idOf(made));
  assert.deepEqual(await entries({ object_id: key, action: "api_key.created" }), [created]);
  assert.deepEqual(await entries({ object_id: key, after: String(revoked.id) }), [created]);
  assert.deepEqual((await entries({ object_id: key, actor: String(created.actor) })).length, 2);
  assert.deepEqual(await entries({ object_id: key, to: "2020-01-01" }), []);
  assert.ok(!JSON.stringify(await entries({ limit: 200 })).includes("ada@"));
  assert.deepEqual((await others.call("listAuditEntries", 200, { query: { object_id: key } })).list("data"), []);
  for (const query of [{ after: "evt_x" }, { to: "soon" }, { acton: "x" }] as Query[])
    await api.refused("listAuditEntries", 400, "invalid_body", { query });
});

test.run();
