// Buckets of amounts for exact counts by amount: eight to each doubling, single amounts below 16. A range of amounts is
// whole buckets, which are counted already, and a part of one bucket at either end.
import { amountMax as amountMaxBig } from "#platform/values/money.ts";

/** Where a range of amounts lies. */
export interface BucketRange {
  /** Whole buckets within the range; `last < first`: none. */
  readonly first: number;
  readonly last: number;
  /** What is left at the ends; each lies within one bucket. Minor units, both ends included. */
  readonly remainders: readonly { readonly bucket: number; readonly from: number; readonly to: number }[];
}

const amountMax = Number(amountMaxBig);
const perDoubling = 8;

/** The lowest amount of each bucket, ascending. Stored counts depend on them: they never change. */
export const bucketStarts: readonly number[] = startsOfBuckets();

/** @param from @param to minor units, both ends included; outside the possible amounts they are cut to them */
export function bucketRange(from: bigint | undefined, to: bigint | undefined): BucketRange {
  const low = clamp(from ?? 0n, amountMax + 1);
  const high = to !== undefined && to < 0n ? -1 : clamp(to ?? amountMaxBig, amountMax);
  if (low > high) return { first: 0, last: -1, remainders: [] };
  const [bottom, top] = [bucketOf(low), bucketOf(high)];
  const first = bucketStarts[bottom] === low ? bottom : bottom + 1;
  const last = high === endOf(top) ? top : top - 1;
  if (bottom === top) {
    return first <= last
      ? { first, last, remainders: [] }
      : { first: 0, last: -1, remainders: [{ bucket: top, from: low, to: high }] };
  }
  const remainders = [
    ...(first > bottom ? [{ bucket: bottom, from: low, to: endOf(bottom) }] : []),
    ...(last < top ? [{ bucket: top, from: startOf(top), to: high }] : []),
  ];
  return { first, last, remainders };
}

/** The lowest amount of the bucket. */
export function startOf(bucket: number): number {
  return bucketStarts[bucket] ?? amountMax + 1;
}

/** The highest amount of the bucket. */
export function endOf(bucket: number): number {
  return startOf(bucket + 1) - 1;
}

/** @param amount not negative */
function bucketOf(amount: number): number {
  if (amount < 2 * perDoubling) return amount;
  const doublings = 31 - Math.clz32(amount) - Math.log2(perDoubling);
  return doublings * perDoubling + (amount >> doublings);
}

function startsOfBuckets(): number[] {
  const all: number[] = [];
  for (let bucket = 0; ; bucket++) {
    const doublings = Math.max(0, Math.floor(bucket / perDoubling) - 1);
    const start = bucket < 2 * perDoubling ? bucket : (perDoubling + (bucket % perDoubling)) << doublings;
    if (start > amountMax) return all;
    all.push(start);
  }
}

function clamp(amount: bigint, max: number): number {
  return amount < 0n ? 0 : amount > BigInt(max) ? max : Number(amount);
}
