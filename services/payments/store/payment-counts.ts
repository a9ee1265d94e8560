// What a total by amount is added up from: rows, in covering indexes, and the counts by week and amount bucket with the changes that are
// not folded into them yet (platform/list-counts.ts). The same parts tell in which week an offset lies.
import { endOf, startOf } from "#platform/amount-bucket.ts";
import type { Sql } from "#platform/database.ts";
import type { TimeRange } from "#platform/day-range.ts";
import { Condition, ownPayments, Params } from "./payment-conditions.ts";
import type { Owner } from "./payment-records.ts";

/** A part of a total. */
export interface Part {
  readonly sign: 1 | -1;
  readonly of: keyof typeof sources;
  readonly where: Condition;
  /** Where counting rows stops, when a total is tried. */
  readonly atMost?: number;
}

/** Whose payments; an empty status: of any. */
export interface Whose {
  readonly owner: Owner;
  readonly status: string;
}

/** Minor units, both ends included. */
interface Amounts {
  readonly from: bigint | number;
  readonly to: bigint | number;
}

const weekOf = (time: string) => `date_trunc('week', ${time} at time zone 'UTC')::date`;
const sources = {
  rows: { from: "payments t", n: "count(*)", week: weekOf("t.created_at") },
  counts: { from: "list_counts c", n: "coalesce(sum(c.n), 0)", week: "c.starts" },
  deltas: { from: "list_deltas c", n: "coalesce(sum(c.n), 0)", week: weekOf("c.at") },
} as const;

/** Rows one by one. */
export function rowsOf({ owner, status }: Whose, range: TimeRange, amounts: Amounts, sign: 1 | -1 = 1): Part {
  let where = ownPayments(owner).and("t.amount >= ? and t.amount <= ?", amounts.from, amounts.to);
  if (range.from !== "-infinity") where = where.and("t.created_at >= ?", range.from);
  if (range.to !== "infinity") where = where.and("t.created_at < ?", range.to);
  if (status !== "") where = where.and("t.status = ?", status);
  return { sign, of: "rows", where };
}

/** Whole buckets in whole weeks. */
export function bucketsOf({ owner, status }: Whose, weeks: TimeRange, first: number, last: number): Part[] {
  const { merchantId, environment } = owner;
  let own = new Condition("c.merchant_id = ? and c.environment = ? and c.list = 'payments'", merchantId, environment);
  if (status !== "") own = own.and("c.status = ?", status);
  const day = "(?::timestamptz at time zone 'UTC')::date";
  const counts = own
    .and(`c.grain = 'week' and c.starts >= ${day} and c.starts < ${day}`, weeks.from, weeks.to)
    .and("c.bucket between ? and ?", first, last);
  const deltas = own
    .and("c.at >= ? and c.at < ?", weeks.from, weeks.to)
    .and("c.amount between ? and ?", startOf(first), endOf(last));
  return [
    { sign: 1, of: "counts", where: counts },
    { sign: 1, of: "deltas", where: deltas },
  ];
}

/** What each part counts, without its sign, in one statement. */
export async function readParts(sql: Sql, parts: readonly Part[]): Promise<ReadonlyMap<Part, bigint>> {
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
  return new Map(parts.map((part, i) => [part, BigInt(row?.numbers[i] ?? 0)]));
}

/** The week in which an offset lies, counted from the newest: when it ends, and how many there are after it. */
export async function findWeek(
  sql: Sql,
  parts: readonly Part[],
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
