import assert from "node:assert/strict";
import { currencyExponent, knownCurrencies } from "#platform/values/money.ts";
import { suite } from "../../../../test/harness/suite.ts";
import { fromStripe, toStripe } from "./amount.ts";

const test = suite("amounts as Stripe writes them");

// [currency, minor units of ISO 4217, what Stripe is sent], by https://docs.stripe.com/currencies
const written = [
  ["EUR", 1_050n, 1_050],
  ["JPY", 500n, 500],
  ["KRW", 500n, 500],
  ["XOF", 500n, 500],
  ["HUF", 1_045n, 1_045],
  ["TWD", 80_045n, 80_045],
  ["ISK", 5n, 500],
  ["UGX", 5n, 500],
  ["MGA", 500n, 5],
  ["KWD", 5_120n, 5_120],
  ["BHD", 10n, 10],
] as const;

test("each kind of currency is converted to Stripe's units and back", () => {
  for (const [currency, amount, stripe] of written) {
    assert.equal(toStripe(amount, currency), stripe, currency);
    assert.equal(fromStripe(stripe, currency), amount, currency);
  }
});

test("an amount that Stripe does not accept is refused before it is sent", () => {
  for (const [currency, amount] of [
    ["KWD", 5_124n],
    ["MGA", 550n],
    ["LYD", 1_000n],
    ["IQD", 1_000n],
    ["ZZZ", 1_000n],
  ] as const) {
    assert.equal(typeof toStripe(amount, currency), "object", currency);
  }
});

test("an amount that ISO 4217 cannot express is rejected", () => {
  assert.throws(() => fromStripe(550, "ISK"), RangeError);
  assert.throws(() => fromStripe(1, "UGX"), RangeError);
});

test("every accepted amount converts back to itself, in every currency", () => {
  for (const currency of knownCurrencies()) {
    for (const amount of [1n, 10n, 99n, 100n, 1_230n, 99_999_900n, 99_999_999n]) {
      const stripe = toStripe(amount, currency);
      if (typeof stripe === "number") assert.equal(fromStripe(stripe, currency), amount, currency);
      else assert.ok((currencyExponent(currency) ?? 3) > 2 || currency === "MGA", currency);
    }
  }
});

test.run();
