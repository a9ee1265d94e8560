// How unusual JSON and queries are read: every row of the table that the reference page shows (CONTRACT.md §1 and §2).
import assert from "node:assert/strict";
import { inputRules } from "../../gateway/input-rules.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { type Caller, caller } from "./caller.ts";

const test = suite("input", { timeoutMs: 30_000 });
let merchant: TestMerchant;
let api: Caller;

test.before(async () => {
  const running = await stack();
  merchant = await freshMerchant(running);
  api = await caller(running, merchant.apiKey);
});

for (const rule of inputRules) {
  test(`${rule.input}: ${rule.status}`, async () => {
    const answer =
      rule.query === undefined
        ? await merchant.api.post("/v1/checkout-sessions", rule.body ?? "")
        : await merchant.api.get(`/v1/payments?${rule.query}`);
    assert.equal(answer.status, rule.status, String(answer));
    api.document.check(rule.query === undefined ? "createCheckoutSession" : "listPayments", answer);
    if (rule.status === 400) assert.equal(answer.text("error.code"), "invalid_body");
  });
}

test("1e3 is 1000, and a metadata name like constructor comes back as it was sent", async () => {
  const body = '{"amount":1e3,"currency":"EUR","metadata":{"constructor":"x","toString":"y"}}';
  const created = (await merchant.api.post("/v1/checkout-sessions", body)).expect(201);
  assert.equal(created.at("amount"), 1000);
  const read = (await merchant.api.get(`/v1/checkout-sessions/${created.text("id")}`)).expect(200);
  assert.deepEqual(read.at("metadata"), { constructor: "x", toString: "y" });
});

test("CONTRACT.md §2: details name the first 20 fields and repeat no value", async () => {
  const metadata = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, 7_654_321]));
  const answer = await merchant.api.post("/v1/checkout-sessions", { amount: "hunter2", currency: "EUR", metadata });
  assert.equal(answer.list("error.details").length, 20);
  assert.ok(!/hunter2|7654321/.test(answer.raw));
});

test("text of every script survives the way to the database and back", async () => {
  const description = "Zoë 商品 🛒 \u202eمرحبا\u0007 'quote\" \\ <b>&amp; %00";
  const created = (
    await merchant.api.post("/v1/checkout-sessions", { amount: 1, currency: "EUR", description })
  ).expect(201);
  const read = (await merchant.api.get(`/v1/checkout-sessions/${created.text("id")}`)).expect(200);
  assert.equal(read.at("description"), description);
});

test.run();
