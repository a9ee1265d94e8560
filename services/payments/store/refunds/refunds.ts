// The refunds table. The caller holds the lock on the payment whenever it writes here.
import { asJson, byKey, idsByKey, inputIds } from "#platform/database/batch.ts";
import { bigint, boolean, Columns, type RowOf, sqlColumn, text, time } from "#platform/database/columns.ts";
import type { GroupedSql, Sql, Tx } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Refund, RefundStatus } from "../../rules/refund.ts";
import { nullableText } from "../payment-columns.ts";

export const refundColumns = new Columns({
  id: text,
  paymentId: text,
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  currency: text,
  amount: bigint,
  status: sqlColumn<RefundStatus>("text"),
  connector: text,
  connectorRef: nullableText,
  reason: text,
  failureCode: text,
  failureMessage: text,
  acknowledged: boolean,
  unasked: boolean,
  createdAt: time,
});
const changingColumns = refundColumns.pick("status", "failureCode", "failureMessage", "acknowledged", "unasked");

export type StoredRefund = RowOf<typeof refundColumns>;

/** Refunds of the payment, oldest first. */
export async function refundsOf(sql: GroupedSql, paymentId: string): Promise<readonly StoredRefund[]> {
  return await sql.batched(refundsOfAll, paymentId);
}

async function refundsOfAll(sql: Sql, paymentIds: readonly string[]): Promise<(readonly StoredRefund[])[]> {
  const rows = await sql.rows<object>(
    `select r.* from ${inputIds} join refunds r on r.payment_id = given.id order by r.created_at, r.id`,
    [idsByKey(paymentIds)],
  );
  const refunds = Map.groupBy(
    rows.map((row) => refundColumns.read(row)),
    ({ paymentId }) => paymentId,
  );
  return paymentIds.map((id) => refunds.get(id) ?? []);
}

export async function findRefund(sql: Sql, id: string): Promise<StoredRefund | undefined> {
  const [row] = await sql.rows<object>(`select * from refunds where id = $1`, [id]);
  return row && refundColumns.read(row);
}

/** The ids that no refund has. */
export async function freeRefundIds(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql.rows<{ id: string }>(
    `select id from unnest($1::text[]) as id where not exists (select from refunds where refunds.id = id.id)`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}

export async function insertRefund(tx: Tx, refund: StoredRefund): Promise<void> {
  await tx.rows(
    `insert into refunds (${refundColumns.names()})
     select ${refundColumns.names()} from jsonb_to_recordset($1) as r (${refundColumns.types})`,
    [asJson([refundColumns.write(refund)])],
  );
}

/** @param ends the refund's operation is done, too */
export async function saveRefund(tx: Tx, refund: Refund, ends = false): Promise<void> {
  await tx.batched(saveRefunds, { refund, ends });
}

async function saveRefunds(sql: Sql, saved: readonly { refund: Refund; ends: boolean }[]): Promise<true[]> {
  const rows = await sql.rows(
    `with saved as (
       select * from jsonb_to_recordset($1) as s (
         each integer, id text, connector_ref text, ${changingColumns.types}, ends boolean)
       where each = 1),
     ended as (
       update operations o set state = 'done', sealed_order = null from saved s
       where s.ends and o.kind = 'create_refund' and o.reference = s.id and o.state <> 'done')
     update refunds r set connector_ref = coalesce(r.connector_ref, s.connector_ref), ${changingColumns.assignments("s")}
     from saved s where r.id = s.id returning r.id`,
    [
      byKey(
        saved.map(({ refund, ends }) => {
          const { id, connectorRef } = refund;
          return { id, connector_ref: connectorRef || null, ...changingColumns.write(refund), ends };
        }),
        "id",
      ),
    ],
  );
  if (rows.length !== saved.length) throw new Error("a refund is missing or was saved twice");
  return saved.map(() => true);
}
