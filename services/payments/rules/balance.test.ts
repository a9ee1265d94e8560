// The processor's balance is the sum of its movements, or the gap is named.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { balanceGaps } from "./balance.ts";

const test = suite("balances");

test("a gap is the processor's amount above the movements, also of a currency that one side lacks", () => {
  const reported = [
    { currency: "EUR", available: 900n, pending: 100n, reserved: 50n },
    { currency: "USD", available: 0n, pending: 7n, reserved: 0n },
  ];
  const moved = new Map([
    ["EUR", 1_000n],
    ["JPY", 30n],
    ["GBP", 0n],
  ]);
  assert.deepEqual(
    [...balanceGaps(reported, moved)],
    [
      ["JPY", -30n],
      ["USD", 7n],
    ],
  );
});

test.run();
