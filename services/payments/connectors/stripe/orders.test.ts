// Requests to Stripe carry our reference and the exact amount.
import assert from "node:assert/strict";
import { suite } from "../../../../test/harness/suite.ts";
import type { IntentOrder } from "../order.ts";
import { toStripe } from "./amount.ts";
import { intentParams, pageParams } from "./orders.ts";

const test = suite("orders to Stripe");
const order = { reference: "pay_1", currency: "EUR", description: "", captureMethod: "automatic" } as const;

const pageOrder = (change: Partial<IntentOrder> = {}): IntentOrder => ({
  ...{ ...order, amount: 1_000n, surface: "redirect", returnUrl: "https://shop.example", lineItems: [] },
  ...change,
});
const shownOn = (change: Partial<IntentOrder>) => {
  const wanted = pageOrder(change);
  const total = toStripe(wanted.amount, wanted.currency);
  assert.ok(typeof total === "number");
  const lines = pageParams(wanted, total).line_items ?? [];
  const sum = lines.reduce((sum, line) => sum + (line.quantity ?? 0) * (line.price_data?.unit_amount ?? 0), 0);
  assert.equal(sum, total, "what Stripe adds up is what is paid");
  return lines.map(({ quantity, price_data: price }) => [quantity, price?.unit_amount, price?.product_data?.name]);
};

test("Stripe's page gets the lines if it can show them exactly, else one line for all", () => {
  const tea = { name: "Tea", quantity: 2, amount: 800n };
  const cup = { name: "Cup", quantity: 3, amount: 200n };
  assert.deepEqual(shownOn({ lineItems: [tea, cup] }), [
    [2, 400, "Tea"],
    [1, 200, "3 × Cup"],
  ]);
  const discount = { name: "Discount", quantity: 1, amount: -100n };
  assert.deepEqual(shownOn({ description: "Order 7", lineItems: [{ ...tea, amount: 1_100n }, discount] }), [
    [1, 1_000, "Order 7"],
  ]);
  // Forints go to Stripe as they are, krónur with two decimals, and a dinar's last decimal must be 0.
  assert.deepEqual(shownOn({ currency: "ISK", lineItems: [tea, cup] })[0], [2, 40_000, "Tea"]);
  const fils = [
    { name: "Oud", quantity: 1, amount: 995n },
    { name: "Bag", quantity: 1, amount: 5n },
  ];
  assert.deepEqual(shownOn({ currency: "KWD", lineItems: fils }), [[1, 1_000, "Payment"]]);
});

test("an intent and a page offer the ordered methods; an order of an earlier release those of the dashboard", () => {
  const methods = ["card", "ideal"];
  const made = intentParams({ ...order, methods }, 1_000);
  assert.deepEqual(made.allowed_payment_method_types, methods);
  assert.deepEqual(pageParams(pageOrder({ methods }), 1_000).allowed_payment_method_types, methods);
  const before = intentParams(order, 1_000);
  assert.equal(before.automatic_payment_methods?.enabled, true);
  assert.ok(!("allowed_payment_method_types" in before));
  assert.ok(!("allowed_payment_method_types" in pageParams(pageOrder(), 1_000)));
});

test.run();
