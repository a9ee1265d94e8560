// Audits that each capture, refund, dispute, returned debit and ended authorization of recent payments was announced.
// Payments are read before the outbox, because their changes and events commit together.
import { fromBinary } from "@bufbuild/protobuf";
import type { Sql } from "#platform/database/database.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";

// An earlier release kept outbox rows for 3 days only.
const keptDays = 3;
// The due events of this many payments take about 50 MB while the outbox is read once.
const slicePayments = 100_000;
const outboxBatch = 5_000;

/** Events that a payment's books require, such as `payment.refunded re_…`. */
interface DueEvents {
  readonly id: string;
  readonly due: readonly string[];
}

/** @param onMissing called for each payment with missing events @returns number of payments checked */
export async function auditAnnouncements(
  sql: Sql,
  onMissing: (paymentId: string, missing: readonly string[]) => void,
): Promise<number> {
  let [after, checked] = [await idBefore(sql, keptDays + 1), 0];
  for (;;) {
    const payments = await dueAfter(sql, after, slicePayments);
    const missing = await findMissing(sql, payments);
    for (const [id, events] of missing) onMissing(id, events);
    checked += payments.length;
    const last = payments.at(-1);
    if (!last || payments.length < slicePayments) return checked;
    after = last.id;
  }
}

/** The names of an event in `due`. A dispute that is open was announced as created or as updated, in its status. */
function namesOf({ type, attributes }: Pick<Event, "type" | "attributes">): string[] {
  const about = attributes.refund_id ?? attributes.dispute_id;
  const isOpenDispute = type === "dispute.created" || type === "dispute.updated";
  if (isOpenDispute) return [`dispute.created|updated ${attributes.dispute_status} ${about}`];
  return about === undefined ? [type] : [`${type} ${about}`];
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** The first id of recent payments: ids sort by creation, and no index has the time of creation alone. */
async function idBefore(sql: Sql, days: number): Promise<string> {
  const [row] = await sql.rows<{ ms: string }>(
    `select floor(extract(epoch from now() - make_interval(days => $1)) * 1000)::text as ms`,
    [days],
  );
  let time = "";
  for (let ms = BigInt(row?.ms ?? 0); time.length < 10; ms /= 32n) time = `${alphabet[Number(ms % 32n)]}${time}`;
  return `pay_${time}`;
}

/** Canceled after the authorization and never captured; a returned debit sets failed_at. */
const released = "(p.outcome = 'canceled' and p.authorized_at is not null and p.failed_at is null)";

const dueText = `
  select p.id, array(
    select 'payment.succeeded' where p.outcome = 'succeeded' or ${released}
      or exists (select from journal j where j.payment_id = p.id and j.kind = 'captured')
    union select 'payment.captured' from journal j
      where j.payment_id = p.id and j.kind = 'captured' and p.capture_method = 'manual'
    union select 'payment.authorization_' || case when exists (select from attempts a
        where a.payment_id = p.id and a.ref = p.last_attempt_ref and a.failure_code = 'expired') then 'expired' else 'canceled' end
      where ${released}
    union select 'payment.failed' from journal j where j.payment_id = p.id and j.kind = 'capture_returned'
    union select 'payment.disputed ' || j.cause from journal j where j.payment_id = p.id and j.kind = 'dispute_held'
    union select case d.status when 'won' then 'dispute.won ' when 'lost' then 'dispute.lost '
        when 'warning_closed' then 'dispute.closed ' else 'dispute.created|updated ' || d.status || ' ' end || d.id
      from disputes d where d.payment_id = p.id
    union select 'payment.refunded ' || j.cause from journal j where j.payment_id = p.id and j.kind = 'refund_paid'
    union select 'payment.refunded ' || r.id from refunds r where r.payment_id = p.id and r.acknowledged
      and r.status in ('pending', 'succeeded') and not r.unasked
    except select 'payment.refunded ' || j.cause from journal j where j.payment_id = p.id and j.kind = 'suspense_refunded') as due
  from payments p
  where p.id > $1 and p.created_at > now() - make_interval(days => $3) and (p.outcome <> 'pending')
  order by p.id limit $2`;

async function dueAfter(sql: Sql, afterId: string, limit: number): Promise<DueEvents[]> {
  const due: DueEvents[] = [];
  for (let after = afterId; due.length < limit; ) {
    const rows = await sql.rows<DueEvents>(dueText, [after, Math.min(limit - due.length, 1_000), keptDays]);
    due.push(...rows);
    after = rows.at(-1)?.id ?? after;
    if (rows.length < 1_000) break;
  }
  return due;
}

/** Reads the outbox once. @returns missing events by payment */
async function findMissing(sql: Sql, payments: readonly DueEvents[]): Promise<Map<string, string[]>> {
  const open = new Map(payments.filter(({ due }) => due.length > 0).map(({ id, due }) => [id, new Set(due)]));
  for (let after = "0"; open.size > 0; ) {
    const rows = await sql.rows<{ seq: string; body: Buffer }>(
      `select seq, body from outbox where seq > $1 order by seq limit $2`,
      [after, outboxBatch],
    );
    for (const { body } of rows) {
      const event = fromBinary(EventSchema, body);
      const due = open.get(event.objectId);
      for (const name of namesOf(event)) due?.delete(name);
      if (due?.size === 0) open.delete(event.objectId);
    }
    if (rows.length < outboxBatch) break;
    after = rows.at(-1)?.seq ?? after;
  }
  return new Map([...open].map(([id, due]) => [id, [...due]]));
}
