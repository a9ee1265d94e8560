import assert from "node:assert/strict";
import fc from "fast-check";
import { amountMax } from "#platform/values/money.ts";
import { suite } from "../../../test/harness/suite.ts";
import { bucketRange, bucketStarts, endOf, startOf } from "./counted-ranges.ts";

const test = suite("amount buckets");

test("buckets are adjacent from 0 to the largest amount, each at most an eighth of its start wide", () => {
  assert.equal(bucketStarts[0], 0);
  for (const [bucket, start] of bucketStarts.entries()) {
    assert(startOf(bucket + 1) > start);
    assert(start < 16 || endOf(bucket) + 1 - start <= start / 8);
  }
  assert(BigInt(endOf(bucketStarts.length - 1)) >= amountMax);
});

test("whole buckets and remainders cover exactly the range", () => {
  const amount = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 99_999_999 }));
  const bound = fc.option(amount, { nil: undefined });
  fc.assert(
    fc.property(bound, bound, amount, (from, to, probe) => {
      const range = bucketRange(
        from === undefined ? undefined : BigInt(from),
        to === undefined ? undefined : BigInt(to),
      );
      const inBuckets = range.first <= range.last && probe >= startOf(range.first) && probe <= endOf(range.last);
      const inRests = range.remainders.filter((rest) => probe >= rest.from && probe <= rest.to).length;
      assert.equal(Number(inBuckets) + inRests, Number(probe >= (from ?? 0) && probe <= (to ?? 99_999_999)));
      for (const rest of range.remainders) assert(rest.from >= startOf(rest.bucket) && rest.to <= endOf(rest.bucket));
    }),
  );
});

test("limits bounds beyond all amounts", () => {
  assert.deepEqual(bucketRange(-5n, 10n ** 18n), { first: 0, last: bucketStarts.length - 1, remainders: [] });
  for (const [from, to] of [
    [10n ** 18n, undefined],
    [undefined, -1n],
    [9n, 8n],
  ] as const) {
    const { first, last, remainders } = bucketRange(from, to);
    assert(last < first && remainders.length === 0);
  }
});

test.run();
