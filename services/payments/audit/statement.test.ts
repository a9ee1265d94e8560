import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { statementDifferences } from "./statement.ts";

const test = suite("audit by statement");
const charge = { ref: "pi_1", amount: 1_000n, status: "" };
const refund = { ref: "re_1", amount: 300n, status: "succeeded" };

test("accepts equal records", () => {
  assert.deepEqual(statementDifferences([charge, refund], [refund, charge]), []);
});

test("finds an amount that is wrong in both payment and journal", () => {
  const found = statementDifferences([charge], [{ ...charge, amount: 999n }]);
  assert.deepEqual(found, ["pi_1: 999 with us, 1000 in the statement"]);
});

test("finds a missing record on either side, another status and a duplicated id", () => {
  const [missing] = statementDifferences([charge, refund], [charge]);
  assert.equal(missing, "re_1: 300 succeeded in the statement, missing in our records");
  const [strange] = statementDifferences([charge], [charge, refund]);
  assert.equal(strange, "re_1: 300 succeeded with us, missing in the statement");
  const [status] = statementDifferences([refund], [{ ...refund, status: "pending" }]);
  assert.equal(status, "re_1: 300 pending with us, 300 succeeded in the statement");
  assert.deepEqual(statementDifferences([charge], [charge, charge]), ["two of our records have the same processor id"]);
});

test.run();
