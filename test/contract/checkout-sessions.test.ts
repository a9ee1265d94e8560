// docs/contract.md §4 POST /v1/checkout-sessions and docs/contract.md §4: create, list, read, expire.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards, payInFrame } from "../harness/pay.ts";
import { asBuyer, contractSuite } from "./caller.ts";
import { failProcessor } from "./operator.ts";

const { test, running, api } = contractSuite("checkout sessions", { timeoutMs: 30_000 });
const order = { amount: 1050, currency: "EUR" };

// Proves createCheckoutSession: response
test("docs/contract.md §4: creation answers exactly the session's fields, with its secret", async () => {
  const session = await api.call("createCheckoutSession", 201, { body: order });
  assert.match(session.text("id"), /^cs_[0-9a-hjkmnp-tv-z]{26}$/);
  const suffix = session.text("id").slice(3);
  assert.match(session.text("session_secret"), new RegExp(`^cs_secret_${suffix}_[A-Za-z0-9_-]{43}$`));
  assert.deepEqual(
    ["connector", "surface", "amount", "currency", "status"].map((name) => session.at(name)),
    ["simulator", "embedded", 1050, "EUR", "open"],
  );
  assert.deepEqual(
    ["kind", "connector", "environment"].map((name) => session.at(`render.${name}`)),
    ["frame", "simulator", "sandbox"],
  );
  const lifeMs = Date.parse(session.text("expires_at")) - Date.now();
  assert.ok(Math.abs(lifeMs - 86_400_000) < 60_000);
  assert.match(session.text("expires_at"), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

// Proves createCheckoutSession: body
test("docs/contract.md §4: every optional field is taken and read back; the currency is stored in upper case", async () => {
  const body = {
    amount: 99_999_999,
    currency: "jpy",
    description: "é".repeat(255),
    customer_email: "Ada.Lovelace+shop@example.co.uk",
    metadata: { order: "7", "": undefined, constructor: "x" },
    success_url: "https://shop.example.com/thanks?x=1",
    cancel_url: "http://localhost:3000/cart",
    expires_in: 300,
    locale: "de-CH",
    reference: "Auftrag № 17 / 2026",
  };
  const created = await api.call("createCheckoutSession", 201, { body });
  assert.equal(created.text("currency"), "JPY");
  const read = await api.call("getCheckoutSession", 200, { path: { id: created.text("id") } });
  const { amount, currency, metadata, expires_in, ...same } = body;
  for (const [name, value] of Object.entries(same)) assert.equal(read.at(name), value, name);
  assert.deepEqual([read.at("amount"), read.at("currency")], [amount, currency.toUpperCase()]);
  assert.deepEqual(read.at("metadata"), { order: "7", constructor: metadata.constructor });
  assert.ok(Date.parse(read.text("expires_at")) - Date.parse(read.text("created_at")) <= expires_in * 1_000);
  assert.equal(read.at("session_secret"), undefined);
  assert.equal(read.at("render"), undefined);
});

// Proves createCheckoutSession: body; errors: invalid_body
test("docs/contract.md §4: a value beyond each bound is invalid_body, named, and creates nothing", async () => {
  const before = (await api.call("listCheckoutSessions", 200)).number("total");
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, "v"]));
  const wrong: [string, Record<string, unknown>][] = [
    ["amount", { amount: 0 }],
    ["amount", { amount: 100_000_000 }],
    ["amount", { amount: "1050" }],
    ["amount", { amount: 10.5 }],
    ["amount", { amount: null }],
    ["currency", { currency: "XXX" }],
    ["currency", { currency: "EURO" }],
    ["currency", { currency: 978 }],
    ["description", { description: "x".repeat(256) }],
    ["customer_email", { customer_email: "nobody" }],
    ["customer_email", { customer_email: `${"a".repeat(250)}@b.co` }],
    ["metadata", { metadata: many }],
    ["metadata", { metadata: { ["k".repeat(41)]: "v" } }],
    ["metadata", { metadata: { "": "v" } }],
    ["metadata.5", { metadata: { 5: 7 } }],
    ["metadata.order", { metadata: { order: 7 } }],
    ["metadata.order", { metadata: { order: "x".repeat(501) } }],
    ["metadata", { metadata: ["x"] }],
    ["success_url", { success_url: "javascript:alert(1)" }],
    ["success_url", { success_url: "http://shop.example.com" }],
    ["success_url", { success_url: "https://user:pw@shop.example.com" }],
    ["cancel_url", { cancel_url: `https://shop.example.com/${"x".repeat(2048)}` }],
    ["expires_in", { expires_in: 299 }],
    ["expires_in", { expires_in: 2_592_001 }],
    ["locale", { locale: "../../etc" }],
  ];
  for (const [field, change] of wrong) {
    const body = { ...order, ...change };
    const answer = await api.refused("createCheckoutSession", 400, "invalid_body", { body });
    assert.equal(answer.at("error.details.0.field"), field, JSON.stringify(change).slice(0, 80));
  }
  const underscore = { body: { ...order, locale: "de_DE" } };
  const hyphen = await api.refused("createCheckoutSession", 400, "invalid_body", underscore);
  assert.match(hyphen.text("error.details.0.problem"), /de-DE/, "the hyphen is named");
  const missing = await api.refused("createCheckoutSession", 400, "invalid_body", { body: {} });
  assert.deepEqual(missing.at("error.details"), [
    { field: "amount", problem: "is required" },
    { field: "currency", problem: "is required" },
  ]);
  assert.equal((await api.call("listCheckoutSessions", 200)).number("total"), before);
});

test("currencies are money: units of account, funds and metals are invalid_body on currency, the Caribbean guilder is taken", async () => {
  for (const currency of ["CLF", "UYW", "USN", "CHE", "MXV", "XAU", "clf"]) {
    const answer = await api.refused("createCheckoutSession", 400, "invalid_body", { body: { ...order, currency } });
    assert.equal(answer.at("error.details.0.field"), "currency", currency);
  }
  const accepted = await api.call("createCheckoutSession", 201, { body: { ...order, currency: "xcg" } });
  assert.equal(accepted.at("currency"), "XCG");
});

test("docs/contract.md §4: http to localhost is for the sandbox alone", async () => {
  const live = await freshMerchant(running, { environment: Environment.LIVE });
  const body = { ...order, success_url: "http://localhost:3000/thanks" };
  await api.call("createCheckoutSession", 201, { body });
  const answer = await api.refused("createCheckoutSession", 400, "invalid_body", { as: live.apiKey, body });
  assert.equal(answer.at("error.details.0.field"), "success_url");
});

// Proves errors: payment_blocked, no_connector, connector_error
test("docs/contract.md §2: payment_blocked, no_connector and connector_error", async () => {
  const blocked = { ...order, customer_email: "blocked@example.com" };
  await api.refused("createCheckoutSession", 402, "payment_blocked", { body: blocked });
  // A new merchant has a connector in the sandbox only.
  const live = await freshMerchant(running, { environment: Environment.LIVE });
  await api.refused("createCheckoutSession", 422, "no_connector", { as: live.apiKey, body: order });
  const unlucky = await freshMerchant(running);
  await failProcessor(running, unlucky, { target: "api.*", kind: "error_before" });
  await api.refused("createCheckoutSession", 502, "connector_error", { as: unlucky.apiKey, body: order });
});

test("docs/contract.md §4 and §5: the list is newest first, filtered, exact, and pages without repeating", async () => {
  const own = await freshMerchant(running);
  const list = (query = {}) => api.call("listCheckoutSessions", 200, { as: own.apiKey, query });
  assert.deepEqual((await list()).body, { data: [], total: 0, next_cursor: 0, has_more: false });
  const made: string[] = [];
  for (let i = 0; i < 3; i++) {
    made.push((await api.call("createCheckoutSession", 201, { as: own.apiKey, body: order })).text("id"));
  }
  await api.call("expireCheckoutSession", 200, { as: own.apiKey, path: { id: made[0] ?? "" } });
  const ids = async (query = {}) => (await list(query)).list("data").map((item) => membersOf(item).id);
  assert.deepEqual(await ids(), made.toReversed());
  assert.deepEqual(await ids({ limit: 2 }), [made[2], made[1]]);
  const first = await list({ limit: 2 });
  assert.deepEqual([first.at("total"), first.at("next_cursor")], [3, 2]);
  const second = await list({ limit: 2, offset: 2 });
  assert.deepEqual([second.list("data").length, second.at("next_cursor")], [1, 0]);
  const behind = await list({ limit: 2, after: made[1] ?? "" });
  assert.deepEqual([behind.at("data.0.id"), behind.at("has_more"), behind.at("total")], [made[0], false, 3]);
  assert.deepEqual(await ids({ limit: 1, after: made[2] ?? "", status: "open" }), [made[1]]);
  assert.deepEqual(await ids({ status: "expired" }), [made[0]]);
  assert.deepEqual(await ids({ status: "completed" }), []);
  const today = new Date().toISOString().slice(0, 10);
  assert.equal((await ids({ from: today, to: today })).length, 3);
  assert.deepEqual(await ids({ to: "2020-01-01" }), []);
  for (const query of [{ status: "nonsense" }, { limit: 0 }, { offset: -1 }, { from: "x" }]) {
    await api.refused("listCheckoutSessions", 400, "invalid_body", { query });
  }
});

// Proves listCheckoutSessions: reference, customer_email, q
test("docs/contract.md §4: sessions are found by reference, by e-mail, by the beginning of either, and by what buyers quote", async () => {
  const own = await freshMerchant(running);
  const make = async (fields: object) =>
    (await api.call("createCheckoutSession", 201, { as: own.apiKey, body: { ...order, ...fields } })).text("id");
  const first = await make({ reference: "order-1042", customer_email: "Ada@example.com" });
  const second = await make({ reference: "order-1043" });
  const third = await make({ customer_email: "order@example.com" });
  const cases: [Record<string, string>, string[]][] = [
    [{ reference: "order-1042" }, [first]],
    [{ reference: "order-104" }, []],
    [{ reference: "Order-1042" }, []],
    [{ customer_email: "ada@EXAMPLE.com" }, [first]],
    [{ customer_email: "ada" }, []],
    [{ q: ` ${first.toUpperCase().replace("CS_", "cs_")}\n` }, [first]],
    [{ q: first.toUpperCase() }, [first]],
    [{ q: "\u200border-1042 " }, [first]],
    [{ q: first }, [first]],
    [{ q: first.replace("cs_", "pay_").slice(0, 18) }, [first]],
    [{ q: first.replace("cs_", "pay_").slice(0, 17) }, []],
    [{ q: "order" }, [third, second, first]],
    [{ q: "order-104" }, [second, first]],
    [{ q: "ADA@" }, [first]],
    [{ q: "rder" }, []],
    [{ q: second }, [second]],
    [{ q: "order", customer_email: "ada@example.com" }, [first]],
    [{ q: "order", status: "completed" }, []],
    [{ q: "%" }, []],
  ];
  for (const [query, wanted] of cases) {
    const answer = await api.call("listCheckoutSessions", 200, { as: own.apiKey, query });
    const found = answer.list("data").map((item) => membersOf(item).id);
    assert.deepEqual([found, answer.at("total")], [wanted, wanted.length], JSON.stringify(query));
  }
  for (const query of [{ reference: "x".repeat(101) }, { customer_email: "x".repeat(255) }, { q: "x".repeat(255) }]) {
    await api.refused("listCheckoutSessions", 400, "invalid_body", { as: own.apiKey, query });
  }
});

// Proves createCheckoutSession: reference
test("docs/contract.md §4: the reference comes back on session, payment and to the browser, and need not be unique", async () => {
  const body = { ...order, reference: "order-7" };
  const session = await api.call("createCheckoutSession", 201, { body });
  await api.call("createCheckoutSession", 201, { body });
  assert.equal((await api.call("resolveCheckout", 200, asBuyer(session))).at("reference"), "order-7");
  (await payInFrame(session.text("render.frame_url"), cards.succeeds)).expect(200);
  const paid = (await api.call("confirmCheckout", 200, asBuyer(session))).text("payment_id");
  assert.equal((await api.call("getPayment", 200, { path: { id: paid } })).at("reference"), "order-7");
  for (const reference of ["x".repeat(101), "two\nlines", "\u202e", 7]) {
    const answer = await api.refused("createCheckoutSession", 400, "invalid_body", { body: { ...order, reference } });
    assert.equal(answer.at("error.details.0.field"), "reference");
  }
});

// Proves getCheckoutSession: payment_id
test("docs/contract.md §4: a session names its payment only when that can be read", async () => {
  const session = await api.call("createCheckoutSession", 201, { body: order });
  const path = { id: session.text("id") };
  const named = async () => {
    const own = (await api.call("getCheckoutSession", 200, { path })).at("payment_id");
    const list = await api.call("listCheckoutSessions", 200, { query: { limit: 200 } });
    const listed = list
      .list("data")
      .map(membersOf)
      .find(({ id }) => id === path.id);
    assert.equal(listed?.payment_id, own);
    assert.equal((await api.call("resolveCheckout", 200, asBuyer(session))).at("payment_id"), own);
    return own;
  };
  assert.equal(await named(), undefined);
  await payInFrame(session.text("render.frame_url"), cards.declined);
  const confirmed = await api.call("confirmCheckout", 200, asBuyer(session));
  assert.equal(await named(), confirmed.text("payment_id"));
  await api.call("getPayment", 200, { path: { id: confirmed.text("payment_id") } });
  const unpaid = await api.call("createCheckoutSession", 201, { body: order });
  const expired = await api.call("expireCheckoutSession", 200, { path: { id: unpaid.text("id") } });
  assert.equal(expired.at("payment_id"), undefined);
});

test("docs/contract.md §4: expire asks the processor first: unpaid expires, paid completes, unreachable is connector_error", async () => {
  const open = await api.call("createCheckoutSession", 201, { body: order });
  const expire = { path: { id: open.text("id") } };
  assert.equal((await api.call("expireCheckoutSession", 200, expire)).text("status"), "expired");
  assert.equal((await api.call("expireCheckoutSession", 200, expire)).text("status"), "expired");
  const paid = await api.call("createCheckoutSession", 201, { body: order });
  await payInFrame(paid.text("render.frame_url"), cards.succeeds);
  const completed = await api.call("expireCheckoutSession", 200, { path: { id: paid.text("id") } });
  assert.deepEqual([completed.text("status"), completed.text("payment_status")], ["completed", "succeeded"]);
  assert.ok(completed.text("completed_at"));
  const unlucky = await freshMerchant(running);
  const session = await api.call("createCheckoutSession", 201, { as: unlucky.apiKey, body: order });
  await failProcessor(running, unlucky, { target: "api.*", kind: "error_before" });
  const stuck = { as: unlucky.apiKey, path: { id: session.text("id") } };
  await api.refused("expireCheckoutSession", 502, "connector_error", stuck);
});

test("docs/contract.md §2: unknown and foreign ids are not_found, all alike, and so are malformed ones, which are never repeated", async () => {
  const stranger = await freshMerchant(running);
  const own = (await api.call("createCheckoutSession", 201, { body: order })).text("id");
  const unknown = "cs_01jd3v9q6k8m2n4p6r8t0v2x4z";
  for (const operation of ["getCheckoutSession", "expireCheckoutSession"]) {
    const refused = async (id: string, as?: string) =>
      (await api.refused(operation, 404, "not_found", { path: { id }, ...(as !== undefined && { as }) })).raw;
    assert.equal((await refused(own, stranger.apiKey)).replace(own, unknown), await refused(unknown));
    const malformed = new Set<string>();
    for (const id of ["cs_x", "pay_01jd3v9q6k8m2n4p6r8t0v2x4z", "%00"]) malformed.add(await refused(id));
    assert.equal(malformed.size, 1);
    assert.doesNotMatch(await refused("x".repeat(300)), /xx/);
  }
});

// Proves createCheckoutSession: errors
test("every described code of these operations was seen", () =>
  api.sawEverything(
    ["createCheckoutSession idempotency_key_reuse"],
    "createCheckoutSession",
    "listCheckoutSessions",
    "getCheckoutSession",
    "expireCheckoutSession",
  ));

test.run();
