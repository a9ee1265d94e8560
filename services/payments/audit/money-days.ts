// Audits the sums by day (schema/0020-money-by-day.sql) against payments and refunds, a merchant and four weeks at a
// time. Each comparison is one statement and so one snapshot.
import type { Sql } from "#platform/database/database.ts";

export interface MoneyDifference {
  readonly merchantId: string;
  readonly environment: number;
  /** `captured` or `refunded`. */
  readonly kind: string;
  readonly day: string;
  readonly currency: string;
  /** Number and minor units, as `3 (1050)`. */
  readonly added: string;
  readonly there: string;
}

const windowDays = 28;

const rowsOf = {
  captured: `select environment, captured_at as at, currency, captured_amount as amount from payments
    where merchant_id = $1 and visible and captured_amount > 0`,
  refunded: `select environment, created_at as at, currency, amount from refunds
    where merchant_id = $1 and status in ('pending', 'succeeded')`,
} as const;
type Kind = keyof typeof rowsOf;

/** @param onDifference called for each wrong day @returns number of windows compared */
export async function auditMoneyDays(sql: Sql, onDifference: (found: MoneyDifference) => void): Promise<number> {
  let windows = 0;
  for (const kind of ["captured", "refunded"] as const) {
    for (const merchantId of await merchantsOf(sql)) {
      const { first, days } = await spanOf(sql, kind, merchantId);
      for (let day = 0; day <= days; day += windowDays) {
        windows += 1;
        const rows = await sql.rows<Omit<MoneyDifference, "merchantId" | "kind">>(textOf(kind), [
          ...[merchantId, first, day, day + windowDays],
        ]);
        for (const row of rows) onDifference({ ...row, merchantId, kind });
      }
    }
  }
  return windows;
}

/** Finds merchants by jumps over an index. */
async function merchantsOf(sql: Sql): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `with recursive jump as (
       select (select min(merchant_id) from payments) as id
       union all select (select min(merchant_id) from payments where merchant_id > jump.id) from jump where jump.id is not null)
     select id from jump where id is not null
     union select merchant_id from money_days union select merchant_id from money_deltas order by 1`,
  );
  return rows.map(({ id }) => id);
}

async function spanOf(sql: Sql, kind: Kind, merchantId: string): Promise<{ first: string; days: number }> {
  const [row] = await sql.rows<{ first: string | null; days: number }>(
    `select min(day)::text as first, max(day) - min(day) as days from (
       select (at at time zone 'UTC')::date as day from (${rowsOf[kind]}) own
       union all select day from money_days where merchant_id = $1
       union all select (at at time zone 'UTC')::date from money_deltas where merchant_id = $1) days`,
    [merchantId],
  );
  return row?.first ? { first: row.first, days: row.days } : { first: "2000-01-01", days: -1 };
}

function textOf(kind: Kind): string {
  const shown = (n: string, amount: string) => `coalesce(${n}, 0) || ' (' || coalesce(${amount}, 0) || ')'`;
  return `
    with bounds as (select $2::date + $3::int as first, $2::date + $4::int as last),
    there as (
      select environment, (at at time zone 'UTC')::date as day, currency, count(*) as n, sum(amount) as amount
      from (${rowsOf[kind]}) own, bounds
      where at >= first::timestamp at time zone 'UTC' and at < last::timestamp at time zone 'UTC' group by 1, 2, 3),
    added as (
      select environment, day, currency, sum(n) as n, sum(amount) as amount from (
        select environment, day, currency, n, amount from money_days where merchant_id = $1 and kind = '${kind}'
        union all
        select environment, (at at time zone 'UTC')::date, currency, n, amount from money_deltas
          where merchant_id = $1 and kind = '${kind}') parts, bounds
      where day >= first and day < last group by 1, 2, 3)
    select environment, day::text, currency, ${shown("a.n", "a.amount")} as added, ${shown("t.n", "t.amount")} as there
    from there t full join added a using (environment, day, currency)
    where (coalesce(a.n, 0), coalesce(a.amount, 0)) <> (coalesce(t.n, 0), coalesce(t.amount, 0)) order by 1, 2, 3`;
}
