// Audits the totals of lists: the counts (list_counts and unfolded changes) against the rows, by merchant, environment,
// day and status, and by week, status and amount bucket. Each comparison is one statement and so one snapshot.
import type { Sql } from "#platform/database/database.ts";

export interface CountDifference {
  readonly merchantId: string;
  readonly environment: number;
  /** `payments`, `payments/EUR/stripe`, `captured/EUR/stripe` or `refunds`. */
  readonly list: string;
  /** `day 2026-01-01` or `week 2026-01-05`. */
  readonly when: string;
  readonly status: string;
  /** Amount bucket; -1: all amounts. */
  readonly bucket: number;
  readonly counted: bigint;
  readonly there: bigint;
}

// Some hundred thousand rows of a large merchant, which is well within the statement timeout.
const windowDays = 28;

// Each amount below 16 is a bucket; above, each doubling has eight buckets.
const bucket = `case when t.amount < 16 then t.amount
  else (length(ltrim(t.amount::int::bit(32)::text, '0')) - 4) * 8
    + (t.amount >> (length(ltrim(t.amount::int::bit(32)::text, '0')) - 4)) end`;
const kind = "concat_ws('/', '', t.currency, t.connector)";

/** Rows of a table that are counted by a time column. `like` matches the names of the family's lists. */
const families = [
  { table: "payments", name: "'payments'", like: "payments", at: "t.created_at", counted: "t.visible", bucket },
  {
    table: "payments",
    name: `'payments' || ${kind}`,
    like: "payments/%",
    at: "t.created_at",
    counted: "t.visible",
    bucket,
  },
  {
    table: "payments",
    name: `'captured' || ${kind}`,
    like: "captured/%",
    at: "t.captured_at",
    counted: "t.visible and t.captured_amount > 0",
    bucket,
  },
  { table: "refunds", name: "'refunds'", like: "refunds", at: "t.created_at", counted: "true", bucket: "null" },
] as const;
type Family = (typeof families)[number];

/** @param onDifference called for each wrong count @returns number of windows compared */
export async function auditListCounts(sql: Sql, onDifference: (found: CountDifference) => void): Promise<number> {
  let windows = 0;
  for (const family of families) {
    for (const merchantId of await merchantsOf(sql, family)) {
      const { from, days } = await spanOf(sql, family, merchantId);
      for (let day = 0; day <= days; day += windowDays) {
        windows += 1;
        const rows = await sql.rows<Row>(textOf(family), [merchantId, family.like, from, day, day + windowDays]);
        for (const row of rows)
          onDifference({ ...row, merchantId, counted: BigInt(row.counted), there: BigInt(row.there) });
      }
    }
  }
  return windows;
}

interface Row {
  environment: number;
  list: string;
  when: string;
  status: string;
  bucket: number;
  counted: string;
  there: string;
}

/** Merchants with rows or counts, found by jumps over an index. */
async function merchantsOf(sql: Sql, { table, like }: Family): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `with recursive jump as (
       select (select min(merchant_id) from ${table}) as id
       union all select (select min(merchant_id) from ${table} where merchant_id > jump.id) from jump where jump.id is not null)
     select id from jump where id is not null
     union select merchant_id from list_counts where list like $1 union select merchant_id from list_deltas where list like $1
     order by 1`,
    [like],
  );
  return rows.map((row) => row.id);
}

/** Begins with the Monday of the merchant's first row or count. */
async function spanOf(
  sql: Sql,
  { table, at, like }: Family,
  merchantId: string,
): Promise<{ from: string; days: number }> {
  const [row] = await sql.rows<{ from: string; days: number }>(
    `select date_trunc('week', min(day))::date::text as from, max(day) - min(day) + 7 as days from (
       select (min(${at}) at time zone 'UTC')::date as day from ${table} t where merchant_id = $1
       union all select (max(${at}) at time zone 'UTC')::date from ${table} t where merchant_id = $1
       union all select min(starts) from list_counts where merchant_id = $1 and list like $2
       union all select max(starts) from list_counts where merchant_id = $1 and list like $2
       union all select (min(at) at time zone 'UTC')::date from list_deltas where merchant_id = $1 and list like $2
       union all select (max(at) at time zone 'UTC')::date from list_deltas where merchant_id = $1 and list like $2) ends`,
    [merchantId, like],
  );
  return { from: row?.from ?? "2000-01-03", days: row?.days ?? 0 };
}

/** `bounds` is the window as days and as times. $3 is a Monday, so that no week is in two windows. */
function textOf({ table, name, at: time, counted, bucket }: Family): string {
  const [day, monday] = ["(at at time zone 'UTC')::date", "date_trunc('week', at at time zone 'UTC')::date"];
  return `
    with bounds as (
      select $3::date + $4::int as first, $3::date + $5::int as last,
        ($3::date + $4::int)::timestamp at time zone 'UTC' as since, ($3::date + $5::int)::timestamp at time zone 'UTC' as until),
    own as (
      select t.environment, ${name} as list, ${time} as at, t.status, (${bucket})::int as bucket from ${table} t, bounds
      where t.merchant_id = $1 and ${counted} and ${time} >= since and ${time} < until),
    changes as (
      select t.environment, t.list, t.at, t.status, ${table === "payments" ? bucket : "null"}::int as bucket, t.n from list_deltas t, bounds
      where t.merchant_id = $1 and t.list like $2 and t.at >= since and t.at < until),
    there as (
      select environment, list, 'day' as grain, ${day} as starts, status, -1 as bucket, count(*) as n from own group by 1, 2, 4, 5
      union all
      select environment, list, 'week', ${monday}, status, bucket, count(*) from own where bucket is not null group by 1, 2, 4, 5, 6),
    counted as (
      select environment, list, grain, starts, status, bucket, sum(n) as n from (
        select environment, list, grain, starts, status, bucket::int, n from list_counts, bounds
          where merchant_id = $1 and list like $2 and starts >= first and starts < last
        union all select environment, list, 'day', ${day}, status, -1, n from changes
        union all select environment, list, 'week', ${monday}, status, bucket, n from changes where bucket is not null) parts
      group by 1, 2, 3, 4, 5, 6)
    select environment, list, grain || ' ' || starts as when, status, bucket,
      coalesce(c.n, 0)::text as counted, coalesce(r.n, 0)::text as there
    from there r full join counted c using (environment, list, grain, starts, status, bucket)
    where coalesce(c.n, 0) <> coalesce(r.n, 0) order by 1, 2, 4, 5, 6`;
}
