// The transactional outbox: an event is appended in the transaction of its change, and the relay publishes it after the
// commit.
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { asJson } from "#platform/database/batch.ts";
import { type Database, hexOf, parseTime, type Sql } from "#platform/database/database.ts";
import { Wake } from "#platform/process/job.ts";
import { callContext } from "#platform/values/call-context.ts";
import { newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Source } from "../../services.ts";
import type { AnnouncementClaim } from "./event-message.ts";
import { eventSubject, outboxKeepDays } from "./streams.ts";

/** A state change to announce. The envelope is events.v1.Event. */
export interface Announcement {
  readonly type: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly objectId: string;
  readonly status: string;
  readonly at: Date;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly money?: { readonly amount: bigint; readonly currency: string };
  readonly reference?: string;
}

/** Outbox rows, for statements that insert them together with the change itself. */
export interface OutboxRows {
  readonly ids: string[];
  readonly subjects: string[];
  readonly bodies: Buffer[];
}

/** As JSON rows for `jsonb_to_recordset(…) as e (event_id text, subject text, body bytea)`. */
export function eventsJson({ ids, subjects, bodies }: OutboxRows) {
  return ids.map((event_id, i) => ({ event_id, subject: subjects[i], body: hexOf(bodies[i] ?? Buffer.alloc(0)) }));
}

export class Outbox {
  readonly #namespace: string;
  readonly source: Source;
  /** Wakes this process's relay. */
  readonly relay = new Wake();

  constructor(options: { namespace: string; source: Source }) {
    this.#namespace = options.namespace;
    this.source = options.source;
  }

  toRows(announcements: readonly Announcement[]): OutboxRows {
    const rows: OutboxRows = { ids: [], subjects: [], bodies: [] };
    const context = callContext.getStore();
    for (const a of announcements) {
      const id = newId("event");
      const { at, ...facts } = a;
      const event = create(EventSchema, {
        ...facts,
        ...{ id, source: this.source },
        occurredAt: timestampFromDate(at),
        attributes: { ...a.attributes, ...(context?.claimedActor && { said_actor: context.claimedActor }) },
        traceparent: context?.traceparent ?? "",
        requestId: context?.requestId ?? "",
        actor: context?.actor ?? "",
      });
      rows.ids.push(id);
      rows.subjects.push(eventSubject(this.#namespace, this.source, a.type));
      rows.bodies.push(Buffer.from(toBinary(EventSchema, event)));
    }
    return rows;
  }

  /** Appends the announcements in the caller's transaction. */
  async append(sql: Sql, announcements: readonly Announcement[]): Promise<void> {
    if (announcements.length === 0) return;
    const { ids, subjects, bodies } = this.toRows(announcements);
    await sql.rows(
      `insert into outbox (event_id, subject, body) select * from unnest($1::text[], $2::text[], $3::bytea[])`,
      [ids, subjects, bodies],
    );
  }

  /** Wakes the relay; call it after the commit. */
  wake(): void {
    this.relay.now();
  }
}

const sweepMax = 5_000;

/** Digests of the claims whose event was appended with exactly these bytes. */
export async function announcedDigests(sql: Sql, claims: readonly AnnouncementClaim[]): Promise<Buffer<ArrayBuffer>[]> {
  // One lookup per claim (offset 0): a join planned on an empty outbox would keep reading and hashing the whole table.
  const rows = await sql.rows<{ digest: Buffer<ArrayBuffer> }>(
    `select claim.digest from jsonb_to_recordset($1) as claim (event_id text, digest bytea),
       lateral (select body from outbox where event_id = claim.event_id offset 0) as announced
     where sha256(announced.body) = claim.digest`,
    [asJson(claims.map(({ eventId, digest }) => ({ event_id: eventId, digest: hexOf(Buffer.from(digest)) })))],
  );
  return rows.map(({ digest }) => digest);
}

/** Unpublished events and the age of the oldest; `oldestSeconds` by the database's clock, 0 without events. */
export async function outboxState(
  sql: Sql,
): Promise<{ waiting: number; oldestAt: Date | null; oldestSeconds: number }> {
  const [row] = await sql.rows<{ waiting: number; oldest_at: string | null; oldest_seconds: number }>(
    `select count(*)::int as waiting, min(created_at) as oldest_at,
       coalesce(greatest(extract(epoch from now() - min(created_at)), 0), 0)::float8 as oldest_seconds
     from outbox where published_at is null`,
  );
  return {
    waiting: row?.waiting ?? 0,
    oldestAt: parseTime(row?.oldest_at ?? null),
    oldestSeconds: row?.oldest_seconds ?? 0,
  };
}

/** Deletes published rows after their retention. */
export async function sweepOutbox(db: Database): Promise<boolean> {
  const rows = await db.rows(
    `delete from outbox where seq in (
       select seq from outbox where published_at < now() - make_interval(days => $1) order by published_at limit $2)
     returning seq`,
    [outboxKeepDays, sweepMax],
  );
  return rows.length === sweepMax;
}
