// Deliveries as merchants see them: pending rows of delivery_queue and finished rows of deliveries in one list by id,
// which is by time. A manual retry moves a finished delivery back into the queue.
import type { Sql } from "#platform/database/database.ts";
import { type LaneKey, movedColumns } from "./delivery-queue.ts";
import type { Owner } from "./endpoints.ts";

export type DeliveryState = "pending" | "delivered" | "failed";

export interface DeliveryRow {
  readonly id: string;
  readonly event_type: string;
  readonly attempts: number;
  readonly state: DeliveryState;
  readonly status_code: number;
  readonly last_error: string;
  /** Null once finished. */
  readonly next_attempt_at: string | null;
  readonly body: Buffer;
  readonly created_at: string;
}

export const pendingColumns = `id, event_type, attempts, 'pending' as state, status_code, last_error, due_at as next_attempt_at, body, created_at`;
export const finishedColumns = `id, event_type, attempts, state, status_code, last_error, null::timestamptz as next_attempt_at, body, created_at`;

interface DeliveryFilter extends LaneKey {
  readonly state: DeliveryState | undefined;
  readonly eventType: string | undefined;
  /** Only deliveries with a smaller id; undefined starts at the newest. */
  readonly before: string | undefined;
  readonly limit: number;
}

// Greater than every delivery id.
const afterAllIds = "whd_~";

/** The statement for a combination of filters; each uses its own index. */
function listText(state: DeliveryState | undefined, byType: boolean): string {
  const where = `merchant_id = $1 and endpoint_id = $2 and id < $3${byType ? " and event_type = $5" : ""}`;
  const tail = `order by ${byType ? "event_type desc, " : ""}id desc limit $4`;
  const pending = `(select ${pendingColumns} from delivery_queue where ${where} ${tail})`;
  const finished = (rule: string) => `(select ${finishedColumns} from deliveries where ${where}${rule} ${tail})`;
  const parts =
    state === "pending"
      ? [pending]
      : state === undefined
        ? [pending, finished("")]
        : [finished(` and state = '${state}'`)];
  return `select * from (${parts.join(" union all ")}) as d order by id desc limit $4`;
}

/** Newest first. */
export async function listDeliveries(sql: Sql, filter: DeliveryFilter): Promise<DeliveryRow[]> {
  const byType = filter.eventType !== undefined;
  const params = [filter.merchantId, filter.endpointId, filter.before ?? afterAllIds, filter.limit];
  return await sql.rows<DeliveryRow>(listText(filter.state, byType), byType ? [...params, filter.eventType] : params);
}

/** A delivery of an endpoint in any state. */
export async function findDeliveryOf(sql: Sql, lane: LaneKey, id: string): Promise<DeliveryRow | undefined> {
  const where = "merchant_id = $1 and endpoint_id = $2 and id = $3";
  const [row] = await sql.rows<DeliveryRow>(
    `select ${pendingColumns} from delivery_queue where ${where}
     union all select ${finishedColumns} from deliveries where ${where} limit 1`,
    [lane.merchantId, lane.endpointId, id],
  );
  return row;
}

// A payment has a handful of events and at most 16 endpoints in its environment.
const paymentDeliveriesMax = 200;

/** The deliveries of a payment's events to the owner's endpoints, deleted ones included, newest first. */
export async function listPaymentDeliveries(
  sql: Sql,
  owner: Owner,
  paymentId: string,
): Promise<(DeliveryRow & { readonly endpoint_id: string })[]> {
  return await sql.rows(
    `select d.* from (
       select endpoint_id, ${pendingColumns} from delivery_queue where merchant_id = $1 and payment_id = $2
       union all
       select endpoint_id, ${finishedColumns} from deliveries where merchant_id = $1 and payment_id = $2) as d
     join endpoints e on e.merchant_id = $1 and e.id = d.endpoint_id and e.environment = $3
     order by d.id desc, d.endpoint_id limit ${paymentDeliveriesMax}`,
    [owner.merchantId, paymentId, owner.environment],
  );
}

/** Counts are int8 as text. */
export interface HealthRow {
  readonly delivered: string;
  readonly failed: string;
  readonly pending: string;
  readonly attempts: string;
  readonly oldest_pending_at: string | null;
}

/** @param fromId smallest id that is counted; the oldest pending delivery is searched among all */
export async function endpointHealth(sql: Sql, lane: LaneKey, fromId: string): Promise<HealthRow | undefined> {
  const [row] = await sql.rows<HealthRow>(
    `select count(*) filter (where state = 'delivered') as delivered, count(*) filter (where state = 'failed') as failed,
       count(*) filter (where state = 'pending') as pending, coalesce(sum(attempts), 0) as attempts,
       (select min(created_at) from delivery_queue where merchant_id = $1 and endpoint_id = $2) as oldest_pending_at
     from (
       select state, attempts from deliveries where merchant_id = $1 and endpoint_id = $2 and id >= $3
       union all
       select 'pending', attempts from delivery_queue where merchant_id = $1 and endpoint_id = $2 and id >= $3) as d`,
    [lane.merchantId, lane.endpointId, fromId],
  );
  return row;
}

const countedMax = 1_000;

/** Failed deliveries by merchant, at most 1,000 of an endpoint. @param fromId smallest id that is counted */
export async function countFailed(
  sql: Sql,
  environment: number,
  merchantIds: readonly string[],
  fromId: string,
): Promise<{ merchantId: string; failed: string }[]> {
  return await sql.rows(
    `select e.merchant_id as "merchantId", sum(d.n)::text as failed from endpoints e cross join lateral (
       select count(*) as n from (select from deliveries d where d.merchant_id = e.merchant_id and d.endpoint_id = e.id
         and d.id >= $3 and d.state = 'failed' limit ${countedMax}) counted) d
     where e.merchant_id = any ($1) and e.environment = $2 group by 1 having sum(d.n) > 0`,
    [merchantIds, environment, fromId],
  );
}

/**
 * Makes a delivery of any state due now with a fresh schedule. Call it in a transaction.
 * @returns false if the delivery does not exist
 */
export async function requeueDelivery(tx: Sql, lane: LaneKey, id: string): Promise<boolean> {
  const key = [lane.merchantId, lane.endpointId, id];
  // The queue comes first: a delivery that finishes in between is found by the second statement.
  const pending = await tx.rows(
    `update delivery_queue set due_at = now(), scheduled_at = now(), tries = 0, trigger = 'manual',
       generation = generation + 1, lease_until = '-infinity', leased_by = null
     where merchant_id = $1 and endpoint_id = $2 and id = $3 returning id`,
    key,
  );
  if (pending.length > 0) return true;
  const finished = await tx.rows(requeueText("id = $3"), key);
  return finished.length > 0;
}

/** The statement that puts finished deliveries of an endpoint ($1, $2) back into the queue, due now. */
export function requeueText(condition: string): string {
  return `with gone as (
       delete from deliveries where merchant_id = $1 and endpoint_id = $2 and ${condition} returning *)
     insert into delivery_queue (${movedColumns}, generation, last_error, trigger)
     select ${movedColumns}, generation + 1, last_error, 'manual' from gone
     returning id`;
}

/** Whether any of the merchant's endpoints has this delivery. */
export async function deliveryExists(sql: Sql, merchantId: string, id: string): Promise<boolean> {
  const rows = await sql.rows(
    `select from endpoints e where e.merchant_id = $1 and (
       exists (select from delivery_queue q where q.merchant_id = $1 and q.endpoint_id = e.id and q.id = $2)
       or exists (select from deliveries d where d.merchant_id = $1 and d.endpoint_id = e.id and d.id = $2))
     limit 1`,
    [merchantId, id],
  );
  return rows.length > 0;
}

/**
 * Takes the object out of the bodies of a payment's deliveries: `data` is null, as for one that could not be read.
 * @param sessionId of a session that ended without an attempt; undefined: none
 */
export async function eraseBodies(
  sql: Sql,
  merchantId: string,
  paymentId: string,
  sessionId: string | undefined,
): Promise<void> {
  await sql.rows("select erase_bodies($1, $2)", [merchantId, paymentId]);
  if (sessionId) await sql.rows("select erase_session_bodies($1, $2)", [merchantId, sessionId]);
}
