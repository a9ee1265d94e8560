// The refunds table. The caller holds the lock on the payment whenever it writes here.
import type { Sql, Tx } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Refund, RefundStatus } from "../rules/refund.ts";

export interface StoredRefund extends Refund {
  readonly paymentId: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly currency: string;
  readonly connector: string;
}

interface Row {
  id: string;
  payment_id: string;
  merchant_id: string;
  environment: Environment;
  currency: string;
  amount: string;
  status: RefundStatus;
  connector: string;
  connector_ref: string | null;
  reason: string;
  failure_code: string;
  failure_message: string;
  acknowledged: boolean;
  unasked: boolean;
  created_at: string;
}

/** Refunds of the payment, oldest first. */
export async function refundsOf(sql: Sql, paymentId: string): Promise<StoredRefund[]> {
  const rows = await sql.rows<Row>(`select * from refunds where payment_id = $1 order by created_at, id`, [paymentId]);
  return rows.map(refundOf);
}

/** The refund, or undefined. */
export async function findRefund(sql: Sql, id: string): Promise<StoredRefund | undefined> {
  const [row] = await sql.rows<Row>(`select * from refunds where id = $1`, [id]);
  return row && refundOf(row);
}

/** Those of the ids that no refund of any payment has. */
export async function freeRefundIds(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql.rows<{ id: string }>(
    `select id from unnest($1::text[]) as id where not exists (select from refunds where refunds.id = id.id)`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}

export async function insertRefund(tx: Tx, refund: StoredRefund): Promise<void> {
  await tx.rows(
    `insert into refunds (id, payment_id, merchant_id, environment, currency, amount, status, connector, connector_ref, reason,
       failure_code, failure_message, acknowledged, created_at, unasked)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      refund.id,
      refund.paymentId,
      refund.merchantId,
      refund.environment,
      refund.currency,
      refund.amount,
      refund.status,
      refund.connector,
      refund.connectorRef || null,
      refund.reason,
      refund.failureCode,
      refund.failureMessage,
      refund.acknowledged,
      refund.createdAt.toISOString(),
      refund.unasked,
    ],
  );
}

/**
 * Writes what a refund has become.
 * @param ends true: and its operation has come to its end.
 */
export async function saveRefund(tx: Tx, refund: Refund, ends = false): Promise<void> {
  await tx.rows(
    `with ended as (
       update operations set state = 'done', sealed_order = null where $7 and kind = 'create_refund' and reference = $1 and state <> 'done')
     update refunds set status = $2, connector_ref = coalesce(connector_ref, $3), failure_code = $4, failure_message = $5,
       acknowledged = $6, unasked = $8 where id = $1`,
    [
      refund.id,
      refund.status,
      refund.connectorRef || null,
      refund.failureCode,
      refund.failureMessage,
      refund.acknowledged,
      ends,
      refund.unasked,
    ],
  );
}

function refundOf(row: Row): StoredRefund {
  return {
    id: row.id,
    paymentId: row.payment_id,
    merchantId: row.merchant_id,
    environment: row.environment,
    currency: row.currency,
    amount: BigInt(row.amount),
    status: row.status,
    connector: row.connector,
    connectorRef: row.connector_ref ?? "",
    reason: row.reason,
    failureCode: row.failure_code,
    failureMessage: row.failure_message,
    acknowledged: row.acknowledged,
    unasked: row.unasked,
    createdAt: new Date(row.created_at),
  };
}
