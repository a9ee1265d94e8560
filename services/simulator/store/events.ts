// Webhooks to be sent. A claim schedules the next attempt after a lease, so that events of a dead sender become due
// again at the end of the lease or the start of the next sender.
import type { Db } from "./pool.ts";

/** A claimed event, with the reference of its intent. */
export interface DueEvent {
  readonly id: string;
  readonly account: string;
  readonly reference: string;
  readonly type: string;
  readonly body: string;
  readonly attempts: number;
  readonly age_ms: number;
  readonly postponed: boolean;
  readonly newest_first: boolean;
}

const leaseSeconds = 30; // the last event of a claim waits two rounds of 5 s, doubled for duplicates

/** Claims up to `count` due events, oldest first. */
export async function claimEvents(db: Db, count: number): Promise<DueEvent[]> {
  const { rows } = await db.query<DueEvent & { place: number }>({
    name: "claim-events",
    text: `with due as materialized (select id from events where next_attempt_at <= now()
        order by next_attempt_at, case when newest_first then -seq else seq end limit $1 for update skip locked)
      update events e set is_claimed = true, next_attempt_at = now() + interval '${leaseSeconds} seconds'
      from due, intents i where e.id = due.id and i.id = e.intent_id
      returning e.id, e.account, i.reference, e.type, e.body, e.attempts, e.postponed, e.newest_first,
        (extract(epoch from now() - e.created_at) * 1000)::bigint as age_ms,
        case when e.newest_first then -e.seq else e.seq end as place`,
    values: [count],
  });
  return rows.sort((a, b) => a.place - b.place);
}

/** Releases the claims of an earlier sender. There is one sender at a time. */
export async function releaseClaims(db: Db): Promise<void> {
  await db.query(
    "update events set is_claimed = false, next_attempt_at = now() where next_attempt_at is not null and is_claimed",
  );
}

export interface SendResult {
  readonly id: string;
  readonly delivered: boolean;
  readonly error: string | null;
  /** Milliseconds from now; null: no further attempt. */
  readonly retry_ms: number | null;
}

export async function recordResults(db: Db, results: readonly SendResult[]): Promise<void> {
  await db.query({
    name: "record-results",
    text: `update events e set is_claimed = false, attempts = e.attempts + 1, last_error = r.error,
        delivered_at = case when r.delivered then coalesce(e.delivered_at, now()) else e.delivered_at end,
        next_attempt_at = case when e.is_claimed then now() + r.retry_ms * interval '1 millisecond'
          else e.next_attempt_at end -- asked for again meanwhile
      from jsonb_to_recordset($1) as r(id text, delivered boolean, error text, retry_ms bigint) where e.id = r.id`,
    values: [JSON.stringify(results)],
  });
}

/** Postpones an event once, for a fault switch. @param ms null: until it is released */
export async function postponeEvent(db: Db, id: string, ms: number | null, isNewestFirst: boolean): Promise<void> {
  // Reordered events become due together at the end of their window.
  await db.query(
    `update events set is_claimed = false, postponed = true, newest_first = $3, next_attempt_at = case
        when $2::bigint is null then 'infinity'
        when $3 then to_timestamp((floor(extract(epoch from now()) * 1000 / $2) + 1) * $2 / 1000.0)
        else now() + $2 * interval '1 millisecond' end
      where id = $1`,
    [id, ms, isNewestFirst],
  );
}

/** Drops an event for a fault switch; only the event list shows it. */
export async function loseEvent(db: Db, id: string): Promise<void> {
  await db.query(
    `update events set is_claimed = false, postponed = true, next_attempt_at = null, last_error = 'lost by a fault switch'
      where id = $1`,
    [id],
  );
}

export async function releaseEvents(db: Db): Promise<void> {
  await db.query("update events set next_attempt_at = now() where next_attempt_at = 'infinity'");
}

/** Sends an event again in any state. @returns false: no such event */
export async function resendEvent(db: Db, id: string): Promise<boolean> {
  const { rowCount } = await db.query("update events set is_claimed = false, next_attempt_at = now() where id = $1", [
    id,
  ]);
  return rowCount === 1;
}

const listMax = 500; // an intent has about ten

export async function listEvents(db: Db, intentId: string): Promise<object[]> {
  const { rows } = await db.query(
    `select id, type, account, body::json as body, created_at, attempts, delivered_at, last_error,
        next_attempt_at = 'infinity' as is_held, nullif(next_attempt_at, 'infinity') as next_attempt_at
      from events where intent_id = $1 order by seq limit ${listMax}`,
    [intentId],
  );
  return rows;
}

const keepDays = 30; // as long as operators resend events
const sweepMax = 5_000; // rows per round, which keeps the delete short

/** Deletes old finished events. @returns true: there may be more */
export async function sweepEvents(db: Db): Promise<boolean> {
  const { rowCount } = await db.query(`delete from events where id = any(array(select id from events
    where next_attempt_at is null and created_at < now() - interval '${keepDays} days' limit ${sweepMax}))`);
  return rowCount === sweepMax;
}

export interface ListedEvent {
  readonly seq: number;
  readonly created_at: Date;
  /** The exact body of the webhook. */
  readonly body: string;
}

interface EventListPage {
  readonly account: string;
  /** Included. */
  readonly from: Date;
  /** Included. */
  readonly until: Date;
  readonly limit: number;
  /** Last event of the page before. */
  readonly after: { readonly created_at: Date; readonly seq: number };
}

export async function listAccountEvents(db: Db, page: EventListPage): Promise<ListedEvent[]> {
  const { rows } = await db.query<ListedEvent>({
    name: "list-account-events",
    text: `select e.seq, e.created_at, e.body from events e join intents i on i.id = e.intent_id
      where e.account = $1 and e.created_at between $2 and $3
        and e.created_at >= $4 and (e.created_at > $4 or e.seq > $5) and i.lost_at is null
      order by e.created_at, e.seq limit $6`,
    values: [page.account, page.from, page.until, page.after.created_at, page.after.seq, page.limit],
  });
  return rows;
}

/** The newest events up to `until`, oldest first. */
export async function newestAccountEvents(
  db: Db,
  { account, until, limit }: Pick<EventListPage, "account" | "until" | "limit">,
): Promise<ListedEvent[]> {
  const { rows } = await db.query<ListedEvent>({
    name: "newest-account-events",
    text: `select e.seq, e.created_at, e.body from events e join intents i on i.id = e.intent_id
      where e.account = $1 and e.created_at <= $2 and i.lost_at is null
      order by e.created_at desc, e.seq desc limit $3`,
    values: [account, until, limit],
  });
  return rows.reverse();
}
