// Fees: half up, in integers, for any amount of any currency.
import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import { fee } from "./fee.ts";

const test = suite("fees");

test("a half unit rounds up, less rounds down", () => {
  assert.equal(fee(50n, { basisPoints: 100n, fixed: 0n }), 1n);
  assert.equal(fee(49n, { basisPoints: 100n, fixed: 0n }), 0n);
  assert.equal(fee(1_000n, { basisPoints: 290n, fixed: 30n }), 59n);
  assert.equal(fee(1_000n, { basisPoints: 0n, fixed: 0n }), 0n);
});

test("the fee is never more than half a unit from the exact share, and never falls as the amount grows", () => {
  const amounts = fc.bigInt({ min: 0n, max: 99_999_999n });
  const points = fc.bigInt({ min: 0n, max: 10_000n });
  fc.assert(
    fc.property(amounts, amounts, points, fc.bigInt({ min: 0n, max: 10_000n }), (a, b, basisPoints, fixed) => {
      const schedule = { basisPoints, fixed };
      const twice = 2n * 10_000n * (fee(a, schedule) - fixed) - 2n * a * basisPoints;
      assert.ok(twice > -10_000n && twice <= 10_000n, "half up");
      const [low, high] = a < b ? [a, b] : [b, a];
      assert.ok(fee(low, schedule) <= fee(high, schedule));
    }),
  );
});

test("negative money is a defect", () => {
  assert.throws(() => fee(-1n, { basisPoints: 1n, fixed: 0n }), RangeError);
});

test.run();
