// Captured and refunded amounts by UTC day and currency (schema/0020-money-by-day.sql): folds the changes that triggers
// append, and sums a merchant's last days. Sums are exact in every snapshot, folded or not.
import type { Database, Sql } from "#platform/database/database.ts";
import type { Owner } from "./payment-records.ts";

/** A day in one currency, amounts in minor units. */
interface MoneyDay {
  readonly day: string;
  readonly currency: string;
  readonly kind: "captured" | "refunded";
  readonly n: bigint;
  readonly amount: bigint;
}

// One fold of this many takes about 0.1 s; a reader adds up at most the changes of the seconds since.
const foldMax = 20_000;
// An arbitrary advisory lock that nothing else uses in these databases.
const foldLock = 7_655_221;

const foldText = `
  with taken as (
    delete from money_deltas where ctid = any (array(select ctid from money_deltas limit $1))
    returning merchant_id, environment, kind, (at at time zone 'UTC')::date as day, currency, n, amount),
  folded as (
    insert into money_days
    select merchant_id, environment, kind, day, currency, sum(n), sum(amount) from taken group by 1, 2, 3, 4, 5
    on conflict (merchant_id, environment, kind, day, currency)
      do update set n = money_days.n + excluded.n, amount = money_days.amount + excluded.amount)
  select count(*) as taken from taken`;

/** Folds one batch; replicas take turns. @returns whether more may be left */
export async function foldMoneyDays(db: Database, limit = foldMax): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const [lock] = await tx.rows<{ got: boolean }>("select pg_try_advisory_xact_lock($1) as got", [foldLock]);
    if (!lock?.got) return false;
    const [row] = await tx.rows<{ taken: string }>(foldText, [limit]);
    return Number(row?.taken ?? 0) === limit;
  });
}

/** Days from `fromDay` on, including days after today by a processor's clock. */
export async function readMoneyDays(sql: Sql, owner: Owner, fromDay: string): Promise<MoneyDay[]> {
  const rows = await sql.rows<{ day: string; currency: string; kind: MoneyDay["kind"]; n: string; amount: string }>(
    `select day::text, currency, kind, sum(n)::text as n, sum(amount)::text as amount from (
       select kind, day, currency, n, amount from money_days
       where merchant_id = $1 and environment = $2 and kind in ('captured', 'refunded') and day >= $3
       union all
       select kind, (at at time zone 'UTC')::date, currency, n, amount from money_deltas
       where merchant_id = $1 and environment = $2 and at >= $3::date::timestamp at time zone 'UTC') parts
     group by 1, 2, 3 having sum(n) <> 0 order by 1, 2, 3`,
    [owner.merchantId, owner.environment, fromDay],
  );
  return rows.map((row) => ({ ...row, n: BigInt(row.n), amount: BigInt(row.amount) }));
}
