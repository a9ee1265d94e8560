// Refunds as merchants read them: one, or lists of a payment's or of all, newest first, with the exact total of the
// filters. Read-only.
import type { Sql } from "#platform/database/database.ts";
import { afterCursorText } from "#platform/lists/cursor.ts";
import { type DatedFilter, listDated, type PageWindow } from "#platform/lists/dated-list.ts";
import { type Owner, type RefundRecord, type RefundRow, refundOf } from "../store/payment-records.ts";

interface RefundPage {
  readonly rows: RefundRecord[];
  readonly total: bigint;
}

export type RefundFilters = Pick<DatedFilter, "status" | "range">;

const list = { table: "refunds", alias: "t", condition: "true", columns: "t.*" };

/** Undefined when the owner has no such refund. */
export async function findRefundRecord(sql: Sql, owner: Owner, id: string): Promise<RefundRecord | undefined> {
  const [row] = await sql.rows<RefundRow>(
    "select * from refunds where id = $3 and merchant_id = $1 and environment = $2",
    [owner.merchantId, owner.environment, id],
  );
  return row && refundOf(row);
}

/** Of all refunds of the owner. */
export async function listRefundRecords(
  sql: Sql,
  { merchantId, environment }: Owner,
  filters: RefundFilters,
  window: PageWindow,
): Promise<RefundPage> {
  const filter = { merchantId, environment, ...filters };
  const { rows, total } = await listDated<RefundRow>(sql, list, filter, window);
  return { rows: rows.map(refundOf), total };
}

/** Refunds of one payment: as many as a payment has, so they are simply counted. */
export async function listRefundsOfPayment(
  sql: Sql,
  owner: Owner,
  paymentId: string,
  { status, range }: RefundFilters,
  window: PageWindow,
): Promise<RefundPage> {
  const where = `payment_id = $1 and merchant_id = $2 and environment = $3
       and ($6 = '' or status = $6) and created_at >= $7 and created_at < $8`;
  const { limit, offset, after } = window;
  const rows = await sql.rows<(RefundRow | { id: null }) & { total: string }>(
    `with own as materialized (select * from refunds where ${where})
     select (select count(*) from own) as total, page.* from (select) one left join (
       select * from own
       where $9::timestamptz is null or (${afterCursorText("created_at", "$9::timestamptz", "id", "$10::text")})
       order by created_at desc, id desc limit $4 offset $5) page on true
     order by created_at desc, id desc`,
    [
      ...[paymentId, owner.merchantId, owner.environment, limit, offset, status, range.from, range.to],
      ...[after?.createdAt ?? null, after?.id ?? null],
    ],
  );
  const refunds = rows.flatMap((row) => (row.id === null ? [] : [refundOf(row)]));
  return { rows: refunds, total: BigInt(rows[0]?.total ?? 0) };
}
