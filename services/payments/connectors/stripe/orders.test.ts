// What is asked of Stripe says what it is for, how much, and leaves Stripe no choice about the amount.
import assert from "node:assert/strict";
import { suite } from "../../../../test/harness/suite.ts";
import { intentParams, pageParams, paymentParams, refundParams } from "./orders.ts";

const test = suite("orders to Stripe");
const order = { reference: "pay_1", currency: "EUR", description: "", captureMethod: "automatic" } as const;

test("an intent carries our reference, on every surface", () => {
  const intent = intentParams(order, 1_000);
  assert.deepEqual([intent.amount, intent.currency, intent.metadata], [1_000, "eur", { tollbooth_payment: "pay_1" }]);
  const page = pageParams({ ...order, amount: 1_000n, surface: "redirect", returnUrl: "https://shop.example" }, 1_000);
  assert.equal(page.payment_intent_data?.metadata?.tollbooth_payment, "pay_1");
  assert.equal(page.line_items?.[0]?.price_data?.unit_amount, 1_000);
  assert.deepEqual(page.adaptive_pricing, { enabled: false }, "the amount stays in its currency");
});

test("what is to be captured later is only authorized, on every surface", () => {
  const later = { ...order, captureMethod: "manual" } as const;
  assert.equal(intentParams(later, 1_000).capture_method, "manual");
  assert.equal(paymentParams({ ...later, amount: 1_000n, paymentMethod: "pm_1" }, 1_000).capture_method, "manual");
  const page = pageParams({ ...later, amount: 1_000n, surface: "redirect", returnUrl: "https://shop.example" }, 1_000);
  assert.equal(page.payment_intent_data?.capture_method, "manual");
  assert.equal(intentParams(order, 1_000).capture_method, "automatic");
});

test("a payment by token is paid at once, and never waits for a buyer who is not there", () => {
  const paid = paymentParams({ ...order, amount: 1_000n, paymentMethod: "pm_1" }, 1_000);
  assert.deepEqual([paid.confirm, paid.error_on_requires_action, paid.payment_method], [true, true, "pm_1"]);
  assert.equal(paid.automatic_payment_methods?.allow_redirects, "never");
});

test("a refund is of the amount that was asked for, and carries our reference", () => {
  const refund = refundParams(
    { intentRef: "pi_1", amount: 300n, currency: "EUR", reason: "late", reference: "re_1" },
    "pi_1",
    300,
  );
  assert.deepEqual(refund, { payment_intent: "pi_1", amount: 300, metadata: { tollbooth_refund: "re_1" } });
});

test.run();
