// The paid_days table: sums of a merchant's day, for those who chose the daily mail.
import type { Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";

export interface PaidSum {
  readonly count: number;
  /** Minor units. */
  readonly total: string;
  readonly currency: string;
}

interface PaidCheckout extends Omit<PaidSum, "count"> {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly at: Date;
}

interface PaidDay {
  readonly merchantId: string;
  readonly environment: Environment;
  /** `2026-11-25`, in the merchant's time zone. */
  readonly day: string;
  readonly sums: readonly PaidSum[];
}

/** Adds nothing without a recipient of the daily mail. */
export async function addToPaidDay(tx: Sql, { merchantId, environment, total, currency, at }: PaidCheckout) {
  await tx.rows(
    `insert into paid_days (merchant_id, environment, day, currency, total, count, ends_at)
     select m.id, $2, d.day, $4, $5, 1, (d.day + 1)::timestamp at time zone z.name
     from merchants m, lateral (select coalesce(nullif(m.time_zone, ''), 'UTC') as name) z,
       lateral (select ($3::timestamptz at time zone z.name)::date as day) d
     where m.id = $1 and exists (
       select from notification_choices c where c.merchant_id = m.id and c.kind = 'paid_daily' and c.is_on)
     on conflict (merchant_id, environment, day, currency)
     do update set total = paid_days.total + excluded.total, count = paid_days.count + 1`,
    [merchantId, environment, at.toISOString(), currency, total],
  );
}

/** Takes days that ended an hour ago, whole ones. */
export async function takePaidDays(tx: Sql, limit: number): Promise<PaidDay[]> {
  return await tx.rows<PaidDay>(
    `with ended as materialized (
       select merchant_id, environment, day from paid_days where ends_at <= now() - interval '1 hour'
       order by ends_at limit $1 for update skip locked),
     taken as (
       delete from paid_days p using (select distinct * from ended) e
       where (p.merchant_id, p.environment, p.day) = (e.merchant_id, e.environment, e.day) returning p.*)
     select merchant_id as "merchantId", environment, day::text as day,
       json_agg(json_build_object('count', count, 'total', total::text, 'currency', currency) order by currency) as sums
     from taken group by merchant_id, environment, day`,
    [limit],
  );
}
