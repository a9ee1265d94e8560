import * as assert from "uvu/assert";
import { majorUnits } from "../../../services/public-json/csv.ts";
import { suite } from "../../../test/harness/suite.ts";
import { dayShown, minorUnits, moneyText } from "./values.ts";

const test = suite("values of the consoles");

test("formats an amount exactly with its currency's decimals", () => {
  assert.is(majorUnits(1050n, "EUR"), "10.50");
  assert.is(majorUnits(5n, "EUR"), "0.05");
  assert.is(majorUnits(-5n, "EUR"), "-0.05");
  assert.is(majorUnits(1050n, "JPY"), "1050");
  assert.is(majorUnits(1050n, "KWD"), "1.050");
  assert.is(moneyText("en", 99_999_999n, "USD"), "$999,999.99");
  assert.is(moneyText("en", 9_007_199_254_740_993n, "USD"), "$90,071,992,547,409.93");
  assert.is(moneyText("de", 1050n, "EUR").replace(/\s/g, " "), "10,50 €");
});

test("reads a typed amount exactly or rejects it", () => {
  assert.is(minorUnits("10.50", "EUR"), 1050n);
  assert.is(minorUnits(" 10,5 ", "EUR"), 1050n);
  assert.is(minorUnits("10", "EUR"), 1000n);
  assert.is(minorUnits("1050", "JPY"), 1050n);
  assert.is(minorUnits("1.050", "KWD"), 1050n);
  for (const wrong of ["", "ten", "1e3", "-1", "1.234", "1,000.00", "1 000", "0x10", "1.", ".5", "1".repeat(13)]) {
    assert.is(minorUnits(wrong, "EUR"), undefined, wrong);
  }
  assert.is(minorUnits("10.5", "JPY"), undefined);
  assert.is(minorUnits("10", "XXX"), undefined);
});

test("formats a day and leaves any other text unchanged", () => {
  assert.is(dayShown("de", "2026-11-05"), "05.11.2026");
  assert.is(dayShown("en", "2026-11-05"), "Nov 5, 2026");
  for (const text of ["", "never", "2026-02-31", "2026-11"]) assert.is(dayShown("en", text), text);
});

test.run();
