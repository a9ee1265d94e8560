// How many payments lie within a range of amounts, exactly. Whole weeks and whole amount buckets are counted already; rows are
// counted only at the ends: at most half a week of time, and part of a bucket of amounts or what is beside that part.
import { type BucketRange, bucketRange, endOf, startOf } from "#platform/amount-bucket.ts";
import type { Sql } from "#platform/database.ts";
import { nearestWeeks, type TimeRange, timeRange } from "#platform/day-range.ts";
import { amountMax } from "#platform/money.ts";
import type { PlainFilters } from "./payment-conditions.ts";
import { bucketsOf, type Part, readParts, rowsOf, type Whose } from "./payment-counts.ts";
import type { Owner } from "./payment-records.ts";

/** How many, and how that is known. */
export interface AmountTotal {
  readonly total: bigint;
  /** What was added up. */
  readonly parts: readonly Part[];
}

/** Two ways to count part of a bucket; first the one that counts the rows of fewer amounts. */
type Ways = readonly [readonly Part[], readonly Part[]];

// Counting this many index entries takes 2 ms.
const rowsMaxDefault = 20_000;

/**
 * @param sql one snapshot: several reads may be added up
 * @param rowsMax part of a bucket with more rows, such as those at a shop's favourite price, is counted the other way
 */
export async function countByAmount(
  sql: Sql,
  owner: Owner,
  filters: PlainFilters,
  rowsMax = rowsMaxDefault,
): Promise<AmountTotal> {
  const whose = { owner, status: filters.status };
  const { whole, added, taken } = nearestWeeks(timeRange(filters.from, filters.to));
  const { first, last, rests } = bucketRange(filters.minAmount, filters.maxAmount);
  const amounts = { from: filters.minAmount ?? 0n, to: filters.maxAmount ?? amountMax };
  const hasWeeks = whole.from !== whole.to;
  const sure = [
    ...added.map((range) => rowsOf(whose, range, amounts)),
    ...taken.map((range) => rowsOf(whose, range, amounts, -1)),
    ...(hasWeeks && first <= last ? bucketsOf(whose, whole, first, last) : []),
  ];
  const ends = hasWeeks ? rests.map((rest) => waysOf(whose, whole, rest)) : [];
  const tried = ends.map(([narrow]) => narrow.map((part) => ({ ...part, atMost: rowsMax })));
  const found = await readParts(sql, [...sure, ...tried.flat()]);
  const isFull = (part: Part) => part.of === "rows" && found.get(part) === BigInt(rowsMax);
  const others = ends.flatMap(([, wide], i) => (tried[i]?.some(isFull) ? wide : []));
  const kept = tried.filter((parts) => !parts.some(isFull)).flat();
  const more = await readParts(sql, others);
  const parts = [...sure, ...kept, ...others];
  const numbers = parts.map((part) => BigInt(part.sign) * (found.get(part) ?? more.get(part) ?? 0n));
  return { total: numbers.reduce((sum, n) => sum + n, 0n), parts };
}

/** The rows themselves, or the bucket without the rows beside them. */
function waysOf(whose: Whose, weeks: TimeRange, { bucket, from, to }: BucketRange["rests"][number]): Ways {
  const [start, end] = [startOf(bucket), endOf(bucket)];
  const beside = [
    { from: start, to: from - 1 },
    { from: to + 1, to: end },
  ].filter((amounts) => amounts.from <= amounts.to);
  const within = [rowsOf(whose, weeks, { from, to })];
  const around = [
    ...bucketsOf(whose, weeks, bucket, bucket),
    ...beside.map((amounts) => rowsOf(whose, weeks, amounts, -1)),
  ];
  return 2 * (to - from) < end - start ? [within, around] : [around, within];
}
