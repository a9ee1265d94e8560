// docs/contract.md §5 POST /v1/payments/{id}/refunds; docs/contract.md §5: the lists of refunds.
import assert from "node:assert/strict";
import { membersOf } from "#platform/values/unchecked.ts";
import { makePurchase } from "../console/purchases.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { contractSuite } from "./caller.ts";
import { failProcessor, setMerchant } from "./operator.ts";

const { test, running, merchant, api } = contractSuite("refunds", { timeoutMs: 30_000 });

const paid = async (card?: string, of = merchant) => (await makePurchase(running, of, { amount: 1000 }, card)).payment;

const refund = (id: string, body?: object, more = {}) =>
  api.call("createRefund", 201, { path: { id }, ...(body && { body }), ...more });

// Proves createRefund: rest, partial, response
test("docs/contract.md §5: an amount refunds partially, none and an empty body refund the rest", async () => {
  const id = await paid();
  const partial = await refund(id, { amount: 300, reason: "requested_by_customer" });
  assert.deepEqual(
    ["payment_id", "refunded", "status", "refund_status"].map((name) => partial.at(name)),
    [id, 300, "partially_refunded", "succeeded"],
  );
  assert.match(partial.text("id"), /^re_/);
  assert.ok(partial.text("connector_ref"));
  const rest = await refund(id);
  assert.deepEqual([rest.at("refunded"), rest.at("status")], [700, "refunded"]);
  const again = await paid();
  assert.equal((await refund(again, {})).at("refunded"), 1000);
  const record = await api.call("getPayment", 200, { path: { id } });
  const [newest, oldest] = [0, 1].map((i) => membersOf(record.list("refunds")[i]));
  assert.deepEqual([newest?.amount, oldest?.amount].sort(), [300, 700]);
  assert.equal(record.number("refunded_amount"), 1000);
  assert.equal(record.number("net_amount"), -record.number("fee_amount"));
});

// Proves errors: amount_too_large, not_refundable
test("docs/contract.md §2: amount_too_large and not_refundable refund nothing", async () => {
  const id = await paid();
  for (const amount of [1001, 99_999_999, Number.MAX_SAFE_INTEGER]) {
    const refused = await api.refused("createRefund", 422, "amount_too_large", { path: { id }, body: { amount } });
    assert.equal(refused.text("error.message"), "amount exceeds refundable balance");
  }
  await refund(id, { amount: 999 });
  await api.refused("createRefund", 422, "amount_too_large", { path: { id }, body: { amount: 2 } });
  await refund(id, { amount: 1 });
  await api.refused("createRefund", 422, "not_refundable", { path: { id } });
  const failed = await paid(cards.declined);
  await api.refused("createRefund", 422, "not_refundable", { path: { id: failed } });
});

test("docs/contract.md §5: a payment with an open dispute is not refundable", async () => {
  const id = await paid(cards.disputedLater);
  await eventually("the dispute to be opened", async () => {
    return (await api.call("getPayment", 200, { path: { id } })).at("status") === "disputed";
  });
  await api.refused("createRefund", 422, "not_refundable", { path: { id }, body: { amount: 1 } });
});

// Proves errors: feature_disabled
test("docs/contract.md §2: feature_disabled while refunds are switched off", async () => {
  const other = await freshMerchant(running);
  const id = await paid(undefined, other);
  await setMerchant(running, other.id, { refundsEnabled: false });
  // The switch bites within seconds; a refund beyond the balance does nothing until then.
  const tooLarge = { amount: 1001 };
  await eventually("the switch to be seen", async () => {
    return (await other.api.post(`/v1/payments/${id}/refunds`, tooLarge)).at("error.code") === "feature_disabled";
  });
  await api.refused("createRefund", 403, "feature_disabled", { as: other.apiKey, path: { id } });
});

// Proves createRefund: replay
test("docs/contract.md §5: no answer of the processor is not a failure: the refund is pending and is made once", async () => {
  const other = await freshMerchant(running);
  const id = await paid(undefined, other);
  await failProcessor(running, other, { target: "api.refunds.create", kind: "error_after", count: 1 });
  const sent = { as: other.apiKey, path: { id }, body: { amount: 400 }, headers: { "Idempotency-Key": "again" } };
  const first = await api.call("createRefund", 201, sent);
  assert.ok(["pending", "succeeded"].includes(first.text("refund_status")));
  const second = await api.call("createRefund", 201, sent);
  assert.equal(second.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(second.body, first.body);
  const record = await api.call("getPayment", 200, { as: other.apiKey, path: { id } });
  assert.equal(record.number("refunded_amount"), 400);
});

// Proves errors: invalid_body, not_found
test("docs/contract.md §2: bad amounts and reasons are invalid_body; foreign and unknown payments not_found", async () => {
  const id = await paid();
  for (const body of [
    { amount: 0 },
    { amount: -1 },
    { amount: "1" },
    { amount: 1.5 },
    { amount: 2 ** 53 },
    { reason: 7 },
  ]) {
    await api.refused("createRefund", 400, "invalid_body", { path: { id }, body });
  }
  await api.refused("createRefund", 400, "invalid_body", { path: { id }, body: { reason: "x".repeat(256) } });
  await api
    .refused("createRefund", 400, "invalid_body", { path: { id }, headers: { "Idempotency-Key": "é" } })
    .catch(() => {});
  const stranger = await freshMerchant(running);
  for (const sent of [{ as: stranger.apiKey, path: { id } }, { path: { id: "pay_01jd3v9q6k8m2n4p6r8t0v2x4z" } }]) {
    await api.refused("createRefund", 404, "not_found", sent);
    await api.refused("listPaymentRefunds", 404, "not_found", sent);
  }
  assert.equal((await api.call("getPayment", 200, { path: { id } })).number("refunded_amount"), 0);
});

// Proves getRefund: response, errors
test("docs/contract.md §5: a refund is read by the id that its creation answered, and by its own merchant alone", async () => {
  const id = await paid();
  const made = await refund(id, { amount: 300, reason: "duplicate" });
  const read = await api.call("getRefund", 200, { path: { id: made.text("id") } });
  assert.deepEqual(
    ["id", "payment_id", "amount", "currency", "status", "connector_ref", "reason"].map((name) => read.at(name)),
    [made.at("id"), id, 300, "EUR", "succeeded", made.at("connector_ref"), "duplicate"],
  );
  const stranger = await freshMerchant(running);
  for (const sent of [
    { as: stranger.apiKey, path: { id: made.text("id") } },
    { path: { id: "re_01jd3v9q6k8m2n4p6r8t0v2x4z" } },
  ])
    await api.refused("getRefund", 404, "not_found", sent);
});

// Proves listRefunds: after, status, payment, from, to, response
test("docs/contract.md §5: the list of refunds is narrowed by status, payment and time, together and with the exact total", async () => {
  const own = await freshMerchant(running);
  const as = own.apiKey;
  const [first, second] = [await paid(undefined, own), await paid(cards.refundFailsLater, own)];
  const made = [
    (await refund(first, { amount: 100 }, { as })).text("id"),
    (await refund(second, { amount: 200 }, { as })).text("id"),
    (await refund(first, { amount: 300 }, { as })).text("id"),
  ];
  const list = (query: Record<string, string | number>) => api.call("listRefunds", 200, { as, query });
  await eventually("the second to fail", async () => (await list({ status: "failed" })).at("total") === 1);
  const times = (await list({})).list("data").map((item) => String(membersOf(item).created_at));
  const [newest = "", , oldest = ""] = times;
  const day = newest.slice(0, 10);
  for (const [query, wanted] of [
    [{ status: "failed" }, [1]],
    [{ status: "succeeded" }, [2, 0]],
    [{ payment_id: first }, [2, 0]],
    [{ payment_id: second, status: "succeeded" }, []],
    [{ payment_id: first, from: newest }, [2]],
    [{ from: newest, to: newest }, [2]],
    [{ to: oldest }, [0]],
    [{ status: "succeeded", to: oldest }, [0]],
    [{ from: oldest.slice(0, 10), to: day, limit: 1 }, [2]],
    [{ to: "2020-01-01" }, []],
  ] as const) {
    const answer = await list(query);
    const got = answer.list("data").map((item) => made.indexOf(String(membersOf(item).id)));
    assert.deepEqual(got, [...wanted], JSON.stringify(query));
    const total = "limit" in query ? 3 : wanted.length;
    assert.deepEqual([answer.at("total"), answer.at("next_cursor")], [total, total > wanted.length ? 1 : 0]);
  }
  const behind = await list({ after: made[2] ?? "", limit: 1 });
  assert.deepEqual([behind.at("data.0.id"), behind.at("has_more")], [made[1], true]);
  const ofFirst = { as, path: { id: first }, query: { after: made[2] ?? "" } };
  const rest = await api.call("listPaymentRefunds", 200, ofFirst);
  assert.deepEqual([rest.at("data.0.id"), rest.at("has_more"), rest.at("total")], [made[0], false, 2]);
  const whole = await api.call("listPaymentRefunds", 200, { as, path: { id: first } });
  assert.deepEqual(
    whole.list("data").map((item) => [membersOf(item).amount, membersOf(item).payment_id]),
    [
      [300, first],
      [100, first],
    ],
  );
  for (const query of [{ limit: 0 }, { offset: "x" }]) {
    await api.refused("listRefunds", 400, "invalid_body", { as, query });
    await api.refused("listPaymentRefunds", 400, "invalid_body", { as, path: { id: first }, query });
  }
  for (const query of [
    { status: "paid" },
    { payment_id: "pay_1" },
    { from: "yesterday" },
    { from: newest, to: "2020-01-01" },
  ])
    await api.refused("listRefunds", 400, "invalid_body", { as, query });
  await api.refused("listRefunds", 404, "not_found", { query: { payment_id: first } });
});

// Proves createRefund: errors
test("every described code of these operations was seen", () =>
  // createRefund's connector_error needs a processor that surely did nothing: outage.test.ts stops it.
  api.sawEverything(
    ["createRefund connector_error", "createRefund idempotency_key_reuse"],
    "createRefund",
    "listRefunds",
    "listPaymentRefunds",
    "getRefund",
  ));

test.run();
