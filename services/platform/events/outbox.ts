// The transactional outbox: an event is appended in the transaction of its change and published by the relay
// afterwards, at least once, in the order of its rows as far as commits allow. A row is never given up on.
import { setTimeout as pause } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Registry } from "prom-client";
import type { StreamSize } from "#platform/broker/make-streams.ts";
import { eventSubject, outboxKeepDays, type Source } from "#platform/broker/streams.ts";
import { asJson } from "#platform/database/batch.ts";
import { type Database, hexOf, parseTime, type Sql } from "#platform/database/database.ts";
import { type JobContext, Wake } from "#platform/jobs/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { callContext } from "#platform/values/call-context.ts";
import { newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { AnnouncementClaim } from "./announced-events.ts";
import type { EventBus } from "./event-bus.ts";
import { RelayPace } from "./relay-pace.ts";
import { markPublished, readRecord } from "./stream-record.ts";
import { StreamCut, StreamWatch } from "./stream-watch.ts";

/** A state change to announce. Its envelope is events.v1.Event. */
export interface Announcement {
  readonly type: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly objectId: string;
  readonly status: string;
  readonly at: Date;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** The rows that `appendEvents` writes, for statements that insert them together with the change itself. */
export interface OutboxRows {
  readonly ids: string[];
  readonly subjects: string[];
  readonly bodies: Buffer[];
}

/** The same in a JSON of rows: `jsonb_to_recordset(…) as e (event_id text, subject text, body bytea)`. */
export function eventsJson({ ids, subjects, bodies }: OutboxRows) {
  return ids.map((event_id, i) => ({ event_id, subject: subjects[i], body: hexOf(bodies[i] ?? Buffer.alloc(0)) }));
}

/** Encodes announcements as outbox rows. */
export class Outbox {
  readonly #namespace: string;
  readonly source: Source;
  /** Wakes the relay of this process. */
  readonly relay = new Wake();

  constructor(options: { namespace: string; source: Source }) {
    this.#namespace = options.namespace;
    this.source = options.source;
  }

  /** The rows of the announcements. */
  toRows(announcements: readonly Announcement[]): OutboxRows {
    const rows: OutboxRows = { ids: [], subjects: [], bodies: [] };
    const context = callContext.getStore();
    for (const a of announcements) {
      const id = newId("event");
      const event = create(EventSchema, {
        id,
        type: a.type,
        source: this.source,
        merchantId: a.merchantId,
        environment: a.environment,
        objectId: a.objectId,
        status: a.status,
        occurredAt: timestampFromDate(a.at),
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

  /** Appends the announcements within the caller's transaction. */
  async append(sql: Sql, announcements: readonly Announcement[]): Promise<void> {
    if (announcements.length === 0) return;
    const { ids, subjects, bodies } = this.toRows(announcements);
    await sql.rows(
      `insert into outbox (event_id, subject, body) select * from unnest($1::text[], $2::text[], $3::bytea[])`,
      [ids, subjects, bodies],
    );
  }

  /** There is work for the relay; call after the commit. */
  wake(): void {
    this.relay.now();
  }
}

// Measured: 1,000 rows a round gain little over 100 per event.
const batchMax = 500;
// What is announced takes back what others believe, so it is not held back for longer after an outage.
const failurePauseMsMax = 500;
const sweepMax = 5_000;

/**
 * One round of the relay: reads unpublished rows, publishes them, waits for every acknowledgement, marks them with
 * their places. There is no cursor, so a transaction that commits late is never passed over, and no claim, so a crash
 * delays nothing: when two replicas publish the same row, the stream keeps one (Nats-Msg-Id).
 * @returns true when there may be more.
 * @throws StreamCut when the stream gave out a place that it had given before: what stood there is lost.
 */
export async function relayOnce(db: Database, bus: EventBus, through = bus.connection): Promise<boolean> {
  const rows = await db.rows<{ seq: string; event_id: string; subject: string; body: Buffer; sent_again: number }>(
    `select seq, event_id, subject, body, sent_again from outbox where published_at is null order by seq limit $1`,
    [batchMax],
  );
  if (rows.length === 0) return false;
  const { epoch, lastSeq } = await readRecord(db);
  // Another connection may lead to a store that was exchanged meanwhile, which nobody has looked at.
  if (bus.connection !== through) return true;
  const sent = await Promise.allSettled(rows.map((row) => bus.publish(row.subject, offerOf(row), row.body)));
  const placed = rows.flatMap(({ seq, event_id: eventId }, i) => {
    const result = sent[i];
    return result?.status === "fulfilled" ? [{ seq, eventId, ...result.value }] : [];
  });
  if (placed.some(({ position, isRepeat }) => !isRepeat && position <= lastSeq)) {
    throw new StreamCut(Math.min(...placed.map(({ position }) => position)) - 1);
  }
  await markPublished(db, epoch, placed);
  const failed = sent.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
  return rows.length === batchMax;
}

/** What the broker drops repeats by: another one each time that an operator has the event sent again. */
function offerOf(row: { readonly event_id: string; readonly sent_again: number }): string {
  return row.sent_again === 0 ? row.event_id : `${row.event_id}.${row.sent_again}`;
}

/** The digests of the claims whose event was appended here with these very bytes. */
export async function announcedDigests(sql: Sql, claims: readonly AnnouncementClaim[]): Promise<Buffer<ArrayBuffer>[]> {
  // Claim by claim (offset 0): planned while the outbox is empty, a join would read and hash all of it ever after.
  const rows = await sql.rows<{ digest: Buffer<ArrayBuffer> }>(
    `select claim.digest from jsonb_to_recordset($1) as claim (event_id text, digest bytea),
       lateral (select body from outbox where event_id = claim.event_id offset 0) as announced
     where sha256(announced.body) = claim.digest`,
    [asJson(claims.map(({ eventId, digest }) => ({ event_id: eventId, digest: hexOf(Buffer.from(digest)) })))],
  );
  return rows.map(({ digest }) => digest);
}

/** How much waits to be published, and since when; `oldestSeconds` by the database's clock, 0: nothing waits. */
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

/** Deletes published rows past their keeping time. */
export async function sweepOutbox(db: Database): Promise<boolean> {
  const rows = await db.rows(
    `delete from outbox where seq in (
       select seq from outbox where published_at < now() - make_interval(days => $1) order by published_at limit $2)
     returning seq`,
    [outboxKeepDays, sweepMax],
  );
  return rows.length === sweepMax;
}

/**
 * The relay, the watch over its stream and the sweeper as jobs. Events leave at once; while the process is busy, they
 * leave together.
 * @param options the size of a new stream; `ackWaitSeconds` of its consumers; `mayPublish` is called before each round
 */
export function outboxJobs(
  db: Database,
  bus: EventBus,
  outbox: Outbox,
  options: StreamSize & {
    readonly ackWaitSeconds?: number;
    readonly log: Log;
    readonly registry?: Registry;
    readonly mayPublish?: () => Promise<boolean>;
  },
): readonly JobContext[] {
  const watch = new StreamWatch({ db, bus, source: outbox.source, ...options });
  const pace = new RelayPace();
  const relay = async () => {
    // To a broker that is silent nothing is sent, so that the first round after it is not held up by those before.
    if (!bus.connected) return false;
    const waitMs = pace.waitMs(performance.now());
    if (waitMs > 0) await pause(waitMs);
    if (options.mayPublish && !(await options.mayPublish())) return false;
    const startedAt = performance.now();
    try {
      return await relayOnce(db, bus, await watch.checkedConnection());
    } catch (error) {
      await watch.checkAfter(error);
      throw error;
    } finally {
      pace.ended(startedAt, performance.now());
    }
  };
  return [
    { name: "relay-outbox", everyMs: 250, failurePauseMsMax, runOnce: relay, wake: outbox.relay },
    watch.job,
    { name: "sweep-outbox", everyMs: 600_000, runOnce: () => sweepOutbox(db) },
  ];
}
