// What a refund writes when its amount is reserved: the payment's amount, the refund, the operation that will make it
// at the processor, the journal entry and the events. For a new one it is one statement, which only holds for the
// payment as it was read.
import type { Sql, Tx } from "#platform/database/database.ts";
import type { OutboxRows } from "#platform/events/outbox.ts";
import { postings } from "../rules/journal.ts";
import type { Refundable } from "../rules/refund.ts";
import { appendMovements } from "./journal.ts";
import { type Operation, renewOperation } from "./operations.ts";
import { type StoredPayment, savePayment } from "./payments.ts";
import { type StoredRefund, saveRefund } from "./refunds.ts";

const { debit, credit } = postings.refund_reserved;

/**
 * @param asRead what the amount was judged by.
 * @param tryAfterSeconds when the reconcile job first looks at the operation, which is its own place on that job's
 * list.
 * @returns false when the payment is not as it was read: nothing was written.
 */
export async function insertReservation(
  sql: Sql,
  asRead: Refundable,
  refund: StoredRefund,
  operation: Operation,
  tryAfterSeconds: number,
  events: OutboxRows,
): Promise<boolean> {
  const rows = await sql.rows(
    `with payment as (
       update payments set refunded_amount = refunded_amount + $6
       where id = $2 and outcome = $14 and captured_amount = $15 and refunded_amount = $16 and dispute_hold = $17
       returning id),
     refund as (
       insert into refunds (id, payment_id, merchant_id, environment, currency, amount, status, connector, reason, created_at)
       select $1, id, $3, $4, $5, $6, 'pending', $7, $8, $9 from payment),
     entry as (
       insert into journal (merchant_id, environment, currency, payment_id, kind, cause, debit, credit, amount)
       select $3, $4, $5, id, 'refund_reserved', $1, $10, $11, $6 from payment),
     announced as (
       insert into outbox (event_id, subject, body)
       select e.* from payment, unnest($18::text[], $19::text[], $20::bytea[]) as e)
     insert into operations (id, kind, payment_id, refund_id, reference, next_try_at, sent_after)
     select $12, 'create_refund', id, $1, $1, now() + make_interval(secs => $13), $21 from payment
     returning id`,
    [
      refund.id,
      refund.paymentId,
      refund.merchantId,
      refund.environment,
      refund.currency,
      refund.amount,
      refund.connector,
      refund.reason,
      refund.createdAt.toISOString(),
      debit,
      credit,
      operation.id,
      tryAfterSeconds,
      asRead.outcome,
      asRead.capturedAmount,
      asRead.refundedAmount,
      asRead.disputeHold,
      events.ids,
      events.subjects,
      events.bodies,
      operation.sentAfter?.toISOString() ?? null,
    ],
  );
  return rows.length === 1;
}

/**
 * Takes the amount of a refund again that surely was never made and had given it back.
 * @param payment locked by the caller.
 * @param tryAfterSeconds as for a new one; also when a payment that is on the reconcile job's list is looked at next.
 */
export async function renewReservation(
  tx: Tx,
  payment: StoredPayment,
  refund: StoredRefund,
  tryAfterSeconds: number,
): Promise<void> {
  const { id, connectorRef, scheduled } = payment;
  const state = { ...payment.state, refundedAmount: payment.state.refundedAmount + refund.amount };
  const checkAfterSeconds = scheduled ? tryAfterSeconds : undefined;
  await savePayment(tx, { id, connectorRef, state, checkAfterSeconds }, []);
  await appendMovements(tx, payment, [{ kind: "refund_reserved", cause: refund.id, amount: refund.amount }]);
  await saveRefund(tx, { ...refund, status: "pending", failureCode: "", failureMessage: "", acknowledged: false });
  await renewOperation(tx, "create_refund", refund.id, tryAfterSeconds);
}
