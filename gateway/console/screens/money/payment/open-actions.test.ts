import * as assert from "uvu/assert";
import { knownCurrencies } from "#platform/values/money.ts";
import { majorUnits } from "../../../../../services/public-json/csv.ts";
import { suite } from "../../../../../test/harness/suite.ts";
import { proofAbove } from "./refusal.ts";

const test = suite("open actions of a payment");

test("demands proof above 10,000 major units in every currency", () => {
  assert.equal(["JPY", "EUR", "KWD"].map(proofAbove), [10_000n, 1_000_000n, 10_000_000n]);
  for (const currency of knownCurrencies()) {
    assert.is(majorUnits(proofAbove(currency), currency).split(".")[0], "10000", currency);
  }
});

test.run();
