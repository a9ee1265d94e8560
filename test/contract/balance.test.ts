// docs/contract.md §5: balance, balance transactions and payouts, as the simulator lists them.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { makePurchase } from "../console/purchases.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { startReceiver } from "../harness/receiver.ts";
import { fixture } from "../harness/suite.ts";
import { contractSuite } from "./caller.ts";
import { payOut } from "./operator.ts";

const { test, running, merchant, api } = contractSuite("balance", { timeoutMs: 60_000 });
const receiver = fixture(test, () => startReceiver(running.tls));
const ids = { payment: "", payout: "", capture: "" };

interface Transaction {
  readonly id: string;
  readonly type: string;
  readonly amount: number;
  readonly fee: number;
  readonly net: number;
  readonly payment_id?: string;
}

const listed = async (query: Record<string, string> = {}, as = merchant.apiKey) =>
  (await api.call("listBalanceTransactions", 200, { as, query })).at("data") as unknown as Transaction[];

test.before(async () => {
  for (const payload of ["reference", "object"]) {
    const body = { event_types: ["payout.paid"], url: `${receiver.url}/${payload}`, payload };
    await api.call("createWebhookEndpoint", 201, { body });
  }
  await payOut(running, merchant, 30_000);
  ids.payment = (await makePurchase(running, merchant, { amount: 10_000 })).payment;
  await eventually("the balance", async () => (await listed({ type: "capture" })).length > 0);
  ids.capture = (await listed({ type: "capture" }))[0]?.id ?? "";
  ids.payout = (await api.call("listPayouts", 200)).text("data.0.id");
});

// Proves getBalance: response, at
test("docs/contract.md §5: the balance is what is available, pending and due, now and at an earlier time", async () => {
  const now = await api.call("getBalance", 200);
  const all = await listed();
  const net = all.reduce((sum, one) => sum + one.net, 0);
  const [available, pending, due] = ["available", "pending", "fees_due"].map((name) =>
    now.number(`balances.0.${name}`),
  );
  assert.equal((available ?? 0) + (pending ?? 0) - (due ?? 0), net);
  assert.deepEqual([available, pending], [0, 10_000 - 165], "1.4 % and 25; paid out before");
  const before = await api.call("getBalance", 200, { query: { at: "2025-01-01T00:00:00Z" } });
  assert.deepEqual(before.body, { at: "2025-01-01T00:00:00.000Z", balances: [] });
  await api.refused("getBalance", 400, "invalid_body", { query: { at: "yesterday" } });
  const other = await freshMerchant(running);
  assert.deepEqual((await api.call("getBalance", 200, { as: other.apiKey })).at("balances"), []);
});

// Proves listBalanceTransactions: response, filters, sum, after; getBalanceTransaction: response, errors
test("docs/contract.md §5: transactions are found by each filter, with the exact sums of all that match", async () => {
  const [capture] = await listed({ payment_id: ids.payment, type: "capture" });
  assert.deepEqual([capture?.amount, capture?.fee, capture?.net], [10_000, 165, 9_835]);
  assert.deepEqual(await listed({ payment_id: newId("payment") }), []);
  assert.deepEqual(await listed({ currency: "JPY" }), []);
  assert.deepEqual(await listed({ to: "2025-01-01" }), []);
  for (const [name, noun] of [
    ["refund_id", "refund"],
    ["dispute_id", "dispute"],
  ] as const) {
    assert.deepEqual(await listed({ [name]: newId(noun) }), []);
  }
  const page = await api.call("listBalanceTransactions", 200, { query: { limit: 1 } });
  const [net, fee] = [await listed(), await listed()].map((all, i) =>
    all.reduce((sum, one) => sum + (i === 0 ? one.net : one.fee), 0),
  );
  assert.deepEqual([page.at("sum.0.net"), page.at("sum.0.fee")], [net, fee], "of all, not of the page");
  const next = await api.call("listBalanceTransactions", 200, { query: { limit: 200, after: page.text("data.0.id") } });
  assert.equal((next.at("data") as unknown as Transaction[]).length, page.number("total") - 1);
  const one = await api.call("getBalanceTransaction", 200, { path: { id: ids.capture } });
  assert.deepEqual(one.body, capture);
  const other = await freshMerchant(running);
  await api.refused("getBalanceTransaction", 404, "not_found", { as: other.apiKey, path: { id: ids.capture } });
  await api.refused("listBalanceTransactions", 400, "invalid_body", {
    as: other.apiKey,
    query: { after: ids.capture },
  });
});

// Proves listPayouts: response, filters, after; getPayout: response, errors
test("docs/contract.md §5: a payout's transactions sum to its amount, and it is announced once it is paid", async () => {
  const payout = await api.call("getPayout", 200, { path: { id: ids.payout } });
  assert.deepEqual([payout.at("amount"), payout.at("unattributed_amount")], [30_000, 0]);
  const lines = await api.call("listBalanceTransactions", 200, { query: { payout_id: ids.payout } });
  assert.equal(lines.at("sum.0.net"), 30_000);
  const named = JSON.stringify({ type: "payout.paid", payout_id: ids.payout, status: "paid" });
  await receiver.waitFor((request) => request.body.toString() === named);
  const whole = await receiver.waitFor((request) => request.path === "/object" && request.body.includes(ids.payout));
  assert.deepEqual(JSON.parse(whole.body.toString()).data, payout.body);
  for (const query of [{ status: "failed" }, { currency: "JPY" }, { to: "2025-01-01" }, { after: ids.payout }]) {
    assert.equal((await api.call("listPayouts", 200, { query })).at("data.0"), undefined);
  }
  const other = await freshMerchant(running);
  await api.refused("getPayout", 404, "not_found", { as: other.apiKey, path: { id: ids.payout } });
  await api.refused("listPayouts", 400, "invalid_body", { as: other.apiKey, query: { after: ids.payout } });
});

// Proves getPayment: processor_fee
test("docs/contract.md §5: a payment has its processor's fee, and the margin that is left", async () => {
  const payment = await api.call("getPayment", 200, { path: { id: ids.payment } });
  assert.equal(payment.at("processor_fee"), 165);
  assert.equal(payment.at("margin"), payment.number("fee_amount") - 165);
});

test.run();
