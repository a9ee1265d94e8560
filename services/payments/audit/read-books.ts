// Reads the books for the auditor, a batch in one statement and so in one snapshot. Fee schedules are ranked by the
// auditor's own query.
import type { Sql } from "#platform/database/database.ts";
import type { PaymentBooks } from "./books.ts";
import type { Rate } from "./facts.ts";

/** JSON numbers lose digits beyond 2^53. */
type Text<T> = { [K in keyof T]: T[K] extends bigint ? string : T[K] };

interface Row {
  id: string;
  amount: string;
  outcome: string;
  status: string;
  captured_amount: string;
  refunded_amount: string;
  fee_amount: string;
  dispute_hold: string;
  disputed_amount: string;
  paid_attempts: string[];
  failed_attempts: number;
  /** `rate` null: no schedule was in effect. */
  captures: { amount: string; rate: Text<Rate> | null }[];
  refunds: Text<PaymentBooks["refunds"][number]>[];
  disputes: Text<PaymentBooks["disputes"][number]>[];
  suspense: Text<PaymentBooks["suspense"][number]>[];
  journal: Text<PaymentBooks["journal"][number]>[];
}

/**
 * The schedule in effect at a time: one of the merchant first, then of the currency, then of the connector, and among
 * equals the latest.
 * @param at an SQL expression
 */
function rateAt(at: string): string {
  return `(select jsonb_build_object('basisPoints', f.basis_points::text, 'fixed', f.fixed_amount::text) from fee_schedules f
    where (f.merchant_id = p.merchant_id or f.merchant_id = '*') and (f.currency = p.currency or f.currency = '*')
      and (f.connector = p.connector or f.connector = '*') and f.effective_from <= ${at}
    order by (f.merchant_id <> '*')::int * 4 + (f.currency <> '*')::int * 2 + (f.connector <> '*')::int desc,
      f.effective_from desc limit 1)`;
}

// Old entries have no captured_at; with a processor's clock ahead of ours, captured_at is later than the booking.
const captures = `(select coalesce(jsonb_agg(jsonb_build_object('amount', j.amount::text,
    'rate', ${rateAt("least(j.captured_at, j.created_at)")}) order by j.id), '[]')
  from journal j where j.payment_id = p.id and j.kind = 'captured' and not exists (
    select from journal r where r.payment_id = p.id and r.kind = 'capture_returned' and r.id > j.id))`;

function listOf(table: string, fields: string): string {
  return `(select coalesce(jsonb_agg(jsonb_build_object(${fields})), '[]') from ${table} t where t.payment_id = p.id)`;
}

/** Another payment that owns the intent of `t` and has a capture of the same attempt. */
const capturedIn = `coalesce((select o.id from payments o
    where t.paid_by <> '' and o.connector = t.connector and o.connector_ref = t.connector_ref and o.id <> p.id
      and (select sum(case j.kind when 'captured' then j.amount when 'capture_returned' then -j.amount end) from journal j
        where j.payment_id = o.id and j.cause = t.paid_by) > 0
    order by o.id limit 1), '')`;

/** Suspense rows keep the currency of their intent. */
const entryCurrency = `coalesce((select s.currency from suspense s where s.id = t.cause and s.payment_id = p.id), p.currency)`;

const booksText = `
  select p.id, p.amount, p.outcome, p.status, p.captured_amount, p.refunded_amount, p.fee_amount, p.dispute_hold, p.disputed_amount,
    array(select a.ref from attempts a where a.payment_id = p.id and a.outcome = 'succeeded') as paid_attempts,
    (select count(*)::int from attempts a where a.payment_id = p.id and a.outcome = 'failed') as failed_attempts,
    ${captures} as captures,
    ${listOf("refunds", "'id', t.id, 'status', t.status, 'amount', t.amount::text, 'unasked', t.unasked")} as refunds,
    ${listOf("disputes", "'id', t.id, 'status', t.status, 'amount', t.amount::text, 'released', t.released")} as disputes,
    ${listOf(
      "suspense",
      `'id', t.id, 'kind', t.kind, 'state', t.state, 'amount', t.amount::text, 'returnedAmount', t.returned_amount::text,
        'paidBy', t.paid_by, 'closedAmount', t.closed_amount::text, 'capturedIn', ${capturedIn}`,
    )} as suspense,
    ${listOf(
      "journal",
      `'kind', t.kind, 'cause', t.cause, 'debit', t.debit, 'credit', t.credit, 'amount', t.amount::text, 'sameOwner',
        (t.merchant_id, t.environment) = (p.merchant_id, p.environment) and t.currency = ${entryCurrency}`,
    )} as journal
  from payments p where p.id > $1 order by p.id limit $2`;

/** The books of payments after this id, in the order of ids. */
export async function booksAfter(sql: Sql, afterId: string, limit: number): Promise<PaymentBooks[]> {
  const rows = await sql.rows<Row>(booksText, [afterId, limit]);
  return rows.map(booksOf);
}

function booksOf(row: Row): PaymentBooks {
  const inMinorUnits = <T extends { amount: string }>(list: T[]) =>
    list.map((one) => ({ ...one, amount: BigInt(one.amount) }));
  return {
    id: row.id,
    amount: BigInt(row.amount),
    outcome: row.outcome,
    status: row.status,
    capturedAmount: BigInt(row.captured_amount),
    refundedAmount: BigInt(row.refunded_amount),
    feeAmount: BigInt(row.fee_amount),
    disputeHold: row.dispute_hold,
    disputedAmount: BigInt(row.disputed_amount),
    paidAttempts: row.paid_attempts,
    failedAttempts: row.failed_attempts,
    captures: row.captures.map(({ amount, rate }) => ({
      amount: BigInt(amount),
      rate: { basisPoints: BigInt(rate?.basisPoints ?? 0), fixed: BigInt(rate?.fixed ?? 0) },
    })),
    refunds: inMinorUnits(row.refunds),
    disputes: inMinorUnits(row.disputes),
    suspense: inMinorUnits(row.suspense).map((one) => ({
      ...one,
      returnedAmount: BigInt(one.returnedAmount),
      closedAmount: BigInt(one.closedAmount),
    })),
    journal: inMinorUnits(row.journal),
  };
}
