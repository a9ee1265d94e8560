// docs/contract.md §8: connectors; docs/contract.md §8.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { makePurchase } from "../console/purchases.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { payInFrame } from "../harness/pay.ts";
import { contractSuite } from "./caller.ts";
import { addAccount, changeConnector } from "./operator.ts";

const { test, running, api } = contractSuite("connectors");
let cid: string;

test.before(async () => {
  cid = (await api.call("listConnectors", 200)).text("data.0.id");
});

// Proves listConnectors: response
test("docs/contract.md §8: a connector has its fields and no credentials", async () => {
  const answer = await api.call("listConnectors", 200);
  const [connector] = answer.list("data").map(Object);
  assert.match(connector.id, /^mco_/);
  assert.match(connector.external_account_id, /^acct_/);
  const { id, external_account_id: account, ...rest } = connector;
  assert.ok(id && account);
  assert.deepEqual(rest, {
    connector: "simulator",
    environment: "sandbox",
    is_default: true,
    is_active: true,
    can_be_primary: true,
    allowed_surfaces: ["embedded", "hosted", "redirect"],
    default_surface: "embedded",
    surface: "embedded",
    payment_methods: ["card"],
  });
  assert.ok(!/secret|credential/i.test(answer.raw));
  const live = await freshMerchant(running, { environment: Environment.LIVE });
  assert.deepEqual((await api.call("listConnectors", 200, { as: live.apiKey })).body, { data: [] });
});

// Proves updateConnector: surface, primary, response
test("docs/contract.md §8: a chosen surface is what new sessions get", async () => {
  const changed = await api.call("updateConnector", 200, { path: { cid }, body: { selected_surface: "hosted" } });
  assert.deepEqual(
    [changed.at("selected_surface"), changed.at("surface"), changed.at("default_surface")],
    ["hosted", "hosted", "embedded"],
  );
  const primary = await api.call("updateConnector", 200, { path: { cid }, body: { is_default: true } });
  assert.deepEqual([primary.at("is_default"), primary.at("surface")], [true, "hosted"]);
});

// Proves getConnector: response, errors; updateConnector: methods
test("docs/contract.md §8: a connector offers its methods with their terms, and new sessions those switched on", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  const id = (await api.call("listConnectors", 200, { as })).text("data.0.id");
  const path = { cid: id };
  const record = await api.call("getConnector", 200, { as, path });
  assert.deepEqual(record.at("payment_methods"), ["card"]);
  assert.deepEqual(record.list("methods").map(membersOf)[2], {
    ...{ type: "sepa_debit", currencies: ["EUR"], refund: "partial", delayed: true, disputes: true },
    manual_capture: false,
  });
  const problemsOf = async (body: object) =>
    (await api.refused("updateConnector", 400, "invalid_body", { as, path, body })).at("error.details");
  assert.deepEqual(await problemsOf({ payment_methods: ["card", "barter", "card"] }), [
    { field: "payment_methods[1]", problem: "must be a method of the connector" },
    { field: "payment_methods[2]", problem: "must not be repeated" },
  ]);
  const body = { payment_methods: ["card", "sepa_debit"], selected_surface: "hosted" };
  const changed = await api.call("updateConnector", 200, { as, path, body });
  assert.deepEqual([changed.at("payment_methods"), changed.at("surface")], [["card", "sepa_debit"], "hosted"]);
  const order = { amount: 1_050, currency: "EUR" };
  const refusal = async (members: object) =>
    (await api.refused("createCheckoutSession", 400, "invalid_body", { as, body: { ...order, ...members } })).at(
      "error.details",
    );
  const first = (problem: string, field = "payment_methods[0]") => [{ field, problem }];
  assert.deepEqual(await refusal({ payment_methods: ["ideal"] }), first("must be switched on for the account"));
  assert.deepEqual(
    await refusal({ payment_methods: ["sepa_debit"], currency: "USD" }),
    first("must be available in the currency"),
  );
  assert.deepEqual(
    await refusal({ payment_methods: ["sepa_debit"], capture_method: "manual" }),
    first("must be one that can be captured later"),
  );
  assert.deepEqual(await refusal({ payment_methods: "cash" }), first("must look like automatic", "payment_methods"));
  for (const members of [
    { payment_methods: ["sepa_debit"] },
    { payment_methods: "automatic", currency: "USD", capture_method: "manual" },
  ])
    await api.call("createCheckoutSession", 201, { as, body: { ...order, ...members } });
  await api.call("updateConnector", 200, { as, path, body: { payment_methods: ["sepa_debit"] } });
  assert.deepEqual(
    await refusal({ currency: "USD" }),
    first("must have one that fits currency and capture_method", "payment_methods"),
  );
  await api.refused("getConnector", 404, "not_found", { path });
});

test("docs/contract.md §2: an empty or wrong body is invalid_body", async () => {
  for (const body of [
    {},
    { colour: 1 },
    { selected_surface: "popup" },
    { selected_surface: null },
    { is_default: false },
  ]) {
    await api.refused("updateConnector", 400, "invalid_body", { path: { cid }, body });
  }
});

test("docs/contract.md §8: inactive, never primary, or surface not allowed: connector_not_eligible", async () => {
  const own = await freshMerchant(running);
  const id = (await api.call("listConnectors", 200, { as: own.apiKey })).text("data.0.id");
  const refused = (body: object) =>
    api.refused("updateConnector", 422, "connector_not_eligible", { as: own.apiKey, path: { cid: id }, body });
  await changeConnector(running, id, "allowed_surfaces = '{embedded}'");
  await refused({ selected_surface: "redirect" });
  await changeConnector(running, id, "is_active = false");
  await refused({ is_default: true });
});

test("docs/contract.md §2: foreign, unknown and malformed ids are not_found", async () => {
  const stranger = await freshMerchant(running);
  const body = { selected_surface: "hosted" };
  await api.refused("updateConnector", 404, "not_found", { as: stranger.apiKey, path: { cid }, body });
  for (const id of ["mco_01jd3v9q6k8m2n4p6r8t0v2x4z", "mco_", "x".repeat(200)]) {
    await api.refused("updateConnector", 404, "not_found", { path: { cid: id }, body });
  }
});

// Proves getRouting: response
test("docs/contract.md §8: without a stored routing there are no rules, and an outage is an error", async () => {
  const own = await freshMerchant(running);
  const none = { rules: [], on_outage: "stop", version: 0 };
  assert.deepEqual((await api.call("getRouting", 200, { as: own.apiKey })).body, none);
});

// Proves replaceRouting: rules, version, response
test("docs/contract.md §8: a routing is read and replaced as a whole, by its version", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  const id = (await api.call("listConnectors", 200, { as })).text("data.0.id");
  const when = { currency: "EUR", amount_min: 100, amount_max: 200, capture_method: "manual" };
  const rules = [
    { when, use: [id], share: 20 },
    { when: {}, use: [id] },
  ];
  const body = {
    rules: [{ ...rules[0], when: { ...when, currency: "eur" } }, rules[1]],
    on_outage: "next",
    version: 0,
  };
  const stored = { rules, on_outage: "next", version: 1 };
  assert.deepEqual((await api.call("replaceRouting", 200, { as, body })).body, stored);
  assert.deepEqual((await api.call("getRouting", 200, { as })).body, stored);
  const stale = await api.refused("replaceRouting", 400, "invalid_body", { as, body });
  const problem = "must be 1: the routing has changed since you read it";
  assert.deepEqual(stale.at("error.details"), [{ field: "version", problem }]);
});

// Proves replaceRouting: errors
test("docs/contract.md §8: a wrong rule refuses the whole routing and names its field", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  const id = (await api.call("listConnectors", 200, { as })).text("data.0.id");
  const rule = { when: {}, use: [id] };
  const wrong: readonly (readonly [field: string, rule: object])[] = [
    ["rules[1].when.currency", { ...rule, when: { currency: "XQQ" } }],
    ["rules[1].when.amount_max", { ...rule, when: { amount_min: 2, amount_max: 1 } }],
    ["rules[1].use[0]", { ...rule, use: [cid] }],
    ["rules[1].use", { ...rule, use: [] }],
    ["rules[1].share", { ...rule, share: 101 }],
    ["rules[1].when.country", { ...rule, when: { country: "DE" } }],
  ];
  for (const [field, second] of wrong) {
    const body = { rules: [rule, second], on_outage: "stop", version: 0 };
    const answer = await api.refused("replaceRouting", 400, "invalid_body", { as, body });
    assert.equal(answer.text("error.details.0.field"), field);
  }
  assert.equal((await api.call("getRouting", 200, { as })).at("version"), 0);
});

// Proves replaceRouting: decline
test("docs/contract.md §4: a decline that the routing names moves the session to the next connector, once", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  const first = (await api.call("listConnectors", 200, { as })).text("data.0.id");
  const second = await addAccount(running, own);
  const on_decline = { codes: ["processing_error"], next: true };
  const body = { rules: [], on_outage: "stop", on_decline, version: 0 };
  assert.deepEqual((await api.call("replaceRouting", 200, { as, body })).at("on_decline"), on_decline);
  const made = await api.call("createCheckoutSession", 201, { as, body: { amount: 1000, currency: "EUR" } });
  const { id, session_secret: secret, render } = Object(made.body);
  const buyer = { path: { id }, query: { secret } };
  const declined = async (frame: string) => {
    await payInFrame(frame, "4000000000000119");
    return await api.call("confirmCheckout", 200, buyer);
  };
  const moved = await declined(render.frame_url);
  assert.deepEqual(
    ["status", "payment_status", "render_replaced"].map((name) => moved.at(name)),
    ["open", "failed", true],
  );
  const shown = await api.call("resolveCheckout", 200, buyer);
  assert.notEqual(shown.text("render.frame_url"), render.frame_url);
  const again = await declined(shown.text("render.frame_url"));
  assert.deepEqual([again.at("payment_status"), again.at("render_replaced")], ["failed", undefined]);
  const payment = await api.call("getPayment", 200, { as, path: { id: again.text("payment_id") } });
  assert.deepEqual(payment.at("routing"), { reason: "decline" });
  assert.deepEqual(
    [0, 1].map((i) => payment.at(`attempts.${i}.connector`)),
    [first, second],
  );
  const off = { rules: [], on_outage: "stop", on_decline: null, version: 1 };
  assert.equal((await api.call("replaceRouting", 200, { as, body: off })).at("on_decline"), undefined);
});

// Proves replaceRouting: session
test("docs/contract.md §4: a session names its connector, and its payment shows why it is there", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  const connector = (await api.call("listConnectors", 200, { as })).text("data.0.id");
  const order = { amount: 1000, currency: "EUR" };
  const named = await makePurchase(running, own, { ...order, connector });
  const payment = await api.call("getPayment", 200, { as, path: { id: named.payment } });
  assert.deepEqual(payment.at("routing"), { reason: "session" });
  assert.deepEqual([payment.at("attempts.0.outcome"), payment.at("attempts.0.connector")], ["succeeded", connector]);
  await api.call("replaceRouting", 200, {
    as,
    body: { rules: [{ when: {}, use: [connector] }], on_outage: "stop", version: 0 },
  });
  const ruled = await makePurchase(running, own, order);
  const routed = await api.call("getPayment", 200, { as, path: { id: ruled.payment } });
  assert.deepEqual(routed.at("routing"), { rule: 1, reason: "rule" });
  const foreign = await api.refused("createCheckoutSession", 400, "invalid_body", {
    as,
    body: { ...order, connector: cid },
  });
  assert.equal(foreign.text("error.details.0.field"), "connector");
});

// Proves updateConnector: errors
test("every described code of these operations was seen", () =>
  api.sawEverything([], "listConnectors", "getConnector", "updateConnector", "getRouting", "replaceRouting"));

test.run();
