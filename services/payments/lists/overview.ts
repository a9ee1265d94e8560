// Reads a merchant's last days by UTC day and currency: money from store/money-days.ts, paid and unpaid payments from
// the counts of the lists. It reads no payments, so its time does not depend on their number.
import type { Database, Sql } from "#platform/database/database.ts";
import { readMoneyDays } from "../store/money-days.ts";
import type { Owner } from "../store/payment-records.ts";
import { kindsOf } from "./kinds.ts";

/** Amounts are minor units. */
export interface OverviewDay {
  /** UTC, as `2026-11-25`. */
  readonly day: string;
  readonly currency: string;
  capturedCount: bigint;
  capturedAmount: bigint;
  refundCount: bigint;
  refundedAmount: bigint;
  paidCount: bigint;
  unpaidCount: bigint;
}

export const paid = ["succeeded", "partially_refunded", "refunded", "disputed"];
export const unpaid = ["failed", "canceled"];

/** @param days number of days up to today by the database's clock @returns one snapshot */
export async function readOverview(
  db: Pick<Database, "snapshot">,
  owner: Owner,
  days: number,
): Promise<{ today: string; days: OverviewDay[] }> {
  return await db.snapshot(async (sql) => {
    const [bounds] = await sql.rows<{ today: string; first: string }>(
      `select today::text, (today - $1::int + 1)::text as first from (select (now() at time zone 'UTC')::date as today) t`,
      [days],
    );
    if (!bounds) throw new Error("the database does not know the day");
    const found = new Map<string, OverviewDay>();
    const at = (day: string, currency: string) => {
      const cell = found.get(`${day}/${currency}`) ?? emptyDay(day, currency);
      found.set(`${day}/${currency}`, cell);
      return cell;
    };
    for (const { day, currency, kind, n, amount } of await readMoneyDays(sql, owner, bounds.first)) {
      const cell = at(day, currency);
      if (kind === "captured") Object.assign(cell, { capturedCount: n, capturedAmount: amount });
      else Object.assign(cell, { refundCount: n, refundedAmount: amount });
    }
    for (const { day, currency, paid: paidCount, unpaid: unpaidCount } of await readEnds(sql, owner, bounds.first)) {
      Object.assign(at(day, currency), { paidCount: BigInt(paidCount), unpaidCount: BigInt(unpaidCount) });
    }
    const order = ({ day, currency }: OverviewDay) => `${day}/${currency}`;
    return { today: bounds.today, days: [...found.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1)) };
  });
}

/** Paid and unpaid payments by day of creation. */
async function readEnds(sql: Sql, owner: Owner, fromDay: string) {
  const kinds = await kindsOf(sql, owner);
  if (kinds.length === 0) return [];
  const lists = kinds.map(({ currency, connector }) => `payments/${currency}/${connector}`);
  return await sql.rows<{ day: string; currency: string; paid: string; unpaid: string }>(
    `select day::text, split_part(list, '/', 2) as currency,
       coalesce(sum(n) filter (where status = any ($5)), 0)::text as paid,
       coalesce(sum(n) filter (where status = any ($6)), 0)::text as unpaid
     from (
       select list, starts as day, status, n from list_counts
       where merchant_id = $1 and environment = $2 and list = any ($3) and grain = 'day' and starts >= $4
       union all
       select list, (at at time zone 'UTC')::date, status, n from list_deltas
       where merchant_id = $1 and environment = $2 and list = any ($3) and at >= $4::date::timestamp at time zone 'UTC') parts
     group by 1, 2 having sum(n) filter (where status = any ($5 || $6)) <> 0`,
    [owner.merchantId, owner.environment, lists, fromDay, paid, unpaid],
  );
}

function emptyDay(day: string, currency: string): OverviewDay {
  return {
    ...{ day, currency, capturedCount: 0n, capturedAmount: 0n },
    ...{ refundCount: 0n, refundedAmount: 0n, paidCount: 0n, unpaidCount: 0n },
  };
}
