// How many payments lie within a range of amounts, exactly. Whole weeks and whole amount buckets are counted already
// (platform/list-counts.ts); rows are counted, in covering indexes, only at the ends: less than a week and a half of time,
// and part of a bucket of amounts.
import { type BucketRange, bucketRange, endOf, startOf } from "#platform/amount-bucket.ts";
import type { Sql } from "#platform/database.ts";
import { splitRange, type TimeRange, timeRange } from "#platform/day-range.ts";
import { ownPayments, Params, type PlainFilters } from "./payment-conditions.ts";
import type { Owner } from "./payment-records.ts";

// Counting this many index entries takes 2 ms.
const countedMaxDefault = 20_000;

/**
 * @param sql one snapshot: several reads may be added up
 * @param countedMax part of a bucket with more rows is counted by what is beside it
 */
export async function countByAmount(
  sql: Sql,
  owner: Owner,
  filters: PlainFilters,
  countedMax = countedMaxDefault,
): Promise<bigint> {
  const { whole, rests } = splitRange(timeRange(filters.from, filters.to), "week");
  const [min, max] = [filters.minAmount ?? 0n, filters.maxAmount ?? BigInt(Number.MAX_SAFE_INTEGER)];
  const buckets = bucketRange(filters.minAmount, filters.maxAmount);
  const hasWeeks = whole.from !== whole.to;
  const counts = new Counts(owner, filters.status);
  for (const rest of rests) counts.addRows(rest, min, max);
  if (hasWeeks) counts.addBuckets(whole, buckets.first, buckets.last);
  const parts = hasWeeks ? buckets.rests : [];
  for (const part of parts) counts.addRows(whole, part.from, part.to, countedMax);
  const found = await counts.read(sql);
  const full = parts.filter((_part, i) => found.at(i - parts.length) === BigInt(countedMax));
  let total = found.reduce((sum, n) => sum + n, 0n) - BigInt(full.length * countedMax);
  for (const part of full) total += await countBeside(sql, new Counts(owner, filters.status), whole, part);
  return total;
}

/** Shops have favourite prices: when part of a bucket holds many rows, what is beside it in the bucket is counted instead. */
async function countBeside(
  sql: Sql,
  counts: Counts,
  weeks: TimeRange,
  part: BucketRange["rests"][number],
): Promise<bigint> {
  counts.addBuckets(weeks, part.bucket, part.bucket);
  counts.addRows(weeks, startOf(part.bucket), part.from - 1);
  counts.addRows(weeks, part.to + 1, endOf(part.bucket));
  const [all = 0n, below = 0n, above = 0n] = await counts.read(sql);
  return all - below - above;
}

/** Several counts of an owner's payments, with or without a status, in one statement. */
class Counts {
  readonly #owner: Owner;
  readonly #status: string;
  readonly #params = new Params();
  readonly #texts: string[] = [];

  constructor(owner: Owner, status: string) {
    this.#owner = owner;
    this.#status = status;
  }

  /** Counts rows. @param min @param max minor units, both included @param atMost where counting stops */
  addRows(range: TimeRange, min: bigint | number, max: bigint | number, atMost?: number): void {
    let where = ownPayments(this.#owner).and("t.amount >= ? and t.amount <= ?", min, max);
    if (range.from !== "-infinity") where = where.and("t.created_at >= ?", range.from);
    if (range.to !== "infinity") where = where.and("t.created_at < ?", range.to);
    if (this.#status !== "") where = where.and("t.status = ?", this.#status);
    const some = atMost === undefined ? "" : ` limit ${atMost}`;
    this.#texts.push(`select count(*) from (select from payments t where ${where.in(this.#params)}${some}) t`);
  }

  /** Adds up counts of whole buckets in whole weeks; none when `last < first`. */
  addBuckets(weeks: TimeRange, first: number, last: number): void {
    const add = (value: unknown) => this.#params.add(value);
    const [from, to] = [`${add(weeks.from)}::timestamptz`, `${add(weeks.to)}::timestamptz`];
    const status = this.#status === "" ? "" : ` and status = ${add(this.#status)}`;
    const own = `merchant_id = ${add(this.#owner.merchantId)} and environment = ${add(this.#owner.environment)}
      and list = 'payments'${status}`;
    const day = (time: string) => `(${time} at time zone 'UTC')::date`;
    this.#texts.push(
      `select coalesce((select sum(n) from list_counts where ${own} and grain = 'week' and starts >= ${day(from)}
           and starts < ${day(to)} and bucket between ${add(first)} and ${add(last)}), 0)
         + coalesce((select sum(n) from list_deltas where ${own} and at >= ${from} and at < ${to}
           and amount between ${add(startOf(first))} and ${add(endOf(last))}), 0)`,
    );
  }

  /** The counts, in the order they were added in. */
  async read(sql: Sql): Promise<readonly bigint[]> {
    const numbers = this.#texts.map((text) => `(${text})::text`).join(", ");
    const [row] = await sql.rows<{ numbers: string[] }>(`select array[${numbers}] as numbers`, this.#params.values);
    return (row?.numbers ?? []).map(BigInt);
  }
}
