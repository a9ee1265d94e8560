// Reads every book about a run's money: our payments, refunds, disputes, operations and announcements, the sessions, what the
// processor says over its own API, and what the merchant's receiver got.
import { fromBinary } from "@bufbuild/protobuf";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import type { Api } from "../harness/api.ts";
import type { MoneyRig } from "./money-rig.ts";

export interface OurPayment {
  readonly id: string;
  readonly session: string;
  readonly ref: string;
  readonly outcome: string;
  readonly status: string;
  /** Minor units; amounts of a run are far below 2^53. */
  readonly amount: number;
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
       p.amount::int, p.captured_amount::int as captured, p.fee_amount::int as fee, p.failed_attempts as declined,
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

export interface TheirIntent {
  readonly id: string;
  readonly reference: string;
  readonly status: string;
  readonly amount: number;
  readonly captured_amount: number;
  readonly attempts: readonly { readonly status: string }[];
  readonly refunds: readonly { readonly id: string; readonly amount: number; readonly status: string }[];
  readonly disputes: readonly { readonly id: string; readonly amount: number; readonly status: string }[];
}

/** What the processor has under our reference. */
export async function theirIntents(processor: Api, reference: string): Promise<TheirIntent[]> {
  const answer = (await processor.get(`/api/intents?reference=${reference}`)).expect(200);
  return answer.list("data") as TheirIntent[];
}

export interface TheirOperation {
  readonly kind: string;
  readonly reference: string;
  readonly object_id: string;
}

/** API calls that did work at the processor under our reference. */
export async function theirOperations(processor: Api, reference: string): Promise<TheirOperation[]> {
  const answer = (await processor.get(`/test/operations?reference=${reference}`)).expect(200);
  return answer.list("data") as TheirOperation[];
}

/** Rows of the processor's statement over all time: `intent`, `refund` and `dispute` ids with their amounts and statuses. */
export async function theirStatement(processor: Api): Promise<Map<string, { amount: number; status: string }>> {
  const rows = new Map<string, { amount: number; status: string }>();
  for (let after: unknown = ""; after !== null; ) {
    const query = after === "" ? "" : `&after=${after}`;
    const page = (await processor.get(`/api/statement?limit=500${query}`)).expect(200);
    for (const row of page.list("data") as { id: string; amount: number; status: string }[]) rows.set(row.id, row);
    after = page.at("next");
  }
  return rows;
}

/** How often each event that merchants hear was announced, by `type payment status`. */
export async function announced({ books, merchantId }: MoneyRig): Promise<Map<string, number>> {
  const rows = await books.payments.rows<{ body: Buffer }>(`select body from outbox`);
  const delivered = new Set(["payment.succeeded", "payment.failed", "payment.refunded", "payment.disputed"]);
  const events = rows.map((row) => fromBinary(EventSchema, row.body)).filter((event) => delivered.has(event.type));
  return counted(events.filter((e) => e.merchantId === merchantId).map((e) => `${e.type} ${e.objectId} ${e.status}`));
}

/** How many different deliveries of each event came to the receiver; a repeat of one delivery is one. */
export function delivered({ receiver }: MoneyRig): Map<string, number> {
  const byDelivery = new Map<string, string>();
  for (const { headers, body } of receiver.received) {
    const { type, payment_id, status } = JSON.parse(body.toString());
    byDelivery.set(String(headers["service-delivery"]), `${type} ${payment_id} ${status}`);
  }
  return counted([...byDelivery.values()]);
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

function counted(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
