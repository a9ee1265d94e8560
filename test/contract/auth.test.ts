// docs/contract.md §2 and §7, for every operation of the document at once: who is refused, and how.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { newId } from "#platform/values/id.ts";
import { makePurchase } from "../console/purchases.ts";
import { eventually } from "../harness/eventually.ts";
import { pdfFile } from "../harness/files/sample-files.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { contractCaller, contractSuite } from "./caller.ts";
import type { DocumentOperation } from "./document.ts";
import { setMerchant } from "./operator.ts";
import { ownGateway } from "./own-gateway.ts";

const { test, running, merchant, api } = contractSuite("authentication", { timeoutMs: 30_000 });
const everyScope = ["payments:read", "payments:write", "merchant:read", "merchant:write"];
let guarded: readonly DocumentOperation[];

test.before(async () => {
  guarded = api.document.operations.filter((operation) => operation.scope !== undefined);
  assert.ok(guarded.length >= 25);
});

// Proves credentials: bearer, unauthorized; errors: unauthorized
test("docs/contract.md §7: without a key, and with anything but a valid one, every merchant operation is unauthorized", async () => {
  const wrong = [
    "",
    "sk_test_",
    `sk_test_${"a".repeat(46)}`,
    merchant.apiKey.slice(0, -1),
    `${merchant.apiKey}x`,
    merchant.apiKey.replace("sk_test_", "sk_live_"),
    merchant.apiKey.toLowerCase(),
  ];
  for (const operation of guarded) {
    const answer = await api.refused(operation.id, 401, "unauthorized", { as: "" });
    assert.equal(answer.headers.get("www-authenticate"), "Bearer");
    assert.match(answer.text("error.message"), /^no api key: send the header Authorization: Bearer/);
  }
  const messages = new Set<string>();
  for (const as of wrong.filter((each) => each !== "")) {
    messages.add((await api.refused("listPayments", 401, "unauthorized", { as })).text("error.message"));
  }
  assert.deepEqual([...messages], ["this api key is unknown, expired or revoked"]);
});

test("docs/contract.md §2: a wrong token between our own processes is a fault of ours: 500, and never 401 for a good key", async () => {
  const file = join(await tempDir("token"), "token");
  writeFileSync(file, "not-a-token-that-any-of-the-services-accepts");
  const misconfigured = await ownGateway(running, { RPC_TOKEN_FILE: file });
  try {
    const target = await contractCaller(misconfigured, merchant.apiKey);
    await target.refused("getMerchant", 500, "internal_error");
    await target.refused("createApplication", 500, "internal_error", { as: "", body: {} });
  } finally {
    await misconfigured.stop();
  }
});

test("RFC 6750: only the Bearer scheme is taken, in any case, and one Authorization header", async () => {
  const get = async (...values: string[]) => {
    const sent = request(`${running.gateway}/v1/merchants/me`, { headers: { Authorization: values } });
    sent.end();
    const [answer] = await once(sent, "response");
    return { status: answer.statusCode, body: await text(answer) };
  };
  const status = async (...values: string[]) => (await get(...values)).status;
  const key = merchant.apiKey;
  assert.deepEqual([await status(`Bearer ${key}`), await status(`bearer  ${key}`)], [200, 200]);
  for (const value of [
    key,
    `Basic ${btoa(`${key}:`)}`,
    `Token ${key}`,
    `Bearer ${key} x`,
    `Bearer "${key}"`,
    "Bearer",
  ]) {
    const { status, body } = await get(value);
    assert.equal(status, 401, value.slice(0, 10));
    assert.ok(value === `Bearer "${key}"` || body.includes("must be sent once, as Bearer and the api key"), body);
  }
  assert.equal(await status(`Bearer ${key}`, `Bearer ${key}`), 401);
});

// Proves credentials: forbidden; errors: forbidden; createCheckoutSession: scope; createRefund: scope; capturePayment: scope; cancelPayment: scope; listPayments: scope; getPayment: scope; listRefunds: scope; getRefund: scope; listDisputes: scope; getDispute: scope; uploadDisputeFile: scope; submitDisputeEvidence: scope; acceptDispute: scope; getBalance: scope; listBalanceTransactions: scope; getBalanceTransaction: scope; listPayouts: scope; getPayout: scope; createReport: scope; listReports: scope; getReport: scope; getReportFile: scope; createErasure: scope; getErasure: scope; exportBuyer: scope; listApiRequests: scope; listAuditEntries: scope; listEvents: scope
test("docs/contract.md §7: a key without the operation's scope is forbidden before its input is validated", async () => {
  const narrow = new Map<string, string>();
  for (const scope of everyScope) {
    const others = everyScope.filter((each) => each !== scope);
    const { apiKey } = await freshMerchant(running, { scopes: others });
    narrow.set(scope, apiKey);
  }
  for (const { id, scope = "", hasBody } of guarded) {
    const as = narrow.get(scope) ?? assert.fail(`unknown scope ${scope}`);
    const answer = await api.refused(id, 403, "forbidden", { as, ...(hasBody && { body: "{" }) });
    assert.equal(answer.text("error.message"), `this api key lacks the scope ${scope}`);
  }
});

// Proves credentials: read, write, management
test("docs/contract.md §7: reads need a read scope and writes a write scope, of their noun", () => {
  for (const { id, path, method, scope } of guarded) {
    const noun = /^\/v1\/(merchants\/me|privacy\/erasures)/.test(path) ? "merchant" : "payments";
    const reads = method === "GET" || readsByPost.includes(id);
    assert.equal(scope, `${noun}:${reads ? "read" : "write"}`, `${method} ${path}`);
  }
});

/** Reads whose body names a person, which a URL must not. */
const readsByPost = ["exportBuyer"];

/** Writes that a suspended merchant may make: money moves towards buyers only, if at all. */
const whileSuspended = [
  ...["createRefund", "cancelPayment", "uploadDisputeFile", "submitDisputeEvidence", "acceptDispute"],
  ...["createReport", "createErasure"],
];

for (const [status, open] of [
  ["suspended", whileSuspended],
  ["closed", []],
] as const) {
  test(`docs/contract.md §8: a ${status} merchant reads and writes ${open.length} operations, within a second`, async () => {
    const stopped = await freshMerchant(running);
    const as = stopped.apiKey;
    await api.call("getMerchant", 200, { as });
    const { payment } = await makePurchase(running, stopped);
    const { payment: authorized } = await makePurchase(running, stopped, { capture_method: "manual" });
    await setMerchant(running, stopped.id, { status });
    const becomes = (description: string, answer: number) =>
      eventually(
        `the merchant to be ${description}`,
        async () => (await stopped.api.patch("/v1/merchants/me/profile", {})).status === answer,
        { limitMs: 1_000 },
      );
    await becomes(status, 403);
    for (const { id, method } of guarded) {
      if (method === "GET" || [...readsByPost, ...open].includes(id)) continue;
      const answer = await api.refused(id, 403, "forbidden", { as });
      assert.equal(answer.text("error.message"), "merchant is not active");
    }
    const isOpen = open.length > 0;
    await api.call("createRefund", isOpen ? 201 : 403, { as, path: { id: payment } });
    await api.call("capturePayment", 403, { as, path: { id: authorized } });
    await api.call("cancelPayment", isOpen ? 200 : 403, { as, path: { id: authorized } });
    const month = { type: "refunds", from: "2025-11-01", to: "2025-12-01" };
    await api.call("createReport", isOpen ? 201 : 403, { as, body: month });
    const reached = isOpen ? 404 : 403;
    const code = isOpen ? "not_found" : "forbidden";
    await api.refused("acceptDispute", reached, code, { as, path: { id: newId("dispute") } });
    const evidence = { path: { id: newId("dispute") }, body: { product_description: "x" } };
    await api.refused("submitDisputeEvidence", reached, code, { as, ...evidence });
    const upload = await fetch(`${running.gateway}/v1/disputes/${newId("dispute")}/files`, {
      method: "POST",
      headers: { authorization: `Bearer ${as}`, "content-type": "application/pdf" },
      body: new Uint8Array(pdfFile()),
    });
    assert.equal(upload.status, reached);
    for (const id of ["getMerchant", "listPayments", "listCheckoutSessions", "listApiKeys"])
      await api.call(id, 200, { as });
    await setMerchant(running, stopped.id, { status: "active" });
    await becomes("active", 200);
  });
}

// Proves credentials: onboarding; operations: operations; submitApplication: public
test("docs/contract.md §8: the onboarding and browser operations take no key, and a wrong one does not matter", async () => {
  const open = api.document.operations.filter((operation) => operation.scope === undefined).map((each) => each.id);
  assert.deepEqual(open.sort(), [
    "confirmCheckout",
    "createApplication",
    "getApplication",
    "giveEmail",
    "resolveCheckout",
    "submitApplication",
    "updateApplication",
  ]);
  await api.call("createApplication", 201, { as: "wrong", body: {} });
});

test.run();
