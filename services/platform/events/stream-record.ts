// The table event_stream (the last known state of the stream) and resending of lost outbox rows. Marking rows as
// published and recording a loss both lock the one row of event_stream first, so no row is marked that was sent to a
// stream before the loss.
import { byKey } from "#platform/database/batch.ts";
import type { Database, Sql } from "#platform/database/database.ts";
import { consumerNames, type Finding, type KnownStream, type SeenStream } from "./stream-loss.ts";
import { outboxKeepDays } from "./streams.ts";

/** The stored state and its read time, by the database's clock. */
export interface StreamRecord extends KnownStream {
  readonly epoch: string;
  readonly readAt: string;
}

export async function readRecord(sql: Sql): Promise<StreamRecord> {
  const [row] = await sql.rows<
    Record<"stream" | "made_at" | "epoch" | "last_seq" | "taken_seq" | "read_at", string> & { consumers: string[] }
  >("select stream, made_at, consumers, epoch, last_seq, taken_seq, clock_timestamp() as read_at from event_stream");
  if (!row) throw new Error("event_stream has no row");
  return {
    stream: row.stream,
    madeAt: row.made_at,
    consumers: row.consumers,
    epoch: row.epoch,
    lastSeq: Number(row.last_seq),
    consumedSeq: Number(row.taken_seq),
    readAt: row.read_at,
  };
}

interface PublishedRow {
  /** Outbox sequence. */
  readonly seq: string;
  readonly eventId: string;
  readonly position: number;
}

/**
 * Marks rows as published, unless a loss was recorded since the epoch: then they are resent. A row that disappeared in
 * a failover is not marked, even if its number was reused.
 */
export async function markPublished(sql: Sql, epoch: string, rows: readonly PublishedRow[]): Promise<void> {
  if (rows.length === 0) return;
  await sql.rows(
    `with sent as (
       select * from jsonb_to_recordset($2) as s (each integer, seq bigint, event_id text, place bigint) where each = 1
     ), stream as (
       update event_stream set last_seq = greatest(last_seq, (select max(place) from sent)) where epoch = $1 returning epoch
     )
     update outbox set published_at = now(), stream_seq = sent.place from sent, stream
     where outbox.seq = sent.seq and outbox.event_id = sent.event_id and outbox.published_at is null`,
    [
      epoch,
      byKey(
        rows.map(({ seq, eventId, position: place }) => ({ seq, event_id: eventId, place })),
        "seq",
      ),
    ],
  );
}

/** Stores the state of a complete stream. */
export async function rememberStream(
  sql: Sql,
  { epoch, readAt }: StreamRecord,
  seen: SeenStream,
  found: Extract<Finding, { kind: "whole" }>,
): Promise<void> {
  await sql.rows(
    `update event_stream set stream = $2, made_at = $3, consumers = $4, last_seq = greatest(last_seq, $5), taken_seq = $6,
       looked_at = $7,
       settled_before = case when $8 then $7 when $9 then '-infinity' else settled_before end
     where epoch = $1 and looked_at < $7`,
    [
      epoch,
      seen.stream,
      seen.madeAt,
      consumerNames(seen),
      seen.lastSeq,
      found.consumedSeq,
      readAt,
      found.isSettled,
      found.hasNewConsumer,
    ],
  );
}

/** Which published rows the stream has lost. */
export type StreamLoss =
  | { readonly kind: "another_stream"; readonly seen: SeenStream }
  /** Everything after this position. */
  | { readonly kind: "shorter"; readonly lastSeq: number }
  | { readonly kind: "gaps"; readonly positions: readonly number[] };

// Events that all consumers have consumed are not resent. A row without a position may have been anywhere, and one
// marked after the last check may have been sent to either stream.
const isLost: { readonly [K in StreamLoss["kind"]]: string } = {
  another_stream: "(o.stream_seq is null or o.stream_seq > s.taken_seq or o.published_at > s.looked_at)",
  shorter: "(o.stream_seq is null or o.stream_seq > greatest(s.taken_seq, $4))",
  gaps: "o.stream_seq = any ($4::bigint[])",
};
const batchMax = 5_000;

/**
 * Unpublishes lost rows in batches. Rows marked meanwhile are included in the transaction that records the loss, so a
 * crash repeats the work. Events older than the outbox retention are not resent: consumers may have forgotten them.
 * @returns how many; undefined when another replica recorded this loss
 */
export async function sendLostAgain(db: Database, record: StreamRecord, lost: StreamLoss): Promise<number | undefined> {
  for (let count = 0; ; count += batchMax) {
    const last = await db.transaction(async (tx) => {
      const held = await tx.rows("select from event_stream where epoch = $1 for update", [record.epoch]);
      if (held.length === 0) return "found" as const;
      const sent = await unpublish(tx, lost, record.readAt, batchMax);
      if (sent === batchMax) return undefined;
      const all = count + sent + (await unpublish(tx, lost, "infinity", null));
      // Empty positions remain for days, and their events are resent once.
      if (lost.kind !== "gaps" || all > 0) await rememberLoss(tx, record, lost);
      // Not for a new installation, whose service creates the first stream.
      if (all > 0 || record.stream !== "")
        await tx.rows("update event_stream set lost_at = now() where epoch <> $1", [record.epoch]);
      return all;
    });
    if (last !== undefined) return last === "found" ? undefined : last;
  }
}

async function unpublish(sql: Sql, lost: StreamLoss, publishedBefore: string, limit: number | null): Promise<number> {
  const about = lost.kind === "shorter" ? [lost.lastSeq] : lost.kind === "gaps" ? [lost.positions] : [];
  const rows = await sql.rows(
    `update outbox set published_at = null, stream_seq = null where seq in (
       select o.seq from outbox o, event_stream s
       where o.published_at >= s.settled_before and o.published_at < $1 and ${isLost[lost.kind]}
         and o.created_at > now() - make_interval(days => $2)
       order by o.published_at desc limit $3)
     returning seq`,
    [publishedBefore, outboxKeepDays, limit, ...about],
  );
  return rows.length;
}

async function rememberLoss(sql: Sql, { readAt }: StreamRecord, lost: StreamLoss): Promise<void> {
  if (lost.kind === "another_stream") {
    const { stream, madeAt, lastSeq } = lost.seen;
    await sql.rows(
      `update event_stream set epoch = epoch + 1, stream = $1, made_at = $2, consumers = $3, last_seq = $4, taken_seq = 0,
         settled_before = $5, looked_at = $5`,
      [stream, madeAt, consumerNames(lost.seen), lastSeq, readAt],
    );
  } else if (lost.kind === "shorter") {
    await sql.rows("update event_stream set epoch = epoch + 1, last_seq = $1, taken_seq = least(taken_seq, $1)", [
      lost.lastSeq,
    ]);
  } else {
    await sql.rows("update event_stream set epoch = epoch + 1");
  }
}

/** Time of the last loss in seconds since 1970; 0 if never. */
export async function lastLossSeconds(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ at: number }>(
    "select coalesce(extract(epoch from lost_at), 0)::float8 as at from event_stream",
  );
  return row?.at ?? 0;
}

/** Progress of a durable consumer by its acknowledgements. */
interface ConsumerProgress {
  readonly name: string;
  /** Its filter: a subject, or a prefix (`…>`). */
  readonly follows: string;
  /** It has consumed everything up to this position. */
  readonly consumedSeq: number;
}

/** Seconds since the oldest unconsumed event was published, per consumer; 0 when all are consumed. */
export async function readLagSeconds(sql: Sql, consumers: readonly ConsumerProgress[]): Promise<Map<string, number>> {
  const rows = await sql.rows<{ name: string; seconds: number }>(
    `select c.name, coalesce(extract(epoch from now() - (
       select o.published_at from outbox o, event_stream s
       where o.published_at >= s.settled_before and o.stream_seq > c.taken_seq and starts_with(o.subject, c.follows)
       order by o.published_at limit 1)), 0)::float8 as seconds
     from unnest($1::text[], $2::text[], $3::bigint[]) as c (name, follows, taken_seq)`,
    [
      consumers.map(({ name }) => name),
      consumers.map(({ follows }) => follows.replace(/>$/, "")),
      consumers.map(({ consumedSeq }) => consumedSeq),
    ],
  );
  return new Map(rows.map(({ name, seconds }) => [name, Math.max(0, seconds)]));
}

/**
 * Resends published rows by commit time, whatever the stream contains. Rows published after `asOf` were already resent.
 * @returns how many; a full batch means more may remain
 */
export async function sendAgain(sql: Sql, range: { since: Date; until: Date; asOf: string }): Promise<number> {
  const rows = await sql.rows(
    `update outbox set published_at = null, stream_seq = null, sent_again = sent_again + 1 where seq in (
       select seq from outbox
       where published_at >= $1 and published_at < $3 and created_at >= $1 and created_at < $2
         and created_at > now() - make_interval(days => $4)
       order by published_at limit $5)
     returning seq`,
    [range.since.toISOString(), range.until.toISOString(), range.asOf, outboxKeepDays, batchMax],
  );
  return rows.length;
}
export const sendAgainMax = batchMax;
