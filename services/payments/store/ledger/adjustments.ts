// The tables of journal adjustments. SQL enforces the rules, too: two people, one decision, lines posted unchanged.

import { Columns, optionalColumn, type RowOf, sqlColumn, text, time } from "#platform/database/columns.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { AdjustmentLine, AdjustmentState } from "../../rules/adjustment.ts";
import { nullableText } from "../payment-columns.ts";

const newColumns = new Columns({
  id: text,
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  /** Empty: about no payment. */
  aboutPaymentId: nullableText,
  reason: text,
  proposedBy: text,
  idempotencyKey: text,
});
const decisionColumns = new Columns({
  state: sqlColumn<AdjustmentState>("text"),
  proposedAt: time,
  /** Empty while it is proposed. */
  decidedBy: nullableText,
  decidedAt: optionalColumn(time),
  note: text,
});

export interface NewAdjustment extends RowOf<typeof newColumns> {
  readonly lines: readonly AdjustmentLine[];
}

export interface StoredAdjustment extends NewAdjustment, RowOf<typeof decisionColumns> {}

interface Row {
  lines: (Omit<AdjustmentLine, "amount"> & { amount: string })[];
}

const rowText = `select a.*, (
    select jsonb_agg(jsonb_build_object('currency', l.currency, 'debit', l.debit, 'credit', l.credit, 'amount', l.amount::text) order by l.position)
    from journal_adjustment_lines l where l.adjustment_id = a.id) as lines
  from journal_adjustments a`;

/** @returns false: the person has used the key before */
export async function insertAdjustment(tx: Tx, adjustment: NewAdjustment): Promise<boolean> {
  const { id, merchantId, environment, aboutPaymentId, reason, lines, proposedBy, idempotencyKey } = adjustment;
  const made = await tx.rows(
    `insert into journal_adjustments (id, merchant_id, environment, about_payment_id, reason, proposed_by, idempotency_key)
     values ($1, $2, $3, nullif($4, ''), $5, $6, $7) on conflict (proposed_by, idempotency_key) do nothing returning id`,
    [id, merchantId, environment, aboutPaymentId, reason, proposedBy, idempotencyKey],
  );
  if (made.length === 0) return false;
  await tx.rows(
    `insert into journal_adjustment_lines (adjustment_id, position, currency, debit, credit, amount)
     select $1, l.n - 1, l.currency, l.debit, l.credit, l.amount
     from unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) with ordinality as l (currency, debit, credit, amount, n)`,
    [
      id,
      lines.map((line) => line.currency),
      lines.map((line) => line.debit),
      lines.map((line) => line.credit),
      lines.map((line) => line.amount),
    ],
  );
  return true;
}

export async function findAdjustment(sql: Sql, id: string): Promise<StoredAdjustment | undefined> {
  const [row] = await sql.rows<Row>(`${rowText} where a.id = $1`, [id]);
  return row && adjustmentOf(row);
}

export async function findProposal(sql: Sql, proposedBy: string, key: string): Promise<StoredAdjustment | undefined> {
  const [row] = await sql.rows<Row>(`${rowText} where a.proposed_by = $1 and a.idempotency_key = $2`, [
    proposedBy,
    key,
  ]);
  return row && adjustmentOf(row);
}

export async function lockAdjustment(tx: Tx, id: string): Promise<StoredAdjustment | undefined> {
  const [row] = await tx.rows<Row>(`${rowText} where a.id = $1 for update of a`, [id]);
  return row && adjustmentOf(row);
}

export async function saveDecision(
  tx: Tx,
  id: string,
  decision: { readonly state: "approved" | "rejected"; readonly decidedBy: string; readonly note: string },
): Promise<void> {
  const { state, decidedBy, note } = decision;
  await tx.rows(
    `update journal_adjustments set state = $2, decided_by = $3, decided_at = now(), note = $4 where id = $1`,
    [id, state, decidedBy, note],
  );
}

/** Newest first. @param filter an empty text matches all */
export async function listAdjustments(
  sql: Sql,
  filter: { readonly state: string; readonly merchantId: string; readonly beforeId: string; readonly limit: number },
): Promise<StoredAdjustment[]> {
  const rows = await sql.rows<Row>(
    `${rowText} where ($1 = '' or a.state = $1) and ($2 = '' or a.merchant_id = $2) and ($3 = '' or a.id < $3)
     order by a.id desc limit $4`,
    [filter.state, filter.merchantId, filter.beforeId, filter.limit],
  );
  return rows.map(adjustmentOf);
}

function adjustmentOf(row: Row): StoredAdjustment {
  const lines = row.lines.map((line) => ({ ...line, amount: BigInt(line.amount) }));
  return { ...newColumns.read(row), ...decisionColumns.read(row), lines };
}
