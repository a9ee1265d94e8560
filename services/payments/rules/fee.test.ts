// Fees: half up, in integers, for any amount of any currency.
import assert from "node:assert/strict";
import fc from "fast-check";
import { currencyExponent, knownCurrencies } from "#platform/values/money.ts";
import { suite } from "../../../test/harness/suite.ts";
import { captureFee, computeFee } from "./fee.ts";

const test = suite("fees");

test("a half unit rounds up, less rounds down", () => {
  assert.equal(computeFee(50n, { basisPoints: 100n, fixed: 0n }), 1n);
  assert.equal(computeFee(49n, { basisPoints: 100n, fixed: 0n }), 0n);
  assert.equal(computeFee(1_000n, { basisPoints: 290n, fixed: 30n }), 59n);
  assert.equal(computeFee(1_000n, { basisPoints: 0n, fixed: 0n }), 0n);
});

test("the fee is never more than half a unit from the exact share, and never falls as the amount grows", () => {
  const amounts = fc.bigInt({ min: 0n, max: 99_999_999n });
  const points = fc.bigInt({ min: 0n, max: 10_000n });
  fc.assert(
    fc.property(amounts, amounts, points, fc.bigInt({ min: 0n, max: 10_000n }), (a, b, basisPoints, fixed) => {
      const schedule = { basisPoints, fixed };
      const twice = 2n * 10_000n * (computeFee(a, schedule) - fixed) - 2n * a * basisPoints;
      assert.ok(twice > -10_000n && twice <= 10_000n, "half up");
      const [low, high] = a < b ? [a, b] : [b, a];
      assert.ok(computeFee(low, schedule) <= computeFee(high, schedule));
    }),
  );
});

test("in every currency the fee equals decimal arithmetic in major units, rounded half up", () => {
  const amounts = fc.bigInt({ min: 1n, max: 99_999_999n });
  const points = fc.integer({ min: 0, max: 10_000 });
  fc.assert(
    fc.property(fc.constantFrom(...knownCurrencies()), amounts, points, (currency, amount, basisPoints) => {
      const digits = currencyExponent(currency) ?? assert.fail(currency);
      const minor = computeFee(amount, { basisPoints: BigInt(basisPoints), fixed: 0n });
      assert.equal(inMajor(minor, digits), shareInDecimals(inMajor(amount, digits), basisPoints, digits));
    }),
    { numRuns: 1_000 },
  );
  assert.deepEqual(new Set(knownCurrencies().map(currencyExponent)), new Set([0, 2, 3]));
});

/** Minor units as people write the amount. */
function inMajor(minor: bigint, digits: number): string {
  const text = minor.toString().padStart(digits + 1, "0");
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/**
 * The share with pen and paper: shift the point four places for basis points, check the first digit that is cut off.
 */
function shareInDecimals(major: string, basisPoints: number, digits: number): string {
  const [whole = "", fraction = ""] = major.split(".");
  const product = (BigInt(whole + fraction) * BigInt(basisPoints)).toString().padStart(fraction.length + 5, "0");
  const point = product.length - fraction.length - 4;
  const kept = BigInt(product.slice(0, point + digits)) + (Number(product[point + digits] ?? "0") >= 5 ? 1n : 0n);
  return inMajor(kept, digits);
}

test("captures at one rate cost the same as one capture of the total, and a later rate does not apply to an earlier capture", () => {
  const steps = fc.array(fc.bigInt({ min: 1n, max: 9_999_999n }), { minLength: 1, maxLength: 5 });
  const begins = [new Date(0), new Date(1_000)] as const;
  fc.assert(
    fc.property(
      steps,
      fc.bigInt({ min: 0n, max: 10_000n }),
      fc.bigInt({ min: 0n, max: 99n }),
      (amounts, points, fixed) => {
        const known = { effectiveFrom: begins[0], basisPoints: points, fixed };
        const later = { effectiveFrom: begins[1], basisPoints: 5_000n, fixed: 7n };
        let [sum, before] = [0n, 0n];
        for (const amount of amounts) {
          sum += captureFee(before, before + amount, new Date(999), [later, known]);
          before += amount;
        }
        assert.equal(sum, computeFee(before, known));
        assert.equal(
          captureFee(0n, before, begins[1], [later, known]),
          computeFee(before, later),
          "from its beginning on",
        );
        assert.equal(captureFee(0n, before, undefined, [later, known]), computeFee(before, later), "now");
        assert.equal(captureFee(0n, before, new Date(-1), [later, known]), 0n, "before any");
      },
    ),
  );
});

test("negative money is a defect", () => {
  assert.throws(() => captureFee(2n, 1n, undefined, []), assert.AssertionError);
  assert.throws(() => computeFee(-1n, { basisPoints: 1n, fixed: 0n }), assert.AssertionError);
});

test.run();
