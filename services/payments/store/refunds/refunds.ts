// The refunds table. The caller holds the lock on the payment whenever it writes here.
import { byKey, idsByKey, inputIds } from "#platform/database/batch.ts";
import type { GroupedSql, Sql, Tx } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Refund, RefundStatus } from "../../rules/refund.ts";

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
export async function refundsOf(sql: GroupedSql, paymentId: string): Promise<readonly StoredRefund[]> {
  return await sql.together(refundsOfAll, paymentId);
}

async function refundsOfAll(sql: Sql, paymentIds: readonly string[]): Promise<(readonly StoredRefund[])[]> {
  const rows = await sql.rows<Row>(
    `select r.* from ${inputIds} join refunds r on r.payment_id = given.id order by r.created_at, r.id`,
    [idsByKey(paymentIds)],
  );
  const refunds = Map.groupBy(rows.map(refundOf), ({ paymentId }) => paymentId);
  return paymentIds.map((id) => refunds.get(id) ?? []);
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
  await tx.together(saveRefunds, { refund, ends });
}

async function saveRefunds(sql: Sql, saved: readonly { refund: Refund; ends: boolean }[]): Promise<true[]> {
  const rows = await sql.rows(
    `with saved as (
       select * from jsonb_to_recordset($1) as s (
         each integer, id text, status text, connector_ref text, failure_code text, failure_message text, acknowledged boolean,
         unasked boolean, ends boolean)
       where each = 1),
     ended as (
       update operations o set state = 'done', sealed_order = null from saved s
       where s.ends and o.kind = 'create_refund' and o.reference = s.id and o.state <> 'done')
     update refunds r set status = s.status, connector_ref = coalesce(r.connector_ref, s.connector_ref),
       failure_code = s.failure_code, failure_message = s.failure_message, acknowledged = s.acknowledged, unasked = s.unasked
     from saved s where r.id = s.id returning r.id`,
    [
      byKey(
        saved.map(({ refund, ends }) => ({
          id: refund.id,
          status: refund.status,
          connector_ref: refund.connectorRef || null,
          failure_code: refund.failureCode,
          failure_message: refund.failureMessage,
          acknowledged: refund.acknowledged,
          unasked: refund.unasked,
          ends,
        })),
        "id",
      ),
    ],
  );
  if (rows.length !== saved.length) throw new Error("a refund is not there, or was given twice");
  return saved.map(() => true);
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
