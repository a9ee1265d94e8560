// The table events by position, the order in which events became visible (schema/0016-event-order.sql). All positions
// up to the newest visible one are final: an event that has none yet gets a greater one.
import type { Database, Sql } from "#platform/database/database.ts";
import { offerDaysMax } from "#platform/events/streams.ts";
import { clockMs } from "#platform/values/clock.ts";
import { idFloor } from "#platform/values/id.ts";
import { listedCodes } from "../rules/event-types.ts";
import { dayMs } from "./partitions.ts";

export interface FeedRow {
  readonly position: string;
  readonly id: string;
  readonly type: string;
  readonly merchant_id: string;
  readonly environment: number;
  readonly body: Buffer;
  readonly version: number | null;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly reference: string | null;
}

export interface FeedFilter {
  readonly types: readonly string[];
  readonly merchantIds: readonly string[];
}

export interface FeedPage {
  readonly rows: readonly FeedRow[];
  readonly nextPosition: bigint;
  readonly hasMore: boolean;
  readonly newest: bigint;
}

// A filter that matches few events reads all that it passes.
const passedMax = 10_000n;

/** The greatest visible position; 0 without events. */
export async function newestPosition(sql: Sql): Promise<bigint> {
  const [row] = await sql.rows<{ newest: string }>(
    "select coalesce(max(position), 0) as newest from events where position is not null",
  );
  return BigInt(row?.newest ?? 0);
}

/** Events after the position, oldest first. @param newest a position that is visible */
export async function listFeed(
  sql: Sql,
  after: bigint,
  newest: bigint,
  { types, merchantIds, limit }: FeedFilter & { readonly limit: number },
): Promise<FeedPage> {
  if (after >= newest) return { rows: [], nextPosition: after, hasMore: false, newest };
  const [next] = await sql.rows<{ first: string }>(
    "select coalesce(min(position), 0) as first from events where position > $1",
    [after],
  );
  const lastPassed = BigInt(next?.first ?? 0) + passedMax - 1n;
  const until = lastPassed < newest ? lastPassed : newest;
  const rows = await sql.rows<FeedRow>(
    `select position, id, type, merchant_id, environment, body, version, amount, currency, reference from events
     where position > $1 and position <= $2 and type = any ($3::text[])
       and ($4::text[] = '{}' or merchant_id = any ($4::text[]))
     order by position limit $5`,
    [after, until, types.length === 0 ? listedCodes : types, merchantIds, limit],
  );
  const last = rows.at(-1);
  const nextPosition = last && rows.length === limit ? BigInt(last.position) : until;
  return { rows, nextPosition, hasMore: nextPosition < newest, newest };
}

/** The position in its stream up to which a durable consumer's events are consumed. */
export interface ConsumedUntil {
  /** `<source>/<name>`. */
  readonly consumer: string;
  readonly seq: number;
}

const unpositioned = "position is null and arrived_at is not null";
// Older events are not accepted, so their partitions are left out.
const oldestId = () => idFloor("event", clockMs() - (offerDaysMax + 1) * dayMs);

export async function hasUnpositioned(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(`select from events where ${unpositioned} and id >= $1 limit 1`, [oldestId()]);
  return rows.length > 0;
}

export const placedMax = 1_000;
// An event before it that cannot be consumed, or is in a stream that was lost, delays an event at most this long: twice
// the pause between two deliveries of an event (event-consumer.ts).
const waitSecondsMax = 120;

/**
 * Gives positions to events whose predecessors are consumed. One transaction at a time does so: from its first position
 * until its commit is visible.
 * @returns how many
 */
export async function positionEvents(db: Database, consumed: readonly ConsumedUntil[]): Promise<number> {
  return await db.transaction(async (tx) => {
    const [last] = await tx.rows<{ position: string }>("select position from event_feed for update");
    const ready = await tx.rows<Pick<FeedRow, "merchant_id" | "environment" | "type" | "id">>(
      `select merchant_id, environment, type, id from events
       where ${unpositioned} and id >= $5 and (
         consumer is null or arrived_at < now() - make_interval(secs => $3)
         or stream_seq <= (select c.seq from unnest($1::text[], $2::bigint[]) as c (name, seq) where c.name = consumer))
       order by consumer, stream_seq, id limit $4`,
      [consumed.map(({ consumer }) => consumer), consumed.map(({ seq }) => seq), waitSecondsMax, placedMax, oldestId()],
    );
    if (ready.length === 0) return 0;
    const ids = ready.map(({ id }) => id);
    const sorted = ids.toSorted();
    await tx.rows(
      // The bounds leave out the partitions of other days.
      `update events e set position = $5 + r.n
       from unnest($1::text[], $2::smallint[], $3::text[], $4::text[]) with ordinality
         as r (merchant_id, environment, type, id, n)
       where (e.merchant_id, e.environment, e.type, e.id) = (r.merchant_id, r.environment, r.type, r.id)
         and e.id between $6 and $7`,
      [
        ready.map((row) => row.merchant_id),
        ready.map((row) => row.environment),
        ready.map((row) => row.type),
        ids,
        last?.position ?? "0",
        sorted[0],
        sorted.at(-1),
      ],
    );
    await tx.rows("update event_feed set position = position + $1", [ready.length]);
    return ready.length;
  });
}
