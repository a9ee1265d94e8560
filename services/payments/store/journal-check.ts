// What the journal checker reads, each batch in ONE statement and so as of one moment; and the place where its pass stands, so that
// replicas share one pass and a restart goes on with it.
import type { Sql } from "#platform/database.ts";
import type { PaymentBooks } from "../rules/journal-check.ts";

/** A number in JSON would lose digits past 2^53. */
type Text<T> = { [K in keyof T]: T[K] extends bigint ? string : T[K] };

interface Row {
  id: string;
  outcome: PaymentBooks["outcome"];
  status: PaymentBooks["status"];
  captured_amount: string;
  refunded_amount: string;
  fee_amount: string;
  dispute_hold: PaymentBooks["disputeHold"];
  disputed_amount: string;
  paid_attempts: string[];
  refunds: Text<PaymentBooks["refunds"][number]>[];
  disputes: Text<PaymentBooks["disputes"][number]>[];
  journal: Text<PaymentBooks["journal"][number]>[];
}

/** The books of the payments after this id, in the order of ids. */
export async function booksAfter(sql: Sql, afterId: string, limit: number): Promise<PaymentBooks[]> {
  const rows = await sql.rows<Row>(
    `select p.id, p.outcome, p.status, p.captured_amount, p.refunded_amount, p.fee_amount, p.dispute_hold, p.disputed_amount,
       array(select a.ref from attempts a where a.payment_id = p.id and a.outcome = 'succeeded') as paid_attempts,
       (select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'status', r.status, 'amount', r.amount::text)), '[]')
        from refunds r where r.payment_id = p.id) as refunds,
       (select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'status', d.status, 'amount', d.amount::text)), '[]')
        from disputes d where d.payment_id = p.id) as disputes,
       (select coalesce(jsonb_agg(jsonb_build_object('kind', j.kind, 'cause', j.cause, 'debit', j.debit, 'credit', j.credit,
          'amount', j.amount::text, 'sameOwner',
          (j.merchant_id, j.environment, j.currency) = (p.merchant_id, p.environment, p.currency))), '[]')
        from journal j where j.payment_id = p.id) as journal
     from payments p where p.id > $1 order by p.id limit $2`,
    [afterId, limit],
  );
  return rows.map(read);
}

/**
 * Takes the next stretch of the pass, for one replica at a time.
 * @param leaseSeconds after which another replica takes a stretch that was never finished.
 * @returns the id after which it begins; undefined when nothing is due.
 */
export async function claimStretch(sql: Sql, leaseSeconds: number): Promise<string | undefined> {
  const [row] = await sql.rows<{ after_id: string }>(
    `update journal_check set due_at = now() + make_interval(secs => $1) where due_at <= now() returning after_id`,
    [leaseSeconds],
  );
  return row?.after_id;
}

/** Notes how far the pass has come and when it goes on. */
export async function finishStretch(sql: Sql, afterId: string, pauseSeconds: number): Promise<void> {
  await sql.rows(`update journal_check set after_id = $1, due_at = now() + make_interval(secs => $2)`, [
    afterId,
    pauseSeconds,
  ]);
}

function read(row: Row): PaymentBooks {
  const inMinorUnits = <T extends { amount: string }>(list: T[]) =>
    list.map((one) => ({ ...one, amount: BigInt(one.amount) }));
  return {
    id: row.id,
    outcome: row.outcome,
    status: row.status,
    capturedAmount: BigInt(row.captured_amount),
    refundedAmount: BigInt(row.refunded_amount),
    feeAmount: BigInt(row.fee_amount),
    disputeHold: row.dispute_hold,
    disputedAmount: BigInt(row.disputed_amount),
    paidAttempts: row.paid_attempts,
    refunds: inMinorUnits(row.refunds),
    disputes: inMinorUnits(row.disputes),
    journal: inMinorUnits(row.journal),
  };
}
