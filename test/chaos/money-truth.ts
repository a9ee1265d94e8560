// Reads a run's payments, refunds, disputes, operations, announcements, sessions and received webhooks from our side.
// The processor's side is in processor-truth.ts.
import { fromBinary } from "@bufbuild/protobuf";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { isSignedWith } from "../harness/receiver.ts";
import type { Schedule } from "./expected-money.ts";
import { deliveredTypes, type MoneyRig } from "./money-rig.ts";

export interface OurPayment {
  readonly id: string;
  readonly merchant: string;
  readonly environment: Environment;
  readonly connector: string;
  readonly session: string;
  readonly ref: string;
  readonly outcome: string;
  readonly status: string;
  readonly visible: boolean;
  /** Minor units; amounts of a run are far below 2^53. */
  readonly amount: number;
  readonly currency: string;
  readonly captured: number;
  readonly refunded: number;
  readonly fee: number;
  readonly hold: string;
  readonly disputed: number;
  /** When the last capture came into the journal, seconds since 1970; 0: none did. */
  readonly bookedAt: number;
  readonly declined: number;
  readonly byConfirm: boolean;
  readonly byProcessor: boolean;
  /** The journal has a capture. */
  readonly wasCaptured: boolean;
  /** How often. */
  readonly captures: number;
  /** A debit was returned: by the journal, or before its capture was reported. */
  readonly wasReturned: boolean;
  readonly captureMethod: string;
  /** Reported end of the capture window, in seconds since 1970; 0: never reported, or over. */
  readonly captureBefore: number;
  /** It was authorized, and ended before anything was captured. */
  readonly wasReleased: boolean;
  readonly refunds: readonly OurRefund[];
  readonly disputes: readonly OurMovement[];
  readonly suspense: readonly OurSuspense[];
  /** The journal's balance of `processor_clearing`. */
  readonly clearing: number;
  /** Refunds that were asked for over our API. */
  readonly refundOperations: number;
  readonly sessionStatus: string;
  readonly sessionAmount: number;
  /** The payment's status as its session last received it. */
  readonly sessionPaymentStatus: string;
}

export interface OurMovement {
  readonly id: string;
  readonly ref: string;
  readonly amount: number;
  readonly status: string;
}

export interface OurRefund extends OurMovement {
  readonly unasked: boolean;
}

/** An item of the operators' list, open or closed. */
export interface OurSuspense {
  readonly id: string;
  readonly kind: string;
  readonly ref: string;
  readonly amount: number;
  readonly returned: number;
  readonly resolution: string;
}

const listOf = (table: string, fields: string) =>
  `(select coalesce(jsonb_agg(jsonb_build_object(${fields})), '[]') from ${table} t where t.payment_id = p.id)`;
const movement = "'id', t.id, 'ref', coalesce(t.connector_ref, ''), 'amount', t.amount, 'status', t.status";
const seconds = (time: string) => `coalesce(extract(epoch from ${time}), 0)::float8`;

const paymentsText = `
  select p.id, p.merchant_id as merchant, p.environment, p.connector, coalesce(p.session_id, '') as session,
    coalesce(p.connector_ref, '') as ref, p.outcome, p.status, p.visible, p.amount::int, p.currency, p.captured_amount::int as captured,
    p.refunded_amount::int as refunded, p.fee_amount::int as fee, p.dispute_hold as hold, p.disputed_amount::int as disputed,
    ${seconds("(select max(j.created_at) from journal j where j.payment_id = p.id and j.kind = 'captured')")} as "bookedAt",
    p.failed_attempts as declined, p.announced_by_confirm as "byConfirm", p.announced_by_processor as "byProcessor",
    exists (select from journal j where j.payment_id = p.id and j.kind = 'captured') as "wasCaptured",
    (select count(*)::int from journal j where j.payment_id = p.id and j.kind = 'captured') as captures,
    exists (select from journal j where j.payment_id = p.id and j.kind = 'capture_returned')
      or (p.outcome = 'failed' and p.authorized_at is not null) as "wasReturned",
    p.capture_method as "captureMethod", ${seconds("p.capture_before")} as "captureBefore",
    p.outcome = 'canceled' and p.authorized_at is not null and p.failed_at is null as "wasReleased",
    ${listOf("refunds", `${movement}, 'unasked', t.unasked`)} as refunds, ${listOf("disputes", movement)} as disputes,
    ${listOf("suspense", "'id', t.id, 'kind', t.kind, 'ref', t.connector_ref, 'amount', t.amount, 'returned', t.returned_amount, 'resolution', t.resolution")}
      as suspense,
    (select coalesce(sum(case 'processor_clearing' when j.debit then j.amount when j.credit then -j.amount end), 0)::int
      from journal j where j.payment_id = p.id) as clearing,
    (select count(*)::int from operations o where o.payment_id = p.id and o.kind = 'create_refund') as "refundOperations"
  from payments p where p.merchant_id = $1`;

/** The payments of the rig's merchant by id. */
export async function ourPayments({ books, merchantId }: MoneyRig): Promise<Map<string, OurPayment>> {
  const rows = await books.payments.rows<Omit<OurPayment, "sessionStatus" | "sessionPaymentStatus" | "sessionAmount">>(
    paymentsText,
    [merchantId],
  );
  const sessions = await books.checkout.rows<{ id: string; status: string; payment_status: string; amount: number }>(
    `select id, status, payment_status, amount::int from sessions where merchant_id = $1`,
    [merchantId],
  );
  const byId = new Map(sessions.map((session) => [session.id, session]));
  return new Map(
    rows.map((row) => {
      const session = byId.get(row.session);
      const { status = "", payment_status = "", amount = row.amount } = session ?? {};
      return [row.id, { ...row, sessionStatus: status, sessionPaymentStatus: payment_status, sessionAmount: amount }];
    }),
  );
}

/** Every fee schedule, as rows; who ranks them is the comparison. */
export async function schedulesOf({ books }: MoneyRig): Promise<Schedule[]> {
  return await books.payments.rows<Schedule>(
    `select merchant_id as merchant, currency, connector, extract(epoch from effective_from)::float8 as "from",
       basis_points as "basisPoints", fixed_amount::int as fixed from fee_schedules`,
  );
}

/**
 * How many rows each list of the merchant must have, by environment: of every status, and under the empty word of all.
 */
export async function rowCounts({ books, merchantId }: MoneyRig, list: "payments" | "refunds"): Promise<ListCounts> {
  const rows = await books.payments.rows<{ environment: number; status: string; n: number }>(
    `select environment, status, count(*)::int as n from ${list} t
     where merchant_id = $1 and ${list === "payments" ? "t.visible" : "true"} group by 1, 2`,
    [merchantId],
  );
  const counts = new Map<number, Map<string, number>>();
  for (const { environment, status, n } of rows) {
    const own = counts.get(environment) ?? new Map<string, number>();
    own.set(status, n).set("", (own.get("") ?? 0) + n);
    counts.set(environment, own);
  }
  return counts;
}

export type ListCounts = ReadonlyMap<number, ReadonlyMap<string, number>>;

/** Counts by payment, of each `type status`. */
export type EventCounts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * Announcements of one payment: by `type status`, and by `type id` of the refund or dispute; those of a dispute's own
 * status by `dispute status id`.
 */
export interface AnnouncementCounts {
  readonly byStatus: ReadonlyMap<string, number>;
  readonly byObject: ReadonlyMap<string, number>;
}

/** Public names of our services' values. */
const publicNames: Readonly<Record<string, string>> = {
  "payment.captured": "authorization.captured",
  "payment.authorization_canceled": "authorization.canceled",
  "payment.authorization_expired": "authorization.expired",
  "payment.refund_succeeded": "refund.succeeded",
  "payment.refund_failed": "refund.failed",
  "session.completed": "checkout_session.completed",
  "session.expired": "checkout_session.expired",
  "session.canceled": "checkout_session.canceled",
};

/** Public announcements of each payment and its session. */
export async function announcementsByPayment({
  books,
  merchantId,
}: MoneyRig): Promise<ReadonlyMap<string, AnnouncementCounts>> {
  const outboxes = [books.payments, books.checkout];
  const rows = await Promise.all(outboxes.map((one) => one.rows<{ body: Buffer }>(`select body from outbox`)));
  const events = rows
    .flat()
    .map(({ body }) => fromBinary(EventSchema, body))
    .map(({ type, ...event }) => ({ ...event, type: publicNames[type] ?? type }))
    .filter((event) => deliveredTypes.has(event.type) && event.merchantId === merchantId);
  const statusOf = ({ type, status, attributes }: (typeof events)[number]) =>
    type.startsWith("refund.")
      ? attributes.refund_status
      : type.startsWith("dispute.")
        ? attributes.dispute_status
        : status;
  const nameOf = (event: (typeof events)[number]) =>
    event.type.startsWith("dispute.") ? `dispute ${statusOf(event)}` : event.type;
  const byStatus = counted(events.map((e) => [paymentOf(e.objectId), `${e.type} ${statusOf(e)}`]));
  const byObject = counted(
    events.map((e) => [
      paymentOf(e.objectId),
      `${nameOf(e)} ${e.attributes.refund_id ?? e.attributes.dispute_id ?? e.objectId}`,
    ]),
  );
  return new Map(
    [...byStatus].map(([id, counts]) => [id, { byStatus: counts, byObject: byObject.get(id) ?? new Map() }]),
  );
}

/** The payment of a session has its id's characters. */
function paymentOf(objectId: string): string {
  return objectId.replace(/^cs_/, "pay_");
}

/** How many different deliveries of each event came to the receiver; a repeat of one delivery is one. */
export function deliveriesByPayment({ receiver }: MoneyRig): EventCounts {
  const byDelivery = new Map<string, [string, string]>();
  for (const { headers, body } of receiver.received) {
    const { type, payment_id, session_id, status } = JSON.parse(body.toString());
    byDelivery.set(String(headers["service-delivery"]), [payment_id ?? paymentOf(session_id), `${type} ${status}`]);
  }
  return counted([...byDelivery.values()]);
}

/** Deliveries whose signature does not fit. */
export function unsignedDeliveries({ receiver, signingSecret }: MoneyRig): string[] {
  return receiver.received
    .filter((request) => !isSignedWith(request, signingSecret))
    .map((request) => `a delivery was not signed: ${request.body.toString().slice(0, 200)}`);
}

/** Work that is still pending between the databases. */
export async function pendingWork({ books }: MoneyRig): Promise<string[]> {
  const count = async (what: string, from: MoneyRig["books"]["payments"], query: string, name = "''") => {
    const [row] = await from.rows<{ n: number; some: string }>(
      `select count(*)::int as n, coalesce(min(${name}), '') as some from ${query}`,
    );
    return row && row.n > 0 ? [`${row.n} ${what} ${row.some}`.trimEnd()] : [];
  };
  const operation = `kind || ' ' || reference || ', ' || tries || ' tries, next at ' || next_try_at || ': ' || last_error`;
  const lists = await Promise.all([
    count(
      "operations in doubt",
      books.payments,
      `operations where state = 'started' and kind <> 'create_intent'`,
      operation,
    ),
    count("operations parked", books.payments, `operations where state = 'parked'`, operation),
    count("payment events unpublished", books.payments, `outbox where published_at is null`),
    count("session events unpublished", books.checkout, `outbox where published_at is null`),
    // Those that are held stay held: the books must agree without them.
    count("processor webhooks on their way", books.simulator, `events where next_attempt_at < 'infinity'`),
    // An authorization ends by itself in a week.
    count("facts to come at the processor", books.simulator, `delayed_facts where due_at < now() + interval '1 hour'`),
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
