// What a new refund writes when its amount is reserved, in one statement that only holds for the payment as it was read: the payment's
// amount, the refund, the operation that will make it at the processor, the journal entry and the events.
import type { Sql } from "#platform/database.ts";
import type { OutboxRows } from "#platform/outbox.ts";
import { postings } from "../rules/journal.ts";
import type { Refundable } from "../rules/refund.ts";
import type { Operation } from "./operations.ts";
import type { StoredRefund } from "./refunds.ts";

const { debit, credit } = postings.refund_reserved;

/**
 * @param asRead what the amount was judged by.
 * @param tryAfterSeconds when the reconcile job first looks at the operation, which is its own place on that job's list.
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
