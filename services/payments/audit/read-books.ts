// Reads what the auditor judges, each batch in ONE statement and so as of one moment. The fee schedules are ranked here
// anew.
import type { Sql } from "#platform/database/database.ts";
import type { PaymentBooks } from "./books.ts";

/** A number in JSON would lose digits past 2^53. */
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
  /** Null: no schedule was in effect. */
  rates: (Text<PaymentBooks["rates"][number]> | null)[];
  refunds: Text<PaymentBooks["refunds"][number]>[];
  disputes: Text<PaymentBooks["disputes"][number]>[];
  suspense: Text<PaymentBooks["suspense"][number]>[];
  journal: Text<PaymentBooks["journal"][number]>[];
}

/**
 * The schedule in effect at a time: a merchant's own goes before everybody's, then one of the currency, then one of the
 * connector, and among equals the latest that had begun.
 * @param at an SQL expression over `p`, a payment.
 */
function rateAt(at: string): string {
  return `(select jsonb_build_object('basisPoints', f.basis_points::text, 'fixed', f.fixed_amount::text) from fee_schedules f
    where (f.merchant_id = p.merchant_id or f.merchant_id = '*') and (f.currency = p.currency or f.currency = '*')
      and (f.connector = p.connector or f.connector = '*') and f.effective_from <= ${at}
    order by (f.merchant_id <> '*')::int * 4 + (f.currency <> '*')::int * 2 + (f.connector <> '*')::int desc,
      f.effective_from desc limit 1)`;
}

/** Fees are taken at the rate of the booking; that of the capture is the same but when a schedule began in between. */
const bookedAt = `(select max(j.created_at) from journal j where j.payment_id = p.id and j.kind = 'captured')`;

function listOf(table: string, fields: string): string {
  return `(select coalesce(jsonb_agg(jsonb_build_object(${fields})), '[]') from ${table} t where t.payment_id = p.id)`;
}

/** Another payment whose own intent is the one that `t` holds, and that keeps what the same attempt captured there. */
const capturedIn = `coalesce((select o.id from payments o
    where t.paid_by <> '' and o.connector = t.connector and o.connector_ref = t.connector_ref and o.id <> p.id
      and (select sum(case j.kind when 'captured' then j.amount when 'capture_returned' then -j.amount end) from journal j
        where j.payment_id = o.id and j.cause = t.paid_by) > 0
    order by o.id limit 1), '')`;

const booksText = `
  select p.id, p.amount, p.outcome, p.status, p.captured_amount, p.refunded_amount, p.fee_amount, p.dispute_hold, p.disputed_amount,
    array(select a.ref from attempts a where a.payment_id = p.id and a.outcome = 'succeeded') as paid_attempts,
    case when p.captured_amount = 0 then '[]'::jsonb
      else jsonb_build_array(${rateAt("p.captured_at")}, ${rateAt(bookedAt)}) end as rates,
    ${listOf("refunds", "'id', t.id, 'status', t.status, 'amount', t.amount::text, 'unasked', t.unasked")} as refunds,
    ${listOf("disputes", "'id', t.id, 'status', t.status, 'amount', t.amount::text, 'released', t.released")} as disputes,
    ${listOf(
      "suspense",
      `'id', t.id, 'kind', t.kind, 'state', t.state, 'amount', t.amount::text, 'returnedAmount', t.returned_amount::text,
        'paidBy', t.paid_by, 'keptAmount', t.kept_amount::text, 'capturedIn', ${capturedIn}`,
    )} as suspense,
    ${listOf(
      "journal",
      `'kind', t.kind, 'cause', t.cause, 'debit', t.debit, 'credit', t.credit, 'amount', t.amount::text, 'sameOwner',
        (t.merchant_id, t.environment, t.currency) = (p.merchant_id, p.environment, p.currency)`,
    )} as journal
  from payments p where p.id > $1 order by p.id limit $2`;

/** The books of the payments after this id, in the order of ids. */
export async function booksAfter(sql: Sql, afterId: string, limit: number): Promise<PaymentBooks[]> {
  const rows = await sql.rows<Row>(booksText, [afterId, limit]);
  return rows.map(booksOf);
}

function booksOf(row: Row): PaymentBooks {
  const inMinorUnits = <T extends { amount: string }>(list: T[]) =>
    list.map((one) => ({ ...one, amount: BigInt(one.amount) }));
  const rates = row.rates.filter((rate) => rate !== null);
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
    // Without any schedule there is no fee.
    rates:
      rates.length === 0
        ? [{ basisPoints: 0n, fixed: 0n }]
        : rates.map(({ basisPoints, fixed }) => ({ basisPoints: BigInt(basisPoints), fixed: BigInt(fixed) })),
    refunds: inMinorUnits(row.refunds),
    disputes: inMinorUnits(row.disputes),
    suspense: inMinorUnits(row.suspense).map((one) => ({
      ...one,
      returnedAmount: BigInt(one.returnedAmount),
      keptAmount: BigInt(one.keptAmount),
    })),
    journal: inMinorUnits(row.journal),
  };
}
