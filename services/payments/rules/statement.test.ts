import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { lineDifference, missingThere, type StatementLine } from "./statement.ts";

const test = suite("statement lines");
const theirs: StatementLine = {
  object: "refund",
  ref: "rf_1",
  intentRef: "pi_1",
  amount: 400n,
  currency: "EUR",
  status: "succeeded",
};
const { intentRef: _, ...same } = theirs;
const ours = { ...same, paymentId: "pay_1" };

test("equal lines match", () => {
  assert.equal(lineDifference(theirs, ours), undefined);
});

test("each difference names both values", () => {
  const kinds = (change: Partial<StatementLine>) => {
    const found = lineDifference({ ...theirs, ...change }, ours);
    return found && [found.kind, found.ours, found.theirs];
  };
  assert.deepEqual(kinds({ amount: 401n }), ["amount", "400", "401"]);
  assert.deepEqual(kinds({ currency: "USD" }), ["currency", "EUR", "USD"]);
  assert.deepEqual(kinds({ status: "failed" }), ["status", "succeeded", "failed"]);
  assert.equal(lineDifference(theirs, undefined)?.kind, "unknown_to_us");
  assert.deepEqual(missingThere(ours).ours, "400 EUR succeeded");
});

test.run();
