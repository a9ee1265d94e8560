// Splits ranges of time and amounts into weeks and buckets, which are counted already (platform/lists/list-counts.ts),
// and remainders. Pure.
import { alignTime, dayMs, isBefore, someOf, type TimeRange } from "#platform/lists/day-range.ts";
import { amountMax as amountMaxBig } from "#platform/values/money.ts";

/** A range as whole weeks and corrections. */
interface NearestWeeks {
  /** From Monday to Monday; empty when `from` equals `to`. */
  readonly whole: TimeRange;
  /** Parts of the range outside the weeks. */
  readonly added: readonly TimeRange[];
  /** Parts of the weeks outside the range. */
  readonly removed: readonly TimeRange[];
}

// 1970-01-05 was a Monday.
const mondayMs = 4 * dayMs;

/** The weeks nearest to the range: at most half a week must be corrected at either end. */
export function nearestWeeks(range: TimeRange): NearestWeeks {
  const weekMs = 7 * dayMs;
  const whole = {
    from: alignTime(range.from, Math.round, weekMs, mondayMs),
    to: alignTime(range.to, Math.round, weekMs, mondayMs),
  };
  if (!isBefore(whole.from, whole.to)) {
    return { whole: { from: range.from, to: range.from }, added: someOf(range), removed: [] };
  }
  return {
    whole,
    added: someOf({ from: range.from, to: whole.from }, { from: whole.to, to: range.to }),
    removed: someOf({ from: whole.from, to: range.from }, { from: range.to, to: whole.to }),
  };
}

export interface BucketRange {
  /** Whole buckets within the range; empty if `last < first`. */
  readonly first: number;
  readonly last: number;
  /** The remainders, each within one bucket, in minor units, both bounds inclusive. */
  readonly remainders: readonly { readonly bucket: number; readonly from: number; readonly to: number }[];
}

const amountMax = Number(amountMaxBig);

/** @param from @param to minor units, both inclusive; limited to valid amounts */
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

export function startOf(bucket: number): number {
  return bucketStarts[bucket] ?? amountMax + 1;
}

export function endOf(bucket: number): number {
  return startOf(bucket + 1) - 1;
}

/** @param amount not negative */
function bucketOf(amount: number): number {
  if (amount < 2 * perDoubling) return amount;
  const doublings = 31 - Math.clz32(amount) - Math.log2(perDoubling);
  return doublings * perDoubling + (amount >> doublings);
}

function clamp(amount: bigint, max: number): number {
  return amount < 0n ? 0 : amount > BigInt(max) ? max : Number(amount);
}

// Amount buckets for exact counts by amount: eight per doubling, single amounts below 16.

const perDoubling = 8;

/** The lowest amount of each bucket, ascending. Stored counters depend on them: never change them. */
export const bucketStarts: readonly number[] = startsOfBuckets();

function startsOfBuckets(): number[] {
  const all: number[] = [];
  for (let bucket = 0; ; bucket++) {
    const doublings = Math.max(0, Math.floor(bucket / perDoubling) - 1);
    const start = bucket < 2 * perDoubling ? bucket : (perDoubling + (bucket % perDoubling)) << doublings;
    if (start > amountMax) return all;
    all.push(start);
  }
}
