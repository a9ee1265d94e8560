// Refunds as merchants list them: those of one payment, or all, newest first, with their exact total. Read-only.
import type { Sql } from "#platform/database/database.ts";
import { listDated, type PageWindow } from "#platform/lists/dated-list.ts";
import { timeRange } from "#platform/lists/day-range.ts";
import { type Owner, type RefundRecord, type RefundRow, refundOf } from "../store/payment-records.ts";

interface RefundPage {
  readonly refunds: RefundRecord[];
  readonly total: bigint;
}

const list = { table: "refunds", alias: "t", condition: "true", columns: "t.*" };

/** All refunds of the owner. */
export async function listRefundRecords(sql: Sql, owner: Owner, window: PageWindow): Promise<RefundPage> {
  const filter = { ...owner, status: "", range: timeRange(undefined, undefined) };
  const { rows, total } = await listDated<RefundRow>(sql, list, filter, window);
  return { refunds: rows.map(refundOf), total };
}

/** Refunds of one payment: as many as a payment has, so they are simply counted. */
export async function listRefundsOfPayment(
  sql: Sql,
  owner: Owner,
  paymentId: string,
  window: PageWindow,
): Promise<RefundPage> {
  const where = "payment_id = $1 and merchant_id = $2 and environment = $3";
  const rows = await sql.rows<(RefundRow | { id: null }) & { total: string }>(
    `with own as materialized (select * from refunds where ${where})
     select (select count(*) from own) as total, page.* from (select) one left join (
       select * from own order by created_at desc, id desc limit $4 offset $5) page on true
     order by created_at desc, id desc`,
    [paymentId, owner.merchantId, owner.environment, window.limit, window.offset],
  );
  const refunds = rows.flatMap((row) => (row.id === null ? [] : [refundOf(row)]));
  return { refunds, total: BigInt(rows[0]?.total ?? 0) };
}
