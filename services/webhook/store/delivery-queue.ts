// The table delivery_queue: every pending delivery and its lease. All times are the database's.
import type { Sql } from "#platform/database/database.ts";

/** A delivery that this process has leased. */
export interface DueDelivery {
  readonly merchantId: string;
  readonly endpointId: string;
  readonly id: string;
  readonly eventType: string;
  /** The exact bytes to sign and send. */
  readonly body: Buffer;
  readonly trigger: Trigger;
  readonly generation: number;
  /** Failed attempts since the schedule began. */
  readonly tries: number;
  /** Milliseconds from the start of the schedule to the claim. */
  readonly ageMs: number;
  /** W3C traceparent of the call that caused the event, or null. */
  readonly traceparent: string | null;
}

export type Trigger = "auto" | "manual" | "test";

export interface FanOutEvent {
  readonly eventId: string;
  /** Its place in the stream. */
  readonly streamSeq: number;
  readonly merchantId: string;
  readonly environment: number;
  readonly type: string;
  /** May be empty. */
  readonly paymentId: string;
  readonly body: Buffer;
  /** May be empty. */
  readonly traceparent: string;
  /** Of the payment; undefined for a session's event. */
  readonly version: number | undefined;
  readonly money: { readonly amount: bigint; readonly currency: string } | undefined;
  /** May be empty. */
  readonly reference: string;
}

/** A delivery's id as SQL, made of event and endpoint: the key is the rule "one delivery per event and endpoint". */
export const deliveryIdText = (eventId: string, endpointId: string) =>
  `'whd_' || substr(${eventId}, 5, 10) || left(encode(sha256(convert_to(${eventId} || ${endpointId}, 'UTF8')), 'hex'), 16)`;

/** Columns that move unchanged between delivery_queue and deliveries. */
export const movedColumns =
  "merchant_id, endpoint_id, id, event_id, event_type, payment_id, body, attempts, status_code, created_at";

const dueColumns = `q.merchant_id as "merchantId", q.endpoint_id as "endpointId", q.id, q.event_type as "eventType",
  q.trigger, q.generation, q.tries, q.traceparent,
  (extract(epoch from now() - q.scheduled_at) * 1000)::float8 as "ageMs"`;

/**
 * Consumes events in one statement: records them in the inbox and the table events, and queues a delivery to each
 * active subscribed endpoint of the event's environment; where it shows the object, that is read first. An event that
 * the inbox contains changes nothing.
 * @param options.fullLanes endpoints whose deliveries are not claimed now
 * @returns the deliveries that `owner` has claimed
 */
export async function queueEvents(
  sql: Sql,
  options: {
    readonly source: string;
    readonly consumer: string;
    readonly events: readonly FanOutEvent[];
    readonly owner: string;
    readonly leaseSeconds: number;
    readonly fullLanes: readonly string[];
    /** If false, nothing is claimed. */
    readonly isClaiming: boolean;
  },
): Promise<DueDelivery[]> {
  const { events } = options;
  const rows = await sql.rows<Omit<DueDelivery, "body"> & { eventId: string }>(
    `with arrived as (
       select * from unnest($2::text[], $3::text[], $4::smallint[], $5::text[], $6::text[], $7::bytea[], $12::text[],
           $13::int[], $14::bigint[], $15::text[], $16::text[], $17::bigint[])
         as a (event_id, merchant_id, environment, event_type, payment_id, body, traceparent,
           version, amount, currency, reference, stream_seq)
     ), fresh as (
       insert into inbox (consumer, event_id) select $1, event_id from arrived on conflict do nothing returning event_id
     ), listed as (
       insert into events
         (merchant_id, environment, type, id, payment_id, body, version, amount, currency, reference, consumer, stream_seq)
       select merchant_id, environment, event_type, event_id, nullif(payment_id, ''), body,
         version, amount, currency, reference, $18 || '/' || $1, stream_seq
       from fresh join arrived using (event_id)
       on conflict do nothing
     ), wanted as (
       select a.*, e.id as endpoint_id, e.payload from fresh join arrived a using (event_id)
       join endpoints e on e.merchant_id = a.merchant_id and e.environment = a.environment
         and e.status = 'active' and e.deleted_at is null and a.event_type = any (e.event_types)
     ), awaited as (
       insert into awaited_objects (merchant_id, endpoint_id, event_id, environment, event_type, trigger, traceparent)
       select merchant_id, endpoint_id, event_id, environment, event_type, 'auto', nullif(traceparent, '') from wanted
       where payload = 'object'
       on conflict do nothing
     ), q as (
       insert into delivery_queue
         (merchant_id, endpoint_id, id, event_id, event_type, payment_id, body, traceparent, lease_until, leased_by)
       select merchant_id, endpoint_id, ${deliveryIdText("event_id", "endpoint_id")},
         event_id, event_type, nullif(payment_id, ''), body, nullif(traceparent, ''),
         case when endpoint_id = any ($9::text[]) or not $10 then '-infinity' else now() + make_interval(secs => $11) end,
         $8
       from wanted where payload = 'reference'
       on conflict do nothing
       returning *
     )
     select ${dueColumns}, q.event_id as "eventId" from q where q.lease_until > now()`,
    [
      options.consumer,
      events.map((e) => e.eventId),
      events.map((e) => e.merchantId),
      events.map((e) => e.environment),
      events.map((e) => e.type),
      events.map((e) => e.paymentId),
      events.map((e) => e.body),
      options.owner,
      options.fullLanes,
      options.isClaiming,
      options.leaseSeconds,
      events.map((e) => e.traceparent),
      events.map((e) => e.version ?? null),
      events.map((e) => e.money?.amount ?? null),
      events.map((e) => e.money?.currency ?? null),
      events.map((e) => e.reference || null),
      events.map((e) => e.streamSeq),
      options.source,
    ],
  );
  // All deliveries of an event share the bytes that are here already, so the statement does not return them.
  const bodies = new Map(events.map((e) => [e.eventId, e.body]));
  return rows.flatMap(({ eventId, ...delivery }) => {
    const body = bodies.get(eventId);
    return body ? [{ ...delivery, body }] : [];
  });
}

/** Queues a test event without a claim. */
export async function queueTestEvent(
  sql: Sql,
  delivery: { merchantId: string; endpointId: string; id: string; body: Buffer },
): Promise<void> {
  await sql.rows(
    `insert into delivery_queue (merchant_id, endpoint_id, id, event_type, body, trigger)
     values ($1, $2, $3, 'test.ping', $4, 'test')`,
    [delivery.merchantId, delivery.endpointId, delivery.id, delivery.body],
  );
}

/** A lane is the queue of one endpoint. */
export interface LaneKey {
  readonly merchantId: string;
  readonly endpointId: string;
}

// The condition of the partial index of lanes (schema 0005). A statement without it uses the primary key.
const byLane = "due_at > '-infinity'";

// Goes from lane to lane with one index read each, whatever their length. $1, $2: the lane to start after; $3: how
// many.
const walkText = `with recursive lane as (
    (select merchant_id, endpoint_id, due_at, 1 as n from delivery_queue
     where (merchant_id, endpoint_id) > ($1, $2) and ${byLane}
     order by merchant_id, endpoint_id, due_at, id limit 1)
    union all
    select next.merchant_id, next.endpoint_id, next.due_at, lane.n + 1 from lane
    cross join lateral (
      select merchant_id, endpoint_id, due_at from delivery_queue q
      where (q.merchant_id, q.endpoint_id) > (lane.merchant_id, lane.endpoint_id) and q.${byLane}
      order by q.merchant_id, q.endpoint_id, q.due_at, q.id limit 1) next
    where lane.n < $3
  )`;

const laneColumns = `lane.merchant_id as "merchantId", lane.endpoint_id as "endpointId"`;

/**
 * Lists lanes by key. `isDue`: the oldest delivery is due, though perhaps claimed already.
 * @param after the last lane of the previous call; undefined starts at the first lane
 */
export async function walkLanes(
  sql: Sql,
  lanesMax: number,
  after: LaneKey | undefined,
): Promise<(LaneKey & { readonly isDue: boolean })[]> {
  return await sql.rows(`${walkText} select ${laneColumns}, due_at <= now() as "isDue" from lane`, [
    after?.merchantId ?? "",
    after?.endpointId ?? "",
    lanesMax,
  ]);
}

// One index read per lane: 20,000 lanes take about 60 ms.
const measuredMax = 20_000;

/** Lateness of the oldest due delivery of each active endpoint. */
export async function oldestDue(sql: Sql): Promise<(LaneKey & { readonly lateSeconds: number })[]> {
  return await sql.rows(
    `${walkText}
     select ${laneColumns}, extract(epoch from now() - due_at)::float8 as "lateSeconds"
     from lane join endpoints e on e.merchant_id = lane.merchant_id and e.id = lane.endpoint_id
     where due_at <= now() and e.status = 'active' and e.deleted_at is null`,
    ["", "", measuredMax],
  );
}

/** PostgreSQL's own estimate of the pending deliveries; counting a million rows takes too long. */
export async function queueEstimate(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ n: number }>(
    "select n_live_tup::float8 as n from pg_stat_user_tables where relname = 'delivery_queue'",
  );
  return row?.n ?? 0;
}

export interface LaneQuota extends LaneKey {
  readonly wanted: number;
}

/** Claims due deliveries lane by lane: a long backlog never hides another lane's work. */
export async function claimDue(
  sql: Sql,
  options: {
    readonly lanes: readonly LaneQuota[];
    readonly owner: string;
    readonly leaseSeconds: number;
    readonly totalMax: number;
  },
): Promise<DueDelivery[]> {
  // MATERIALIZED: as a plain subquery the limit with SKIP LOCKED may be evaluated again and exceeded.
  return await sql.rows<DueDelivery>(
    `with pick as materialized (
       select c.merchant_id, c.endpoint_id, c.id
       from unnest($1::text[], $2::text[], $3::int[]) as lane (merchant_id, endpoint_id, wanted)
       cross join lateral (
         select merchant_id, endpoint_id, id from delivery_queue
         where merchant_id = lane.merchant_id and endpoint_id = lane.endpoint_id
           and ${byLane} and due_at <= now() and lease_until <= now()
         order by due_at, id limit lane.wanted for update skip locked) c
       limit $4)
     update delivery_queue q
     set lease_until = now() + make_interval(secs => $6), leased_by = $5
     from pick where q.merchant_id = pick.merchant_id and q.endpoint_id = pick.endpoint_id and q.id = pick.id
     returning ${dueColumns}, q.body`,
    [
      options.lanes.map((l) => l.merchantId),
      options.lanes.map((l) => l.endpointId),
      options.lanes.map((l) => l.wanted),
      options.totalMax,
      options.owner,
      options.leaseSeconds,
    ],
  );
}

/** Ends claims early; any process may then claim the deliveries at once. */
export async function releaseClaims(sql: Sql, deliveries: readonly DueDelivery[], owner: string): Promise<void> {
  await sql.rows(
    `update delivery_queue q set lease_until = '-infinity'
     from unnest($1::text[], $2::text[], $3::text[], $4::int[]) as r (merchant_id, endpoint_id, id, generation)
     where q.merchant_id = r.merchant_id and q.endpoint_id = r.endpoint_id and q.id = r.id
       and q.generation = r.generation and q.leased_by = $5`,
    [
      deliveries.map((d) => d.merchantId),
      deliveries.map((d) => d.endpointId),
      deliveries.map((d) => d.id),
      deliveries.map((d) => d.generation),
      owner,
    ],
  );
}

// Keeps each statement far below the statement timeout.
const sweepMax = 5_000;

/** Deletes pending deliveries that are older than the id. @returns true if there may be more */
export async function dropExpiredFromQueue(sql: Sql, beforeId: string): Promise<boolean> {
  const rows = await sql.rows(
    `delete from delivery_queue where (merchant_id, endpoint_id, id) in (
       select merchant_id, endpoint_id, id from delivery_queue where id < $1 limit ${sweepMax})
     returning id`,
    [beforeId],
  );
  return rows.length === sweepMax;
}

/** Deletes pending deliveries of deleted endpoints (docs/contract.md §9). @returns true if there may be more */
export async function dropQueueOfDeleted(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `delete from delivery_queue where (merchant_id, endpoint_id, id) in (
       select q.merchant_id, q.endpoint_id, q.id from endpoints e
       join delivery_queue q on q.merchant_id = e.merchant_id and q.endpoint_id = e.id
       where e.deleted_at is not null limit ${sweepMax})
     returning id`,
  );
  return rows.length === sweepMax;
}
