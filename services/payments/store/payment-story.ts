// The history of one payment in time order, for the person on call. It contains no ciphertext and no text that the
// merchant or the buyer wrote. Read-only.
import { fromBinary } from "@bufbuild/protobuf";
import type { RowOf } from "#platform/database/columns.ts";
import { parseTime, type Sql } from "#platform/database/database.ts";
import { isId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { rowsOfDocument } from "./archived-rows.ts";
import { paymentColumns } from "./payment-columns.ts";

const entryColumns = paymentColumns.pick("merchantId", "environment", "sessionId", "status");

interface StoryEntry extends RowOf<typeof entryColumns> {
  readonly paymentId: string;
  readonly refundIds: string[];
}

interface StoryLine {
  readonly at: Date;
  readonly part: string;
  readonly id: string;
  readonly what: string;
}

// More than a person on call reads.
const linesMax = 1_000;
// Two rounds of the relay. If more events wait, the alert about the outbox is the better source.
const waitingMax = 1_000;

/**
 * Finds a payment by its own id, its session's or a refund's.
 * @param document JSON of the archive; absent: in the database
 */
export async function findStoryEntry(sql: Sql, objectId: string, document?: string): Promise<StoryEntry | undefined> {
  const condition = isId("refund", objectId)
    ? "p.id = (select payment_id from refunds where id = $1)"
    : isId("session", objectId)
      ? "p.session_id = $1"
      : "p.id = $1";
  const [row] = await sql.rows<{ id: string; refund_ids: string[] }>(
    `${rowsOfDocument(document && "$2")}select p.id, ${entryColumns.names("p")},
       array(select r.id from refunds r where r.payment_id = p.id order by r.created_at, r.id) as refund_ids
     from payments p where ${condition}`,
    [objectId, ...(document === undefined ? [] : [document])],
  );
  return row && { ...entryColumns.read(row), paymentId: row.id, refundIds: row.refund_ids };
}

/** The newest lines, oldest first, then the next steps. */
export async function storyOf(sql: Sql, paymentId: string, document?: string): Promise<StoryLine[]> {
  const rows = await sql.rows<{ at: string; part: string; id: string; what: string }>(
    `${rowsOfDocument(document && "$2")}select * from (${storyText} order by is_ahead desc, at desc, place desc limit ${linesMax}) newest
     order by is_ahead, at, place`,
    [paymentId, ...(document === undefined ? [] : [document])],
  );
  const lines = rows.map(({ at, part, id, what }) => ({ at: parseTime(at), part, id, what }));
  const past = [...lines.filter(({ part }) => part !== "next"), ...(await waitingEvents(sql, paymentId))];
  past.sort((a, b) => a.at.getTime() - b.at.getTime());
  return [...past, ...lines.filter(({ part }) => part === "next")];
}

// `place` orders the lines that one transaction wrote at the same time.
const storyText = `
  select created_at as at, 1 as place, false as is_ahead, 'payment' as part, id,
    format('created: %s %s by %s, account %s, intent %s', amount, currency, connector, connector_account_id,
      coalesce(connector_ref, 'not known yet')) as what
    from payments where id = $1
  union all select authorized_at, 4, false, 'payment', id, 'authorized' from payments where id = $1 and authorized_at is not null
  union all select captured_at, 5, false, 'payment', id, format('captured: %s %s, fee %s', captured_amount, currency, fee_amount)
    from payments where id = $1 and captured_at is not null
  union all select failed_at, 5, false, 'payment', id, format('failed after %s failed attempts', failed_attempts)
    from payments where id = $1 and failed_at is not null
  union all select ended_at, 3, false, 'attempt', ref,
    concat_ws(', ', outcome, nullif(failure_code, ''), nullif(failure_message, ''))
    from attempts where payment_id = $1
  union all select created_at, 2, false, 'operation', id,
    format('%s for %s, key %s:%s: %s', kind, reference, id, generation,
      concat_ws(', ', state, 'tries ' || tries, nullif('last answer: ' || last_error, 'last answer: ')))
    from operations where payment_id = $1
  union all select h.at, 3, false, 'operation', h.operation_id,
    concat_ws(', ', h.fact, nullif('by ' || h.operator, 'by '), nullif(h.note, ''))
    from operation_history h join operations o on o.id = h.operation_id where o.payment_id = $1
  union all select created_at, 6, false, 'journal', cause,
    format('%s: %s %s from %s to %s', kind, amount, currency, debit, credit)
    from journal where payment_id = $1
  union all select created_at, 1, false, 'refund', id,
    format('%s %s, now %s', amount, currency, concat_ws(', ', status, nullif(failure_code, ''), nullif(failure_message, ''),
      'at the processor ' || coalesce(connector_ref, 'not known yet'), case when unasked then 'not requested here' end))
    from refunds where payment_id = $1
  union all select opened_at, 1, false, 'dispute', id,
    format('%s, reason %s, now %s, at the processor %s', amount, reason, status, connector_ref)
    from disputes where payment_id = $1
  union all select found_at, 1, false, 'suspense', id,
    format('%s: %s %s at the processor as %s, %s refunded there', kind, amount, currency, connector_ref, returned_amount)
    from suspense where payment_id = $1
  union all select closed_at, 1, false, 'suspense', id,
    concat_ws(', ', 'closed: ' || resolution, nullif('by ' || operator, 'by '), nullif(note, ''))
    from suspense where payment_id = $1 and closed_at is not null
  union all select found_at, 1, false, 'statement', ref,
    format('the processor''s statement differs on a %s: %s, ours %s, theirs %s', object, kind, ours, theirs)
    from statement_differences where payment_id = $1 and resolved_at is null
  union all select p.captured_at, 7, false, 'statement', p.connector_account_id,
    format('compared with the processor''s statement up to %s', m.matched_until)
    from payments p join statement_matches m on m.connector_account_id = p.connector_account_id
    where p.id = $1 and p.captured_at < m.matched_until
  union all select next_check_at, 1, true, 'next', id, format('the processor is asked about it again, check %s', checks + 1)
    from payments where id = $1 and next_check_at is not null
  union all select next_try_at, 2, true, 'next', id, format('%s for %s is asked about again', kind, reference)
    from operations where payment_id = $1 and state = 'started'
  union all select now(), 3, true, 'next', id,
    format('%s for %s waits for an operator: tollbooth operations retry or resolve', kind, reference)
    from operations where payment_id = $1 and state = 'parked'
  union all select evidence_due_at, 4, true, 'next', id, 'evidence is due'
    from disputes where payment_id = $1 and evidence_due_at > now() and status in ('needs_response', 'warning_needs_response')
  union all select now(), 5, true, 'next', id, 'waits for an operator: tollbooth suspense list'
    from suspense where payment_id = $1 and state = 'open'`;

/** Events of the payment that are committed and not yet published. */
async function waitingEvents(sql: Sql, paymentId: string): Promise<StoryLine[]> {
  const rows = await sql.rows<{ event_id: string; body: Buffer; created_at: string }>(
    `select event_id, body, created_at from outbox where published_at is null order by seq limit ${waitingMax}`,
  );
  return rows.flatMap(({ event_id: id, body, created_at }) => {
    const event = fromBinary(EventSchema, body);
    const isOurs = event.objectId === paymentId || event.attributes.payment_id === paymentId;
    return isOurs ? [{ at: parseTime(created_at), part: "event", id, what: `${event.type} is not published yet` }] : [];
  });
}
