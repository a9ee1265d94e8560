// Lists filtered by status and creation time: a page, newest first, and its exact total in one statement, and so from
// one snapshot. Whole days come from the counters (list-counts.ts), so neither a total nor a far offset scans earlier
// rows.
import type { Sql } from "#platform/database/database.ts";
import { invalidField } from "#platform/values/failure.ts";
import { Condition, inTimeRange, Params } from "./condition.ts";
import { afterCursor, afterCursorText, type Cursor } from "./cursor.ts";
import { splitRange, type TimeRange } from "./day-range.ts";

/**
 * A counted list: its table needs `id`, `merchant_id`, `environment`, `status`, `created_at` and an index in list
 * order.
 */
interface DatedList {
  /** Name of the table and of its counters. */
  readonly table: string;
  /** The condition for a row `t` to be listed. */
  readonly condition: string;
  /** Columns of the page, of `t`. */
  readonly columns: string;
}

export interface DatedFilter {
  readonly merchantId: string;
  readonly environment: number;
  /** Exact match; empty for all. */
  readonly status: string;
  readonly range: TimeRange;
}

export interface PageWindow {
  readonly limit: number;
  readonly offset: bigint;
  /** Only rows after this cursor; the offset counts from there. Absent for the first page. */
  readonly after?: Cursor;
  /** The total is not needed: it is 0 unless finding the page counts anyway. */
  readonly isUncounted?: boolean;
}

/** A caller's page and whether more rows follow. After a cursor one extra row decides that. */
export async function readPage<T>(
  query: { readonly limit: number; readonly offset: bigint; readonly afterId: string },
  findCursor: (id: string) => Promise<Cursor>,
  read: (window: PageWindow) => Promise<{ readonly rows: readonly T[]; readonly total: bigint }>,
): Promise<{ rows: T[]; total: bigint; hasMore: boolean }> {
  const { limit, offset, afterId } = query;
  if (afterId === "") {
    const { rows, total } = await read({ limit, offset });
    return { rows: [...rows], total, hasMore: offset + BigInt(rows.length) < total && rows.length > 0 };
  }
  if (offset > 0n) throw invalidField("offset", "must be 0 with `after`");
  const { rows, total } = await read({ limit: limit + 1, offset, after: await findCursor(afterId) });
  return { rows: rows.slice(0, limit), total, hasMore: rows.length > limit };
}

/** @returns the page's rows, newest first, and the exact total unless `untotaled` is set with a cursor */
export async function listDated<Row extends { id: string }>(
  sql: Sql,
  list: DatedList,
  filter: DatedFilter,
  window: PageWindow,
): Promise<{ rows: Row[]; total: bigint }> {
  const { after } = window;
  if (after && window.isUncounted) return { rows: await rowsBehind<Row>(sql, list, filter, after, window), total: 0n };
  const { whole, remainders } = splitRange(filter.range);
  const [early, late] = remainders;
  const { merchantId, environment, status, range } = filter;
  const bounds = [whole.from, whole.to, early?.from, early?.to, late?.from, late?.to];
  const values = [...(status === "" ? [] : [status]), ...(after ? [after.createdAt, after.id] : [])];
  const cursor = after && { at: `$${paramsMin + values.length - 1}::timestamptz`, id: `$${paramsMin + values.length}` };
  const text = textOf(list, status === "" ? "true" : `status = $${paramsMin + 1}`, cursor);
  const params = [merchantId, environment, ...bounds, window.limit, window.offset, range.from, range.to, ...values];
  const found = await sql.rows<(Row | { id: null }) & { total: string }>(text, params);
  return {
    rows: found.filter((row): row is Row & { total: string } => row.id !== null),
    total: BigInt(found[0]?.total ?? 0),
  };
}

async function rowsBehind<Row extends object>(
  sql: Sql,
  { table, condition, columns }: DatedList,
  { merchantId, environment, status, range }: DatedFilter,
  after: Cursor,
  { limit, offset }: PageWindow,
): Promise<Row[]> {
  const own = new Condition(`t.merchant_id = ? and t.environment = ? and ${condition}`, merchantId, environment);
  const ofStatus = status === "" ? own : own.and("t.status = ?", status);
  const where = ofStatus.with(inTimeRange("t.created_at", range)).with(afterCursor(after));
  const params = new Params();
  return await sql.rows<Row>(
    `select ${columns} from ${table} t where ${where.in(params)}
     order by t.created_at desc, t.id desc limit ${params.add(limit)} offset ${params.add(offset)}`,
    params.values,
  );
}

// Parameters of every such statement.
const paramsMin = 12;

/**
 * `days` has each day's count and the running total; `start` is the day with the offset, so only that day's rows are
 * skipped. The texts are constants: PostgreSQL plans each once.
 * @param after the condition of the cursor
 */
function textOf(
  list: DatedList,
  status: string,
  after: { readonly at: string; readonly id: string } | undefined,
): string {
  const counted = `merchant_id = $1 and environment = $2 and list = '${list.table}' and ${status}`;
  const own = `t.merchant_id = $1 and t.environment = $2 and ${list.condition} and ${status === "true" ? status : `t.${status}`}`;
  const bound = after
    ? { rule: afterCursorText("t.created_at", after.at, after.id), passed: "0" }
    : {
        rule: `t.created_at < (select (day + 1)::timestamp at time zone 'UTC' from start)`,
        passed: "(select passed from start)",
      };
  const rest = (from: string, to: string) => `
      select (${from}::timestamptz at time zone 'UTC')::date,
        (select count(*) from ${list.table} t where ${own} and t.created_at >= ${from} and t.created_at < ${to})
      where ${from}::timestamptz is not null`;
  return `
    with cells (day, n) as (
      select starts, n from list_counts where ${counted} and grain = 'day'
        and starts >= ($3::timestamptz at time zone 'UTC')::date and starts < ($4::timestamptz at time zone 'UTC')::date
      union all
      select (at at time zone 'UTC')::date, n from list_deltas where ${counted} and at >= $3 and at < $4
      union all ${rest("$5", "$6")}
      union all ${rest("$7", "$8")}),
    days as (select day, sum(n) as n, sum(sum(n)) over (order by day desc) as upto from cells group by day),
    start as (select day, upto - n as passed from days where upto > $10 order by day desc limit 1),
    page as (
      select t.id from ${list.table} t
      where ${own} and t.created_at >= $11 and t.created_at < $12
        and ${bound.rule}
      order by t.created_at desc, t.id desc
      limit $9 offset ($10 - ${bound.passed})::bigint)
    select (select coalesce(sum(n), 0) from days) as total, ${list.columns}
    from (select) one left join ${list.table} t on t.id = any (array(select id from page))
    order by t.created_at desc, t.id desc`;
}
