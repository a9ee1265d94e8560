// docs/contract.md §4: the two operations of the buyer's browser; docs/contract.md §4.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import type { Answer } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { answerChallenge, cards, payInFrame } from "../harness/pay.ts";
import { asBuyer, contractSuite } from "./caller.ts";
import { blockAddress, failProcessor, setMerchant } from "./operator.ts";

const { test, running, merchant, api } = contractSuite("checkout", { timeoutMs: 30_000 });
const order = { amount: 1050, currency: "EUR", description: "Order 7", metadata: { inner: "secret" } };

const create = (more = {}, as = merchant.apiKey) =>
  api.call("createCheckoutSession", 201, { as, body: { ...order, ...more } });
const resolve = (session: Answer) => api.call("resolveCheckout", 200, asBuyer(session));
const confirm = (session: Answer) => api.call("confirmCheckout", 200, asBuyer(session));
const payWith = (session: Answer, card: string) => payInFrame(session.text("render.frame_url"), card);

// Proves resolveCheckout: secret
test("docs/contract.md §4: resolve shows what a page needs, and no secret, metadata or processor reference", async () => {
  await merchant.api.patch("/v1/merchants/me/branding", {
    display_name: "Lemon Books",
    support_email: "help@lemonbooks.example",
  });
  const session = await create({
    success_url: "https://shop.example.com/ok",
    cancel_url: "https://shop.example.com/no",
  });
  const seen = await resolve(session);
  assert.deepEqual(
    ["id", "status", "amount", "currency", "description", "connector", "surface", "environment"].map((f) => seen.at(f)),
    [session.at("id"), "open", 1050, "EUR", "Order 7", "simulator", "embedded", "sandbox"],
  );
  assert.deepEqual(seen.at("merchant"), { display_name: "Lemon Books", support_email: "help@lemonbooks.example" });
  assert.deepEqual(seen.at("branding"), {
    display_name: "Lemon Books",
    support_email: "help@lemonbooks.example",
    button_style: "rounded",
    background_style: "subtle",
    theme: "light",
    font_family: "inter",
    email_field: "hidden",
    email_receipts: "off",
  });
  assert.deepEqual(seen.at("render"), session.at("render"));
  assert.deepEqual(
    [seen.at("success_url"), seen.at("cancel_url")],
    ["https://shop.example.com/ok", "https://shop.example.com/no"],
  );
  assert.ok(!seen.raw.includes(session.text("session_secret")));
  assert.ok(!seen.raw.includes("inner"));
});

// Proves resolveCheckout: paid
test("docs/contract.md §4: a paid session has the time and the card, and nothing to pay with", async () => {
  const session = await create();
  const early = await resolve(session);
  for (const name of ["paid_at", "card", "receipt_page_url"]) assert.equal(early.at(name), undefined, name);
  await payWith(session, cards.succeeds);
  await confirm(session);
  const seen = await resolve(session);
  assert.equal(seen.at("render"), undefined);
  assert.deepEqual([seen.text("status"), seen.text("payment_status")], ["completed", "succeeded"]);
  assert.match(seen.text("receipt_url"), /^http/);
  assert.match(seen.text("receipt_page_url"), new RegExp(`/c/${session.text("id")}\\?receipt=[\\w-]{43}$`));
  assert.equal(seen.at("receipt_email"), undefined, "there is no e-mail");
  assert.deepEqual(seen.at("card"), { brand: "visa", last4: "4242" });
  assert.match(seen.text("paid_at"), /^\d{4}-.*Z$/);
});

// Proves confirmCheckout: failure
test("docs/contract.md §4: confirm has the reason of a decline, without those for the merchant only", async () => {
  const declines = [
    ["4000000000009995", { code: "insufficient_funds", advice: "use_another_card" }],
    ["4000000000000127", { code: "incorrect_cvc", advice: "retry_later" }],
    ["4100000000000019", { code: "card_declined", advice: "use_another_card" }], // blocked; a thief must not learn that
  ] as const;
  const session = await create();
  for (const [card, failure] of declines) {
    await payWith(session, card);
    assert.deepEqual((await confirm(session)).at("failure"), failure);
  }
  await payWith(session, cards.succeeds);
  assert.equal((await confirm(session)).at("failure"), undefined);
});

test("docs/contract.md §8: a suspended merchant's session shows nothing to pay with, and one that is paid its success", async () => {
  const shop = await freshMerchant(running);
  const [open, paid] = [await create({}, shop.apiKey), await create({}, shop.apiKey)];
  await payWith(paid, cards.succeeds);
  await setMerchant(running, shop.id, { status: "suspended" });
  const seen = await resolve(open);
  assert.deepEqual([seen.at("render"), seen.text("merchant.display_name")], [undefined, "Test Store"]);
  assert.equal((await confirm(paid)).text("status"), "completed");
  assert.equal((await resolve(paid)).text("payment_status"), "succeeded");
});

// Proves confirmCheckout: verifies, replay, response
test("docs/contract.md §5: confirm of a paid session answers exactly four fields, and a repeated one replays the payment", async () => {
  const session = await create();
  await payWith(session, cards.succeeds);
  const first = await confirm(session);
  assert.deepEqual(first.body, {
    id: session.at("id"),
    status: "completed",
    payment_id: first.at("payment_id"),
    payment_status: "succeeded",
  });
  assert.deepEqual((await confirm(session)).body, first.body);
});

test("docs/contract.md §4: confirm answers open with failed, requires_action or pending, and processing", async () => {
  const untouched = await confirm(await create());
  assert.equal(untouched.text("status"), "open");
  assert.ok(["pending", "requires_action"].includes(untouched.text("payment_status")));
  const declined = await create();
  await payWith(declined, cards.declined);
  const no = await confirm(declined);
  assert.deepEqual([no.text("status"), no.text("payment_status")], ["open", "failed"]);
  await payWith(declined, cards.succeeds);
  assert.equal((await confirm(declined)).text("status"), "completed");
  const challenged = await create();
  const challenge = await payWith(challenged, cards.needsChallenge);
  assert.equal((await confirm(challenged)).text("payment_status"), "requires_action");
  await answerChallenge(challenge.text("challenge_url"), "pass");
  assert.equal((await confirm(challenged)).text("status"), "completed");
  const slow = await create();
  await payWith(slow, cards.asynchronous);
  const waiting = await confirm(slow);
  if (waiting.text("status") !== "completed") {
    assert.deepEqual([waiting.text("status"), waiting.text("payment_status")], ["processing", "processing"]);
  }
  await eventually(
    "the asynchronous payment to complete",
    async () => (await confirm(slow)).at("status") === "completed",
  );
});

// Proves resolveCheckout: secret; confirmCheckout: secret; credentials: session_secret
test("docs/contract.md §2: wrong, missing, doubled and foreign secrets look like an unknown session", async () => {
  const [session, other] = [await create(), await create()];
  const right = session.text("session_secret");
  const wrong = [
    `${right.slice(0, -1)}${right.endsWith("A") ? "B" : "A"}`,
    other.text("session_secret"),
    right.toUpperCase(),
    `${right} `,
    "",
    merchant.apiKey,
    "x".repeat(500),
  ];
  const bodies = new Set<string>();
  for (const operation of ["resolveCheckout", "confirmCheckout", "giveEmail"]) {
    const body = operation === "giveEmail" ? { body: { customer_email: "ada@example.com" } } : {};
    for (const secret of wrong)
      bodies.add((await api.refused(operation, 404, "not_found", { ...asBuyer(session, secret), ...body })).raw);
    const path = { id: session.text("id") };
    bodies.add((await api.refused(operation, 404, "not_found", { as: "", path, ...body })).raw);
    const unknown = { as: "", path: { id: "cs_01jd3v9q6k8m2n4p6r8t0v2x4z" }, query: { secret: right }, ...body };
    bodies.add((await api.refused(operation, 404, "not_found", unknown)).raw);
  }
  const doubled = await merchant.api.get(`/v1/checkout/${session.text("id")}?secret=${right}&secret=${right}`);
  bodies.add(doubled.expect(404).raw);
  assert.equal(bodies.size, 1);
});

// Proves credentials: session_secret
test("docs/contract.md §4: an API key opens no session, and a session secret is no API key", async () => {
  const session = await create();
  const path = { id: session.text("id") };
  await api.refused("resolveCheckout", 404, "not_found", { path });
  await api.refused("listPayments", 401, "unauthorized", { as: session.text("session_secret") });
});

test("docs/contract.md §4: confirm of an expired or canceled session is session_expired", async () => {
  const session = await create();
  await api.call("expireCheckoutSession", 200, { path: { id: session.text("id") } });
  await api.refused("confirmCheckout", 410, "session_expired", asBuyer(session));
  assert.equal((await resolve(session)).text("status"), "expired");
});

test("docs/contract.md §4: an ended session shows id, status, branding, merchant and the way back, and nothing about the order", async () => {
  const session = await create({
    success_url: "https://shop.example.com/ok",
    cancel_url: "https://shop.example.com/no",
  });
  await api.call("expireCheckoutSession", 200, { path: { id: session.text("id") } });
  const seen = await resolve(session);
  assert.deepEqual(Object.keys(seen.body).sort(), ["branding", "cancel_url", "id", "merchant", "status"]);
  assert.equal(seen.text("cancel_url"), "https://shop.example.com/no");
  assert.ok(!/Order 7|shop\.example\.com\/ok|1050/.test(seen.raw));
});

test(
  "docs/contract.md §4: the tenth declined attempt cancels the session",
  async () => {
    const session = await create();
    for (let i = 0; i < 9; i++) {
      await payWith(session, cards.declined);
      assert.equal((await confirm(session)).text("status"), "open");
    }
    await payWith(session, cards.declined);
    // The tenth decline arrives by confirm, or earlier by the processor's webhook.
    const { sessionId, query } = { sessionId: session.text("id"), query: `secret=${session.text("session_secret")}` };
    const tenth = await merchant.api.post(`/v1/checkout/${sessionId}/confirm?${query}`);
    assert.ok(tenth.at("status") === "canceled" || tenth.at("error.code") === "session_expired", String(tenth));
    const canceled = await resolve(session);
    assert.equal(canceled.text("status"), "canceled");
    assert.deepEqual(Object.keys(canceled.body).sort(), ["branding", "id", "merchant", "status"]);
    await api.refused("confirmCheckout", 410, "session_expired", asBuyer(session));
  },
  { timeoutMs: 60_000 },
);

// Proves errors: connector_error
test("docs/contract.md §4: confirm is connector_error while the processor cannot be asked, and the session stays as it was", async () => {
  const unlucky = await freshMerchant(running);
  const unpaid = await create({}, unlucky.apiKey);
  await failProcessor(running, unlucky, { target: "api.*", kind: "error_before" });
  await api.refused("confirmCheckout", 502, "connector_error", asBuyer(unpaid));
  assert.equal((await resolve(unpaid)).text("status"), "open");
});

// Proves errors: connector_error
test("docs/contract.md §4: resolve is connector_error while the outcome of an ending session is unknown", async () => {
  const unlucky = await freshMerchant(running);
  const ending = await create({}, unlucky.apiKey);
  await failProcessor(running, unlucky, { target: "api.*", kind: "error_before" });
  const path = { id: ending.text("id") };
  await api.refused("expireCheckoutSession", 502, "connector_error", { as: unlucky.apiKey, path });
  await api.refused("resolveCheckout", 502, "connector_error", asBuyer(ending));
});

test("docs/contract.md §4: no-store, no-referrer and CORS for every origin without credentials, also on errors", async () => {
  const session = await create();
  const answers = [await resolve(session), await confirm(session)];
  answers.push(await api.refused("confirmCheckout", 404, "not_found", asBuyer(session, "x")));
  for (const { headers } of answers) {
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("access-control-allow-origin"), "*");
    assert.equal(headers.get("access-control-allow-credentials"), null);
  }
});

test("a buyer from a blocked address sees no form, and is stopped after a decline", async () => {
  const guarded = await freshMerchant(running);
  const [unseen, tried] = [await create({}, guarded.apiKey), await create({}, guarded.apiKey)];
  await blockAddress(running, guarded.id, "127.0.0.1");
  await api.refused("resolveCheckout", 402, "payment_blocked", asBuyer(unseen));
  await payWith(tried, cards.declined);
  await api.refused("confirmCheckout", 402, "payment_blocked", asBuyer(tried));
  await api.refused("confirmCheckout", 410, "session_expired", asBuyer(tried));
});

// Proves confirmCheckout: errors
test("docs/contract.md §1: a parameter that resolve and confirm do not have is invalid_body, and pays nothing", async () => {
  const session = await api.call("createCheckoutSession", 201, { body: { amount: 100, currency: "EUR" } });
  const buyer = asBuyer(session);
  const sent = { ...buyer, query: { ...buyer.query, colour: "green" } };
  for (const operation of ["resolveCheckout", "confirmCheckout"])
    await api.refused(operation, 400, "invalid_body", sent);
});

test("docs/contract.md §4: an e-mail beyond ASCII is no lost sale, from the shop and from the buyer, and is found again", async () => {
  for (const [typed, stored] of [
    ["ada@bücher.example", "ada@xn--bcher-kva.example"],
    [" jörg@example.com ", "jörg@example.com"],
  ] as const) {
    const own = await create({ customer_email: typed });
    const entered = await create();
    await api.call("giveEmail", 200, { ...asBuyer(entered), body: { customer_email: typed } });
    const found = { customer_email: stored, limit: "2" };
    for (const query of [found, { ...found, customer_email: typed }, { q: typed, limit: "2" }]) {
      const page = await api.call("listCheckoutSessions", 200, { query });
      const ids = page.list("data").map((each) => membersOf(each).id);
      assert.deepEqual(ids, [entered.text("id"), own.text("id")], JSON.stringify(query));
    }
  }
});

// Proves giveEmail: taken, response, errors; resolveCheckout: email_field
test("docs/contract.md §4: the page asks for an e-mail if the branding requires it and the session has no address", async () => {
  const give = (session: Answer, email: unknown = "ada@example.com") => ({
    ...asBuyer(session),
    body: { customer_email: email },
  });
  const emailFieldOf = async (session: Answer) => (await resolve(session)).at("email_field");
  const [first, known] = [await create(), await create({ customer_email: "own@example.com" })];
  assert.equal(await emailFieldOf(first), undefined, "no question unless the merchant requires it");
  for (const mode of ["optional", "required"]) {
    await api.call("updateBranding", 200, { body: { email_field: mode } });
    assert.deepEqual([await emailFieldOf(first), await emailFieldOf(known)], [mode, undefined]);
  }
  const accepted = await api.call("giveEmail", 200, give(first));
  assert.deepEqual(accepted.body, { id: first.text("id"), status: "open", accepted: true });
  assert.equal((await api.call("giveEmail", 200, give(known))).at("accepted"), false);
  await api.refused("giveEmail", 400, "invalid_body", give(first, "ada"));
  await api.refused("giveEmail", 400, "invalid_body", { ...asBuyer(first), body: {} });
  const more = { customer_email: "ada@example.com", name: "Ada" };
  await api.refused("giveEmail", 400, "invalid_body", { ...asBuyer(first), body: more });
  assert.ok(!(await resolve(first)).raw.includes("ada@example.com"), "hidden from later visitors of the link");
  await payWith(first, cards.succeeds);
  const paymentId = (await confirm(first)).text("payment_id");
  const path = { id: paymentId };
  assert.equal((await api.call("getPayment", 200, { path })).at("customer_email"), "ada@example.com");
  assert.equal((await api.call("giveEmail", 200, give(first, "eve@example.com"))).at("accepted"), false);
  assert.equal(await emailFieldOf(first), undefined);
  const ended = await create();
  await api.call("expireCheckoutSession", 200, { path: { id: ended.text("id") } });
  await api.refused("giveEmail", 410, "session_expired", give(ended));
  await api.call("updateBranding", 200, { body: { email_field: "hidden" } });
});

test("every described code of these operations was seen", () =>
  api.sawEverything([], "resolveCheckout", "confirmCheckout", "giveEmail"));

test.run();
