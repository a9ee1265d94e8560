// Finds deliveries for an operator by id alone, and by event. The tables are too large for another index, so each
// search probes the primary key once per endpoint.
import type { Sql } from "#platform/database/database.ts";
import { type DeliveryRow, finishedColumns, pendingColumns } from "./deliveries.ts";

export interface FoundDelivery extends DeliveryRow {
  readonly merchant_id: string;
  readonly endpoint_id: string;
  readonly environment: number;
  readonly url: string;
  readonly endpoint_status: "active" | "disabled" | "deleted";
  readonly event_id: string | null;
  readonly payment_id: string | null;
  readonly finished_at: string | null;
}

/** Finds the delivery among all merchants. */
export async function findDelivery(sql: Sql, id: string): Promise<FoundDelivery | undefined> {
  const [row] = await sql.rows<FoundDelivery>(
    `select d.*, e.merchant_id, e.id as endpoint_id, e.environment, e.url,
       case when e.deleted_at is null then e.status else 'deleted' end as endpoint_status
     from endpoints e cross join lateral (
       select ${pendingColumns}, event_id, payment_id, null::timestamptz as finished_at from delivery_queue q
         where q.merchant_id = e.merchant_id and q.endpoint_id = e.id and q.id = $1
       union all
       select ${finishedColumns}, event_id, payment_id, finished_at from deliveries f
         where f.merchant_id = e.merchant_id and f.endpoint_id = e.id and f.id = $1) as d
     limit 1`,
    [id],
  );
  return row;
}

/**
 * The event's deliveries to the merchant's endpoints, deleted ones included, newest first. A delivery's id is derived
 * from its event and endpoint.
 */
export async function listEventDeliveries(
  sql: Sql,
  merchantId: string,
  eventId: string,
): Promise<(DeliveryRow & { readonly endpoint_id: string })[]> {
  return await sql.rows(
    `select d.*, e.id as endpoint_id
     from endpoints e cross join lateral (
       select 'whd_' || substr($2, 5, 10) || left(encode(sha256(convert_to($2 || e.id, 'UTF8')), 'hex'), 16) as made) as i
     cross join lateral (
       select ${pendingColumns} from delivery_queue q
         where q.merchant_id = $1 and q.endpoint_id = e.id and q.id = i.made
       union all
       select ${finishedColumns} from deliveries f
         where f.merchant_id = $1 and f.endpoint_id = e.id and f.id = i.made) as d
     where e.merchant_id = $1 order by d.created_at desc, e.id`,
    [merchantId, eventId],
  );
}
