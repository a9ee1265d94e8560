// Counts the payments in a range of time and amounts exactly. Whole days, and whole weeks with whole amount buckets,
// come from the counts and their unfolded changes (platform/lists/list-counts.ts); rows are counted at the ends of the
// ranges. The same terms give the week of an offset.
import type { Sql } from "#platform/database/database.ts";
import { type Condition, inTimeRange, Params } from "#platform/lists/condition.ts";
import { splitRange, type TimeRange } from "#platform/lists/day-range.ts";
import { amountMax } from "#platform/values/money.ts";
import type { Narrowing } from "./conditions.ts";
import { type BucketRange, bucketRange, endOf, nearestWeeks, startOf } from "./counted-ranges.ts";

export interface AmountTotal {
  readonly total: bigint;
  /** The terms of the sum. */
  readonly parts: readonly CountTerm[];
}

export interface CountTerm {
  readonly sign: 1 | -1;
  readonly of: keyof typeof sources;
  readonly where: Condition;
  /** Counting rows stops here when an alternative exists. */
  readonly atMost?: number;
}

type Scope = Pick<Narrowing, "rows" | "counts" | "clock">;

/** Minor units, both ends included. */
interface Amounts {
  readonly from: bigint | number;
  readonly to: bigint | number;
}

/** Two ways to count part of a bucket; the first counts the rows of fewer amounts. */
type Alternatives = readonly [readonly CountTerm[], readonly CountTerm[]];

const weekOf = (time: string) => `date_trunc('week', ${time} at time zone 'UTC')::date`;
const sources = {
  rows: { from: "payments t", n: "count(*)", week: weekOf("t.created_at") },
  counts: { from: "list_counts c", n: "coalesce(sum(c.n), 0)", week: "date_trunc('week', c.starts)::date" },
  deltas: { from: "list_deltas c", n: "coalesce(sum(c.n), 0)", week: weekOf("c.at") },
} as const;

// Counting this many index entries takes 2 ms.
const rowsMaxDefault = 20_000;

/** Counts by day, without amounts. @param sql one snapshot, because several reads are added */
export async function countByTime(sql: Sql, scope: Scope): Promise<AmountTotal> {
  const { whole, remainders } = splitRange(scope.clock.range);
  const parts = [
    ...remainders.map((range) => rowsOf(scope, range)),
    ...(whole.from === whole.to ? [] : daysOf(scope, whole)),
  ];
  return { total: await sumOf(sql, parts), parts };
}

/** Counts rows one by one in an index, if no counts fit. */
export async function countRows(sql: Sql, where: Condition): Promise<AmountTotal> {
  const parts: CountTerm[] = [{ sign: 1, of: "rows", where }];
  return { total: await sumOf(sql, parts), parts };
}

async function sumOf(sql: Sql, parts: readonly CountTerm[]): Promise<bigint> {
  const found = await readParts(sql, parts);
  return parts.reduce((sum, term) => sum + BigInt(term.sign) * (found.get(term) ?? 0n), 0n);
}

/**
 * @param sql one snapshot, because several reads are added
 * @param rowsMax a part of a bucket with more rows, such as a shop's most common price, is counted the other way
 */
export async function countByAmount(
  sql: Sql,
  { rows, counts, clock, amounts: requested }: Narrowing,
  rowsMax = rowsMaxDefault,
): Promise<AmountTotal> {
  const scope = { rows, counts, clock };
  const { whole, added, removed } = nearestWeeks(clock.range);
  const { first, last, remainders } = bucketRange(requested?.min, requested?.max);
  const amounts = { from: requested?.min ?? 0n, to: requested?.max ?? amountMax };
  const hasWeeks = whole.from !== whole.to;
  const sure = [
    ...added.map((range) => rowsOf(scope, range, amounts)),
    ...removed.map((range) => rowsOf(scope, range, amounts, -1)),
    ...(hasWeeks && first <= last ? bucketsOf(scope, whole, first, last) : []),
  ];
  const ends = hasWeeks ? remainders.map((rest) => alternativesOf(scope, whole, rest)) : [];
  const tried = ends.map(([narrow]) => narrow.map((term) => ({ ...term, atMost: rowsMax })));
  const found = await readParts(sql, [...sure, ...tried.flat()]);
  const isFull = (term: CountTerm) => term.of === "rows" && found.get(term) === BigInt(rowsMax);
  const others = ends.flatMap(([, wide], i) => (tried[i]?.some(isFull) ? wide : []));
  const kept = tried.filter((parts) => !parts.some(isFull)).flat();
  const more = await readParts(sql, others);
  const parts = [...sure, ...kept, ...others];
  const numbers = parts.map((term) => BigInt(term.sign) * (found.get(term) ?? more.get(term) ?? 0n));
  return { total: numbers.reduce((sum, n) => sum + n, 0n), parts };
}

/** The rows of the part, or the whole bucket minus the other rows. */
function alternativesOf(
  scope: Scope,
  weeks: TimeRange,
  { bucket, from, to }: BucketRange["remainders"][number],
): Alternatives {
  const [start, end] = [startOf(bucket), endOf(bucket)];
  const outside = [
    { from: start, to: from - 1 },
    { from: to + 1, to: end },
  ].filter((amounts) => amounts.from <= amounts.to);
  const within = [rowsOf(scope, weeks, { from, to })];
  const around = [
    ...bucketsOf(scope, weeks, bucket, bucket),
    ...outside.map((amounts) => rowsOf(scope, weeks, amounts, -1)),
  ];
  return 2 * (to - from) < end - start ? [within, around] : [around, within];
}

function rowsOf({ rows, clock }: Scope, range: TimeRange, amounts?: Amounts, sign: 1 | -1 = 1): CountTerm {
  const timed = rows.with(inTimeRange(clock.column, range));
  const where = amounts ? timed.and("t.amount >= ? and t.amount <= ?", amounts.from, amounts.to) : timed;
  return { sign, of: "rows", where };
}

const day = "(?::timestamptz at time zone 'UTC')::date";

function daysOf({ counts }: Scope, { from, to }: TimeRange): CountTerm[] {
  return [
    {
      sign: 1,
      of: "counts",
      where: counts.and(`c.grain = 'day' and c.starts >= ${day} and c.starts < ${day}`, from, to),
    },
    { sign: 1, of: "deltas", where: counts.and("c.at >= ? and c.at < ?", from, to) },
  ];
}

function bucketsOf({ counts }: Scope, weeks: TimeRange, first: number, last: number): CountTerm[] {
  const folded = counts
    .and(`c.grain = 'week' and c.starts >= ${day} and c.starts < ${day}`, weeks.from, weeks.to)
    .and("c.bucket between ? and ?", first, last);
  const deltas = counts
    .and("c.at >= ? and c.at < ?", weeks.from, weeks.to)
    .and("c.amount between ? and ?", startOf(first), endOf(last));
  return [
    { sign: 1, of: "counts", where: folded },
    { sign: 1, of: "deltas", where: deltas },
  ];
}

/** Reads all terms without their signs in one statement. */
async function readParts(sql: Sql, parts: readonly CountTerm[]): Promise<ReadonlyMap<CountTerm, bigint>> {
  if (parts.length === 0) return new Map();
  const params = new Params();
  const numbers = parts.map(({ of, where, atMost }) => {
    const { from, n } = sources[of];
    const condition = where.in(params);
    if (of !== "rows" || atMost === undefined) return `(select ${n} from ${from} where ${condition})::text`;
    return `(select count(*) from (select from ${from} where ${condition} limit ${atMost}) t)::text`;
  });
  const text = `select array[${numbers.join(", ")}] as numbers`;
  const [row] = await sql.rows<{ numbers: string[] }>(text, params.values);
  return new Map(parts.map((term, i) => [term, BigInt(row?.numbers[i] ?? 0)]));
}

/** The week of an offset from the newest payment: its end, and the number of payments after it. */
export async function findWeek(
  sql: Sql,
  parts: readonly CountTerm[],
  offset: bigint,
): Promise<{ ends: string; passed: bigint } | undefined> {
  const params = new Params();
  const weeks = parts.map(({ sign, of, where }) => {
    const { from, n, week } = sources[of];
    return `select ${week} as week, ${sign} * ${n} as n from ${from} where ${where.in(params)} group by 1`;
  });
  const [found] = await sql.rows<{ ends: string; passed: string }>(
    `with weeks as (
       select week, sum(n) as n, sum(sum(n)) over (order by week desc) as upto from (${weeks.join(" union all ")}) part group by week)
     select (week + 7)::timestamp at time zone 'UTC' as ends, upto - n as passed from weeks
     where upto > ${params.add(offset)} order by week desc limit 1`,
    params.values,
  );
  return found && { ends: found.ends, passed: BigInt(found.passed) };
}
