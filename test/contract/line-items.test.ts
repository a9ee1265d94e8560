// docs/contract.md §4: what a session sells line by line, who sells it, and links that live for weeks.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards, payInFrame } from "../harness/pay.ts";
import { asBuyer, contractSuite } from "./caller.ts";

const { test, running, api } = contractSuite("line items", { timeoutMs: 30_000 });
const lines = [
  { name: "Lemon cookbook", quantity: 2, amount: 1_250 },
  { name: "خصم", quantity: 1, amount: -200 },
];
const order = { amount: 1_050, currency: "EUR", line_items: lines };

const create = (body: object) => api.call("createCheckoutSession", 201, { body });

// Proves getCheckoutSession: line_items; resolveCheckout: line_items
test("docs/contract.md §4: lines are shown to the merchant and the buyer as they were sent, and not to whom it ended unpaid", async () => {
  const [paid, ended] = [await create(order), await create(order)];
  assert.equal(paid.at("line_items"), undefined, "not in the answer of the creation");
  const read = (session: typeof paid) => api.call("getCheckoutSession", 200, { path: { id: session.text("id") } });
  const seen = (session: typeof paid) => api.call("resolveCheckout", 200, asBuyer(session));
  assert.deepEqual((await read(paid)).at("line_items"), lines);
  assert.deepEqual((await seen(paid)).at("line_items"), lines);
  await payInFrame(paid.text("render.frame_url"), cards.succeeds);
  await api.call("confirmCheckout", 200, asBuyer(paid));
  assert.deepEqual((await seen(paid)).at("line_items"), lines, "on the receipt, too");
  await api.call("expireCheckoutSession", 200, { path: { id: ended.text("id") } });
  const over = await seen(ended);
  assert.deepEqual([over.text("status"), over.at("line_items"), over.at("legal")], ["expired", undefined, undefined]);
  assert.deepEqual((await read(ended)).at("line_items"), lines, "its merchant may know");
  const list = (await api.call("listCheckoutSessions", 200)).list("data");
  assert.deepEqual(
    list.map((item) => membersOf(item).line_items),
    [undefined, undefined],
  );
});

// Proves createCheckoutSession: line_items; errors: invalid_body
test("docs/contract.md §4: a line beyond its bounds is named by its place, and lines of another sum by the list", async () => {
  const line = { name: "Tea", quantity: 1, amount: 1_050 };
  const wrong: [string, unknown][] = [
    ["line_items", []],
    ["line_items", Array.from({ length: 101 }, (_, i) => ({ ...line, amount: i === 0 ? 1_050 : 0 }))],
    ["line_items", "Tea"],
    ["line_items[0]", ["Tea"]],
    ["line_items[0].name", [{ quantity: 1, amount: 1_050 }]],
    ["line_items[0].name", [{ ...line, name: "" }]],
    ["line_items[1].name", [line, { ...line, amount: 0, name: "x".repeat(201) }]],
    ["line_items[0].name", [{ ...line, name: "Tea\nfree" }]],
    ["line_items[0].name", [{ ...line, name: "\u202eeet" }]],
    ["line_items[0].name", [{ ...line, name: "Tea\0" }]],
    ["line_items[0].quantity", [{ ...line, quantity: 0 }]],
    ["line_items[0].quantity", [{ ...line, quantity: 10_000 }]],
    ["line_items[0].quantity", [{ ...line, quantity: 1.5 }]],
    ["line_items[0].amount", [{ ...line, amount: "1050" }]],
    ["line_items[0].amount", [{ ...line, amount: 100_000_000 }]],
    ["line_items[0].price", [{ ...line, price: 1_050 }]],
    ["line_items", [{ ...line, amount: 1_051 }]],
    ["line_items", [line, { ...line, amount: -1 }]],
  ];
  for (const [field, line_items] of wrong) {
    const body = { ...order, line_items };
    const answer = await api.refused("createCheckoutSession", 400, "invalid_body", { body });
    assert.equal(answer.at("error.details.0.field"), field, JSON.stringify(line_items).slice(0, 80));
  }
  const [more, less] = [1_051, 7].map((amount) => ({ ...order, line_items: [{ ...line, amount }] }));
  for (const [body, relation] of [
    [more, "greater"],
    [less, "less"],
  ]) {
    const answer = await api.refused("createCheckoutSession", 400, "invalid_body", { body });
    const problem = `must sum to amount; the sum is ${relation}`;
    assert.deepEqual(answer.at("error.details"), [{ field: "line_items", problem }], "no value that was sent");
  }
});

test("docs/contract.md §4: a hundred lines with the longest names are accepted in any script", async () => {
  const line_items = Array.from({ length: 100 }, (_, i) => ({ name: "レ".repeat(200), quantity: 9_999, amount: i }));
  const session = await create({ amount: 4_950, currency: "JPY", line_items });
  assert.deepEqual((await api.call("resolveCheckout", 200, asBuyer(session))).at("line_items"), line_items);
});

test("docs/contract.md §6: another line under the same key is another request", async () => {
  const sent = { headers: { "Idempotency-Key": "lines" } };
  const first = await api.call("createCheckoutSession", 201, { ...sent, body: order });
  const again = await api.call("createCheckoutSession", 201, { ...sent, body: order });
  assert.equal(again.at("id"), first.at("id"));
  const line_items = [{ ...lines[0], quantity: 3 }, lines[1]];
  await api.refused("createCheckoutSession", 422, "idempotency_key_reuse", { ...sent, body: { ...order, line_items } });
});

// Proves resolveCheckout: legal; updateBranding: response
test("docs/contract.md §4 and §8: the buyer sees the seller and its terms, by the session's environment", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  const legal = async () => {
    const session = await api.call("createCheckoutSession", 201, { as, body: { amount: 100, currency: "EUR" } });
    return (await api.call("resolveCheckout", 200, asBuyer(session))).at("legal");
  };
  assert.deepEqual(await legal(), { name: "Test Store Ltd" });
  const terms_url = "https://shop.example/terms";
  const privacy_url = "https://shop.example/privacy";
  const changed = await api.call("updateBranding", 200, { as, body: { terms_url, privacy_url } });
  assert.deepEqual([changed.at("terms_url"), changed.at("privacy_url")], [terms_url, privacy_url]);
  assert.deepEqual(await legal(), { name: "Test Store Ltd", terms_url, privacy_url });
  for (const url of [
    "http://shop.example/terms",
    "javascript:alert(1)",
    "https://u:p@shop.example",
    "x".repeat(2_049),
  ]) {
    const answer = await api.refused("updateBranding", 400, "invalid_body", { as, body: { privacy_url: url } });
    assert.equal(answer.at("error.details.0.field"), "privacy_url", url.slice(0, 40));
  }
  await api.call("updateBranding", 200, { as, body: { terms_url: null, privacy_url: null } });
  await api.call("updateProfile", 200, { as, body: { legal_name: null } });
  assert.equal(await legal(), undefined);
});

// Proves createCheckoutSession: expires_in
test("docs/contract.md §4: a link lives for up to thirty days", async () => {
  const days = 30 * 86_400;
  const session = await create({ amount: 100, currency: "EUR", expires_in: days });
  const lifeMs = Date.parse(session.text("expires_at")) - Date.now();
  assert.ok(Math.abs(lifeMs - days * 1_000) < 60_000);
  const body = { amount: 100, currency: "EUR", expires_in: days + 1 };
  const answer = await api.refused("createCheckoutSession", 400, "invalid_body", { body });
  assert.equal(answer.at("error.details.0.field"), "expires_in");
});

test.run();
