// Reserves the amount of a refund: writes the payment's amount, the refund, its operation, a journal entry and events.
// For a new refund this is one statement, which applies only to the version of the payment that was read.
import { byKey } from "#platform/database/batch.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import { eventsJson, type OutboxRows } from "#platform/events/outbox.ts";
import { postings } from "../../rules/journal.ts";
import { appendMovements } from "../journal.ts";
import { type Operation, renewOperation } from "../operations.ts";
import { type StoredPayment, savePayment } from "../payments.ts";
import { refundColumns, type StoredRefund, saveRefund } from "./refunds.ts";

const { debit, credit } = postings.refund_reserved;
const newRefund = refundColumns.pick(
  "id",
  "paymentId",
  "merchantId",
  "environment",
  "currency",
  "amount",
  "connector",
  "reason",
  "createdAt",
);

interface Reservation {
  /** Version of the payment that the amount was checked against. */
  readonly version: number;
  readonly refund: StoredRefund;
  readonly operation: Pick<Operation, "id" | "sentAfter">;
  /** When the reconcile job first checks the operation, from now. */
  readonly tryAfterSeconds: number;
  readonly events: OutboxRows;
}

/**
 * Reserves the amounts of refunds in one statement.
 * @returns false for a refund whose payment has another version: nothing was written for it
 */
export async function insertReservations(sql: Sql, reservations: readonly Reservation[]): Promise<boolean[]> {
  const rows = await sql.rows<{ id: string }>(
    `with wanted as (
       select * from jsonb_to_recordset($1) as w (each integer, ${newRefund.types}, operation_id text,
         try_after_seconds float8, sent_after timestamptz, version bigint, events jsonb)
       where each = 1),
     taken as (
       update payments p set refunded_amount = p.refunded_amount + w.amount from wanted w
       where p.id = w.payment_id and p.version = w.version
       returning w.*),
     refund as (
       insert into refunds (status, ${newRefund.names()}) select 'pending', ${newRefund.names()} from taken),
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

function rowOf({ version, refund, operation, tryAfterSeconds, events }: Reservation) {
  return {
    ...newRefund.write(refund),
    payment_id: refund.paymentId,
    operation_id: operation.id,
    try_after_seconds: tryAfterSeconds,
    sent_after: operation.sentAfter,
    version,
    events: eventsJson(events),
  };
}

/**
 * Reserves the amount again for a refund that was certainly never made and whose amount was released.
 * @param payment locked by the caller, with the amount reserved
 * @param tryAfterSeconds as for a new refund; also the next check of a payment on the reconcile job's list
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
