import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { formatAmount } from "./currency-exponent.ts";

const test = suite("currency-exponent");

test("shows an amount with the decimals of its currency", () => {
  const shown = (amount: number, currency: string) => formatAmount(amount, currency, "en").replace(/\s/g, " ");
  assert.is(shown(1_050, "EUR"), "€10.50");
  assert.is(shown(5, "EUR"), "€0.05");
  assert.is(shown(1_050, "JPY"), "¥1,050");
  assert.is(shown(1_050, "KWD"), "KWD 1.050");
  assert.is(shown(99_999_999_999, "EUR"), "€999,999,999.99");
});

test.run();
