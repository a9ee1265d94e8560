// The table attempts. One statement logs attempts, moves finished deliveries to their history and reschedules the rest.
import type { Sql } from "#platform/database/database.ts";
import { failingTries, type Verdict } from "../rules/delivery.ts";
import { type DueDelivery, type LaneKey, movedColumns, type Trigger } from "./delivery-queue.ts";

/** Times in milliseconds; 0 if the phase did not happen or the connection was reused. */
export interface AttemptLog {
  readonly errorCode: string;
  readonly durationMs: number;
  readonly dnsMs: number;
  readonly connectMs: number;
  readonly tlsMs: number;
  readonly firstByteMs: number;
  readonly remoteIp: string;
  readonly isReused: boolean;
  /** The start of a refusing answer's body, at most 1 KiB. */
  readonly snippet: string;
}

export interface FinishedAttempt {
  readonly delivery: DueDelivery;
  readonly verdict: Verdict;
  readonly log: AttemptLog;
}

/** A delivery that was given up (`isExhausted`) or has failed for an hour. */
export interface Trouble extends LaneKey {
  readonly id: string;
  readonly isExhausted: boolean;
  readonly endpointUrl: string;
  readonly eventType: string;
  readonly lastError: string;
  readonly environment: 1 | 2;
}

const troubleColumns = `t.merchant_id as "merchantId", t.endpoint_id as "endpointId", t.id, t.event_type as "eventType",
  t.last_error as "lastError", t.is_exhausted as "isExhausted", e.environment, e.url as "endpointUrl"`;

// A success ends the delivery even if another process holds the lease now. A failure counts only for the lease holder,
// since another process may be sending again. A manual retry in between starts a new generation, which neither ends.
const recordText = `with done as (
  select * from unnest($2::text[], $3::text[], $4::text[], $5::int[], $6::text[], $7::int[], $8::text[], $9::float8[],
    $10::text[], $11::text[], $12::int[], $13::int[], $14::int[], $15::int[], $16::int[], $17::text[], $18::bool[], $19::text[])
  as d (merchant_id, endpoint_id, id, generation, verdict, status_code, last_error, pause_ms,
    trigger, error_code, duration_ms, dns_ms, connect_ms, tls_ms, first_byte_ms, remote_ip, reused, snippet)
), gone as (
  delete from delivery_queue q using done d
  where q.merchant_id = d.merchant_id and q.endpoint_id = d.endpoint_id and q.id = d.id and q.generation = d.generation
    and (d.verdict = 'delivered' or (d.verdict = 'failed' and q.leased_by = $1))
  returning q.merchant_id, q.endpoint_id, q.id, q.event_id, q.event_type, q.payment_id, q.body, q.attempts + 1 as attempts,
    q.generation, d.verdict as state, d.status_code, d.last_error, q.created_at
), kept as (
  insert into deliveries (${movedColumns}, generation, state, last_error)
  select ${movedColumns}, generation, state, last_error from gone
), again as (
  update delivery_queue q set
    due_at = now() + make_interval(secs => d.pause_ms / 1000),
    tries = q.tries + (d.verdict = 'retry')::int,
    attempts = q.attempts + (d.verdict = 'retry')::int,
    status_code = case when d.verdict = 'retry' then d.status_code else q.status_code end,
    last_error = case when d.verdict = 'retry' then d.last_error else q.last_error end,
    trigger = case when d.verdict = 'retry' then 'auto' else q.trigger end,
    lease_until = '-infinity'
  from done d
  where q.merchant_id = d.merchant_id and q.endpoint_id = d.endpoint_id and q.id = d.id and q.generation = d.generation
    and q.leased_by = $1 and d.verdict in ('retry', 'postponed')
  returning q.merchant_id, q.endpoint_id, q.id, q.event_type, q.last_error, q.tries, d.verdict
), logged as (
  insert into attempts (merchant_id, delivery_id, started_at, trigger, status_code, error_code, duration_ms, dns_ms, connect_ms,
    tls_ms, first_byte_ms, remote_ip, reused, response_snippet)
  select merchant_id, id, now() - make_interval(secs => duration_ms / 1000.0), trigger, status_code, error_code, duration_ms,
    dns_ms, connect_ms, tls_ms, first_byte_ms, remote_ip, reused, snippet
  from done where verdict <> 'postponed'
), troubles as (
  select merchant_id, endpoint_id, id, event_type, last_error, true as is_exhausted from gone where state = 'failed'
  union all
  select merchant_id, endpoint_id, id, event_type, last_error, false from again where verdict = 'retry' and tries = $20
)
select ${troubleColumns}
from troubles t join endpoints e on e.merchant_id = t.merchant_id and e.id = t.endpoint_id`;

/**
 * Records attempts and their deliveries' new states.
 * @param owner the process that held the claims
 * @returns the deliveries that this call gave up, and those that have failed for an hour with this attempt
 */
export async function recordAttempts(
  sql: Sql,
  owner: string,
  attempts: readonly FinishedAttempt[],
): Promise<Trouble[]> {
  return await sql.rows<Trouble>(recordText, [
    owner,
    attempts.map((a) => a.delivery.merchantId),
    attempts.map((a) => a.delivery.endpointId),
    attempts.map((a) => a.delivery.id),
    attempts.map((a) => a.delivery.generation),
    attempts.map((a) => a.verdict.kind),
    attempts.map((a) => ("statusCode" in a.verdict ? a.verdict.statusCode : 0)),
    attempts.map((a) => ("lastError" in a.verdict ? a.verdict.lastError : "")),
    attempts.map((a) => ("pauseMs" in a.verdict ? a.verdict.pauseMs : 0)),
    attempts.map((a) => a.delivery.trigger),
    attempts.map((a) => a.log.errorCode),
    attempts.map((a) => Math.round(a.log.durationMs)),
    attempts.map((a) => Math.round(a.log.dnsMs)),
    attempts.map((a) => Math.round(a.log.connectMs)),
    attempts.map((a) => Math.round(a.log.tlsMs)),
    attempts.map((a) => Math.round(a.log.firstByteMs)),
    attempts.map((a) => a.log.remoteIp),
    attempts.map((a) => a.log.isReused),
    attempts.map((a) => a.log.snippet),
    failingTries,
  ]);
}

export interface AttemptRow {
  readonly started_at: string;
  readonly trigger: Trigger;
  readonly status_code: number;
  readonly error_code: string;
  readonly duration_ms: number;
  readonly dns_ms: number;
  readonly connect_ms: number;
  readonly tls_ms: number;
  readonly first_byte_ms: number;
  readonly response_snippet: string;
}

// A delivery has 78 attempts, and 78 more after each manual retry; operators need the latest.
const attemptsShownMax = 100;

/** The attempts of a delivery, newest first, at most 100. */
export async function listAttempts(sql: Sql, merchantId: string, deliveryId: string): Promise<AttemptRow[]> {
  return await sql.rows<AttemptRow>(
    `select started_at, trigger, status_code, error_code, duration_ms, dns_ms, connect_ms, tls_ms, first_byte_ms,
       response_snippet
     from attempts where merchant_id = $1 and delivery_id = $2 order by started_at desc limit ${attemptsShownMax}`,
    [merchantId, deliveryId],
  );
}

// Keeps each statement far below the statement timeout.
const giveUpMax = 1_000;

/**
 * Gives up pending deliveries whose schedule began longer ago than `ageMs`, if their endpoint was active all the time.
 * A silent endpoint's lane is probed so rarely that such a delivery may never have its turn.
 * @returns the deliveries that were given up
 */
export async function giveUpOverdue(sql: Sql, ageMs: number): Promise<Trouble[]> {
  return await sql.rows<Trouble>(
    `with overdue as (
       select q.merchant_id, q.endpoint_id, q.id from delivery_queue q
       join endpoints e on e.merchant_id = q.merchant_id and e.id = q.endpoint_id
       where q.scheduled_at < now() - make_interval(secs => $1) and q.lease_until <= now()
         and e.status = 'active' and e.status_changed_at < now() - make_interval(secs => $1) and e.deleted_at is null
       limit ${giveUpMax} for update of q skip locked
     ), gone as (
       delete from delivery_queue q using overdue o
       where q.merchant_id = o.merchant_id and q.endpoint_id = o.endpoint_id and q.id = o.id
       returning q.*
     ), ended as (
       select *, coalesce(nullif(last_error, ''), 'not_attempted: the endpoint has not answered for too long') as error
       from gone
     ), kept as (
       insert into deliveries (${movedColumns}, generation, state, last_error)
       select ${movedColumns}, generation, 'failed', error from ended
       returning merchant_id, endpoint_id, id, event_type, last_error, true as is_exhausted
     )
     select ${troubleColumns} from kept t join endpoints e on e.merchant_id = t.merchant_id and e.id = t.endpoint_id`,
    [ageMs / 1_000],
  );
}
