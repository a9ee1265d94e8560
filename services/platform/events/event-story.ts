// What a service's database knows of one event: its own announcement, and which of its consumers have taken it in. By
// unique keys alone.
import { fromBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { durableConsumers } from "#platform/broker/streams.ts";
import { parseTime, type Sql } from "#platform/database/database.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";

/** @param eventId of any service's event */
export async function readEventStory(sql: Sql, eventId: string) {
  const [announced, consumed] = await Promise.all([announcedEvent(sql, eventId), consumersOf(sql, eventId)]);
  return { ...(announced && { announced }), takenIn: consumed };
}

async function announcedEvent(sql: Sql, eventId: string) {
  const [row] = await sql.rows<{
    body: Buffer;
    created_at: string;
    published_at: string | null;
    stream_seq: string | null;
  }>("select body, created_at, published_at, stream_seq from outbox where event_id = $1", [eventId]);
  if (!row) return undefined;
  // Attributes stay here: some hold what people wrote.
  const { type, merchantId, objectId, status, actor, requestId, occurredAt } = fromBinary(EventSchema, row.body);
  const published = parseTime(row.published_at);
  return {
    ...{ type, merchantId, objectId, status, actor, requestId },
    ...(occurredAt && { occurredAt }),
    committedAt: timestampFromDate(parseTime(row.created_at)),
    ...(published && { publishedAt: timestampFromDate(published) }),
    streamSequence: BigInt(row.stream_seq ?? 0),
  };
}

/** The key begins with the consumer, so each that there is is named. */
const consumers = [...new Set(Object.values(durableConsumers).map(({ name }) => name))];

async function consumersOf(sql: Sql, eventId: string) {
  const rows = await sql.rows<{ consumer: string; received_at: string }>(
    "select consumer, received_at from inbox where consumer = any($1::text[]) and event_id = $2 order by received_at",
    [consumers, eventId],
  );
  return rows.map(({ consumer, received_at }) => ({ consumer, at: timestampFromDate(parseTime(received_at)) }));
}
