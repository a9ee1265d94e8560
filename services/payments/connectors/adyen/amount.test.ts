// Adyen's minor units: where they differ from ISO 4217, and that every conversion returns.
import assert from "node:assert/strict";
import { knownCurrencies } from "#platform/values/money.ts";
import { suite } from "../../../../test/harness/suite.ts";
import { fromAdyen, toAdyen } from "./amount.ts";

const test = suite("amounts at Adyen");

test("CLP and ISK get two decimals, CVE and IDR none, all others are ISO 4217's", () => {
  const written = ["EUR", "JPY", "KWD", "CLP", "ISK"].map((currency) => toAdyen(1_234n, currency));
  assert.deepEqual(written, [1_234, 1_234, 1_234, 123_400, 123_400]);
  assert.deepEqual(
    ["CVE", "IDR"].map((currency) => toAdyen(1_200n, currency)),
    [12, 12],
  );
});

test("an amount that Adyen cannot write is refused, and one that ISO 4217 cannot write is no amount", () => {
  assert.deepEqual(toAdyen(1_234n, "IDR"), { refused: "must be in whole IDR" });
  assert.match(JSON.stringify(toAdyen(1n, "MRO")), /not in MRO/);
  assert.throws(() => fromAdyen(1_234, "ISK"), RangeError);
});

test("what is written is read as the same amount, in every currency", () => {
  for (const currency of knownCurrencies()) {
    const value = toAdyen(98_700n, currency);
    assert.ok(typeof value === "number", currency);
    assert.equal(fromAdyen(value, currency), 98_700n, currency);
  }
});

test.run();
