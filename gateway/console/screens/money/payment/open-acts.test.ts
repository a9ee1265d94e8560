import * as assert from "uvu/assert";
import { currencies } from "#platform/values/money.ts";
import { suite } from "../../../../../test/harness/suite.ts";
import { majorUnits } from "../../../view/values.ts";
import { proofAbove } from "./open-acts.ts";

const test = suite("acts on a payment");

test("the bound of a proof is 10,000 major units, however many decimals the currency has", () => {
  assert.equal(["JPY", "EUR", "KWD"].map(proofAbove), [10_000n, 1_000_000n, 10_000_000n]);
  for (const currency of currencies()) {
    assert.is(majorUnits(proofAbove(currency), currency).split(".")[0], "10000", currency);
  }
});

test.run();
