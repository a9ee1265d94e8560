// The table awaited_objects: deliveries whose object is still to be read. The statements that consume and replay events
// (delivery-queue.ts, replay-runs.ts) insert them; once the body is complete they move to delivery_queue.
import type { Sql } from "#platform/database/database.ts";
import { deliveryIdText, type LaneKey } from "./delivery-queue.ts";

interface EventOf {
  readonly paymentId: string | null;
  /** Body of the event for endpoints with the payload `reference`. */
  readonly reference: Buffer;
  /** Of the payment at the event; 0: unknown. */
  readonly version: number;
}

export interface AwaitedObject extends LaneKey, EventOf {
  readonly eventId: string;
  readonly environment: 1 | 2;
  readonly eventType: string;
  readonly ageSeconds: number;
}

/** One batch read of a service's objects, each of at most 64 KiB. */
export const claimMax = 100;
// Several times the deadline of a read. Also the pause after one that failed.
const pauseSeconds = 20;

/** Claims deliveries whose object is to be read now, oldest first. A claim ends by itself. */
export async function claimAwaited(sql: Sql): Promise<AwaitedObject[]> {
  const claimed = await sql.rows<Omit<AwaitedObject, keyof EventOf>>(
    `with picked as materialized (
       select merchant_id, endpoint_id, event_id from awaited_objects where due_at <= now()
       order by due_at limit ${claimMax} for update skip locked)
     update awaited_objects a set due_at = now() + make_interval(secs => ${pauseSeconds}) from picked p
     where a.merchant_id = p.merchant_id and a.endpoint_id = p.endpoint_id and a.event_id = p.event_id
     returning a.merchant_id as "merchantId", a.endpoint_id as "endpointId", a.event_id as "eventId", a.environment,
       a.event_type as "eventType", extract(epoch from now() - a.created_at)::float8 as "ageSeconds"`,
  );
  if (claimed.length === 0) return [];
  // A statement of its own: one on all partitions of events for each look would be in the way of dropping old ones.
  const events = await sql.rows<EventOf & { id: string }>(
    `select e.id, e.payment_id as "paymentId", e.body as reference, coalesce(e.version, 0) as version
     from unnest($1::text[], $2::smallint[], $3::text[], $4::text[]) as c (merchant_id, environment, type, id)
     join events e using (merchant_id, environment, type, id)`,
    [
      claimed.map((each) => each.merchantId),
      claimed.map((each) => each.environment),
      claimed.map((each) => each.eventType),
      claimed.map((each) => each.eventId),
    ],
  );
  const byId = new Map(events.map(({ id, ...event }) => [id, event]));
  return claimed.flatMap((one) => {
    const event = byId.get(one.eventId);
    return event ? [{ ...one, ...event }] : [];
  });
}

/**
 * Queues the deliveries with their complete bodies, due now, in one statement. A deleted endpoint gets none, and a
 * delivery that exists already stays as it is. @returns the lanes that have work now
 */
export async function queueObjects(
  sql: Sql,
  built: readonly (Pick<AwaitedObject, keyof LaneKey | "eventId" | "paymentId"> & { readonly body: Buffer })[],
): Promise<LaneKey[]> {
  return await sql.rows(
    `with built as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[])
         as b (merchant_id, endpoint_id, event_id, payment_id, body)
     ), gone as (
       delete from awaited_objects a using built b
       where a.merchant_id = b.merchant_id and a.endpoint_id = b.endpoint_id and a.event_id = b.event_id
       returning a.*, b.payment_id, b.body, ${deliveryIdText("a.event_id", "a.endpoint_id")} as id)
     insert into delivery_queue
       (merchant_id, endpoint_id, id, event_id, event_type, payment_id, body, traceparent, trigger)
     select g.merchant_id, g.endpoint_id, g.id, g.event_id, g.event_type, g.payment_id, g.body, g.traceparent, g.trigger
     from gone g join endpoints e on e.merchant_id = g.merchant_id and e.id = g.endpoint_id and e.deleted_at is null
     where not exists (select from deliveries d
       where d.merchant_id = g.merchant_id and d.endpoint_id = g.endpoint_id and d.id = g.id offset 0)
     on conflict do nothing
     returning merchant_id as "merchantId", endpoint_id as "endpointId"`,
    [
      built.map((each) => each.merchantId),
      built.map((each) => each.endpointId),
      built.map((each) => each.eventId),
      built.map((each) => each.paymentId),
      built.map((each) => each.body),
    ],
  );
}

/** Age of the oldest delivery that waits for its object, in seconds; 0 without any. */
export async function oldestAwaited(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ seconds: number }>(
    "select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds from awaited_objects",
  );
  return row?.seconds ?? 0;
}

// As long as the events, which the bodies are made of.
const keepDays = 30;

/** Deletes what waits longer than its event is kept. */
export async function sweepAwaited(sql: Sql): Promise<void> {
  await sql.rows("delete from awaited_objects where created_at < now() - make_interval(days => $1)", [keepDays]);
}
