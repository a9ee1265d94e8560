import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { statementDifferences } from "./statement.ts";

const test = suite("audit by statement");
const charge = { ref: "pi_1", amount: 1_000n, status: "" };
const refund = { ref: "re_1", amount: 300n, status: "succeeded" };

test("a statement that says what we have has no difference", () => {
  assert.deepEqual(statementDifferences([charge, refund], [refund, charge]), []);
});

test("a captured amount that is wrong in payment and journal alike is found", () => {
  const found = statementDifferences([charge], [{ ...charge, amount: 999n }]);
  assert.deepEqual(found, ["pi_1: 999 with us, 1000 in the statement"]);
});

test("what only one side has, another status and an id that stands for two things are found", () => {
  const [missing] = statementDifferences([charge, refund], [charge]);
  assert.equal(missing, "re_1: 300 succeeded in the statement, and we have nothing of it");
  const [strange] = statementDifferences([charge], [charge, refund]);
  assert.equal(strange, "re_1: 300 succeeded with us, and the statement has nothing of it");
  const [status] = statementDifferences([refund], [{ ...refund, status: "pending" }]);
  assert.equal(status, "re_1: 300 pending with us, 300 succeeded in the statement");
  assert.deepEqual(statementDifferences([charge], [charge, charge]), [
    "an id of the processor stands for two things of ours",
  ]);
});

test.run();
