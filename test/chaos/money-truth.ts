// Reads our own books about a run's money: payments, refunds, disputes, operations and announcements, the sessions, and what the
// merchant's receiver got. The processor's side stands in processor-truth.ts.
import { fromBinary } from "@bufbuild/protobuf";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { isSignedWith } from "../harness/receiver.ts";
import { deliveredTypes, type MoneyRig } from "./money-rig.ts";

export interface OurPayment {
  readonly id: string;
  readonly session: string;
  readonly ref: string;
  readonly outcome: string;
  readonly status: string;
  /** Minor units; amounts of a run are far below 2^53. */
  readonly amount: number;
  readonly currency: string;
  readonly captured: number;
  readonly fee: number;
  readonly declined: number;
  readonly byConfirm: boolean;
  readonly byProcessor: boolean;
  readonly refunds: readonly OurMovement[];
  readonly disputes: readonly OurMovement[];
  /** Refunds that were asked for over our API. */
  readonly refundOperations: number;
  readonly sessionStatus: string;
}

export interface OurMovement {
  readonly id: string;
  readonly ref: string;
  readonly amount: number;
  readonly status: string;
}

/** The payments of the rig's merchant by id. */
export async function ourPayments({ books, merchantId }: MoneyRig): Promise<Map<string, OurPayment>> {
  const list = (table: string) =>
    `(select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'ref', coalesce(t.connector_ref, ''), 'amount', t.amount,
      'status', t.status)), '[]') from ${table} t where t.payment_id = p.id)`;
  const rows = await books.payments.rows<Omit<OurPayment, "sessionStatus">>(
    `select p.id, coalesce(p.session_id, '') as session, coalesce(p.connector_ref, '') as ref, p.outcome, p.status,
       p.amount::int, p.currency, p.captured_amount::int as captured, p.fee_amount::int as fee, p.failed_attempts as declined,
       p.announced_by_confirm as "byConfirm", p.announced_by_processor as "byProcessor", ${list("refunds")} as refunds,
       ${list("disputes")} as disputes,
       (select count(*)::int from operations o where o.payment_id = p.id and o.kind = 'create_refund') as "refundOperations"
     from payments p where p.merchant_id = $1`,
    [merchantId],
  );
  const sessions = await books.checkout.rows<{ id: string; status: string }>(
    `select id, status from sessions where merchant_id = $1`,
    [merchantId],
  );
  const statusOf = new Map(sessions.map((session) => [session.id, session.status]));
  return new Map(rows.map((row) => [row.id, { ...row, sessionStatus: statusOf.get(row.session) ?? "" }]));
}

/** Counts by payment, of each `type status`. */
export type EventCounts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** How often each event that merchants hear was announced. */
export async function announced({ books, merchantId }: MoneyRig): Promise<EventCounts> {
  const rows = await books.payments.rows<{ body: Buffer }>(`select body from outbox`);
  const events = rows.map((row) => fromBinary(EventSchema, row.body)).filter((event) => deliveredTypes.has(event.type));
  return counted(
    events.filter((event) => event.merchantId === merchantId).map((e) => [e.objectId, `${e.type} ${e.status}`]),
  );
}

/** How many different deliveries of each event came to the receiver; a repeat of one delivery is one. */
export function delivered({ receiver }: MoneyRig): EventCounts {
  const byDelivery = new Map<string, [string, string]>();
  for (const { headers, body } of receiver.received) {
    const { type, payment_id, status } = JSON.parse(body.toString());
    byDelivery.set(String(headers["service-delivery"]), [payment_id, `${type} ${status}`]);
  }
  return counted([...byDelivery.values()]);
}

/** Deliveries whose signature does not fit. */
export function unsigned({ receiver, signingSecret }: MoneyRig): string[] {
  return receiver.received
    .filter((request) => !isSignedWith(request, signingSecret))
    .map((request) => `a delivery was not signed: ${request.body.toString().slice(0, 200)}`);
}

/** What is still on its way between the books. */
export async function underWay({ books }: MoneyRig): Promise<string[]> {
  const count = async (what: string, from: MoneyRig["books"]["payments"], query: string) => {
    const [row] = await from.rows<{ n: number }>(`select count(*)::int as n from ${query}`);
    return row && row.n > 0 ? [`${row.n} ${what}`] : [];
  };
  const lists = await Promise.all([
    count("operations in doubt", books.payments, `operations where state = 'started' and kind = 'create_refund'`),
    count("operations parked", books.payments, `operations where state = 'parked'`),
    count("payment events unpublished", books.payments, `outbox where published_at is null`),
    count("session events unpublished", books.checkout, `outbox where published_at is null`),
    count("processor webhooks on their way", books.simulator, `events where next_attempt_at is not null`),
    count("facts to come at the processor", books.simulator, `delayed_facts`),
  ]);
  return lists.flat();
}

function counted(entries: readonly (readonly [string, string])[]): EventCounts {
  const counts = new Map<string, Map<string, number>>();
  for (const [payment, event] of entries) {
    const own = counts.get(payment) ?? new Map<string, number>();
    own.set(event, (own.get(event) ?? 0) + 1);
    counts.set(payment, own);
  }
  return counts;
}
