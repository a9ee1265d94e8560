// What a new refund writes when its amount is reserved, in one statement: the payment's amount, the refund, the operation that will
// make it at the processor, and the journal entry. The caller holds the lock on the payment.
import type { Tx } from "#platform/database.ts";
import { postings } from "../rules/journal.ts";
import type { Operation } from "./operations.ts";
import type { StoredRefund } from "./refunds.ts";

const { debit, credit } = postings.refund_reserved;

/** @param tryAfterSeconds when the reconcile job first looks at the operation, which is its own place on that job's list. */
export async function insertReservation(
  tx: Tx,
  refund: StoredRefund,
  operation: Operation,
  tryAfterSeconds: number,
): Promise<void> {
  await tx.rows(
    `with payment as (
       update payments set refunded_amount = refunded_amount + $6 where id = $2),
     refund as (
       insert into refunds (id, payment_id, merchant_id, environment, currency, amount, status, connector, reason, created_at)
       values ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9)),
     entry as (
       insert into journal (merchant_id, environment, currency, payment_id, kind, cause, debit, credit, amount)
       values ($3, $4, $5, $2, 'refund_reserved', $1, $10, $11, $6))
     insert into operations (id, kind, payment_id, refund_id, reference, next_try_at)
     values ($12, 'create_refund', $2, $1, $1, now() + make_interval(secs => $13))`,
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
    ],
  );
}
