// What a refund writes when its amount is reserved: the payment's amount, the refund, the operation that will make it
// at the processor, the journal entry and the events. For a new one it is one statement, which only holds for the
// payment as it was read.
import { byKey } from "#platform/database/batch.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import { eventsJson, type OutboxRows } from "#platform/events/outbox.ts";
import { postings } from "../../rules/journal.ts";
import { appendMovements } from "../journal.ts";
import { type Operation, renewOperation } from "../operations.ts";
import { type StoredPayment, savePayment } from "../payments.ts";
import { type StoredRefund, saveRefund } from "./refunds.ts";

const { debit, credit } = postings.refund_reserved;

/** A refund that takes its amount. */
export interface Reservation {
  /** Of the payment that the amount was judged by. */
  readonly version: number;
  readonly refund: StoredRefund;
  /** Will make it at the processor. */
  readonly operation: Pick<Operation, "id" | "sentAfter">;
  /** When the reconcile job first looks at the operation, which is its own place on that job's list; from now. */
  readonly tryAfterSeconds: number;
  readonly events: OutboxRows;
}

/**
 * Takes the amounts of refunds, of each whose payment is as it was read, in one statement.
 * @returns of each: false when the payment is not as it was read: nothing was written of it.
 */
export async function insertReservations(sql: Sql, reservations: readonly Reservation[]): Promise<boolean[]> {
  const rows = await sql.rows<{ id: string }>(
    `with wanted as (
       select * from jsonb_to_recordset($1) as w (
         each integer, id text, payment_id text, merchant_id text, environment smallint, currency text, amount bigint, connector text,
         reason text, created_at timestamptz, operation_id text, try_after_seconds float8, sent_after timestamptz,
         version bigint, events jsonb)
       where each = 1),
     taken as (
       update payments p set refunded_amount = p.refunded_amount + w.amount from wanted w
       where p.id = w.payment_id and p.version = w.version
       returning w.*),
     refund as (
       insert into refunds (id, payment_id, merchant_id, environment, currency, amount, status, connector, reason, created_at)
       select id, payment_id, merchant_id, environment, currency, amount, 'pending', connector, reason, created_at from taken),
     entry as (
       insert into journal (merchant_id, environment, currency, payment_id, kind, cause, debit, credit, amount)
       select merchant_id, environment, currency, payment_id, 'refund_reserved', id, '${debit}', '${credit}', amount from taken),
     announced as (
       insert into outbox (event_id, subject, body)
       select e.* from taken, jsonb_to_recordset(events) as e (event_id text, subject text, body bytea))
     insert into operations (id, kind, payment_id, refund_id, reference, next_try_at, sent_after)
     select operation_id, 'create_refund', payment_id, id, id, now() + make_interval(secs => try_after_seconds), sent_after from taken
     returning id`,
    [byKey(reservations.map(rowOf), "payment_id")],
  );
  const reservedIds = new Set(rows.map(({ id }) => id));
  return reservations.map(({ operation }) => reservedIds.has(operation.id));
}

/** The JSON that the statement above reads. */
function rowOf({ version, refund, operation, tryAfterSeconds, events }: Reservation) {
  return {
    id: refund.id,
    payment_id: refund.paymentId,
    merchant_id: refund.merchantId,
    environment: refund.environment,
    currency: refund.currency,
    amount: String(refund.amount),
    connector: refund.connector,
    reason: refund.reason,
    created_at: refund.createdAt,
    operation_id: operation.id,
    try_after_seconds: tryAfterSeconds,
    sent_after: operation.sentAfter,
    version,
    events: eventsJson(events),
  };
}

/**
 * Takes the amount of a refund again that surely was never made and had given it back.
 * @param payment locked by the caller, with the amount taken.
 * @param tryAfterSeconds as for a new one; also when a payment that is on the reconcile job's list is looked at next.
 */
export async function renewReservation(
  tx: Tx,
  payment: StoredPayment,
  refund: StoredRefund,
  tryAfterSeconds: number,
  events: OutboxRows,
): Promise<void> {
  const { id, connectorRef, scheduled, state } = payment;
  const checkAfterSeconds = scheduled ? tryAfterSeconds : undefined;
  await savePayment(tx, { id, connectorRef, state, checkAfterSeconds }, []);
  const movement = { kind: "refund_reserved", cause: refund.id, amount: refund.amount } as const;
  await appendMovements(tx, payment, [movement], events);
  await saveRefund(tx, { ...refund, status: "pending", failureCode: "", failureMessage: "", acknowledged: false });
  await renewOperation(tx, "create_refund", refund.id, tryAfterSeconds);
}
