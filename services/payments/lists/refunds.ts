// Reads refunds for merchants: one, those of a payment or all, newest first, with the exact total of the filters.
import type { Sql } from "#platform/database/database.ts";
import { afterCursorText } from "#platform/lists/cursor.ts";
import { type DatedFilter, listDated, type PageWindow } from "#platform/lists/dated-list.ts";
import type { Owner } from "../store/payment-records.ts";
import { refundColumns, type StoredRefund } from "../store/refunds/refunds.ts";

interface RefundPage {
  readonly rows: StoredRefund[];
  readonly total: bigint;
}

type RefundFilters = Pick<DatedFilter, "status" | "range">;

const list = { table: "refunds", alias: "t", condition: "true", columns: "t.*" };

/** undefined: the owner has no such refund. */
export async function findRefundRecord(sql: Sql, owner: Owner, id: string): Promise<StoredRefund | undefined> {
  const [row] = await sql.rows<object>(
    "select * from refunds where id = $3 and merchant_id = $1 and environment = $2",
    [owner.merchantId, owner.environment, id],
  );
  return row && refundColumns.read(row);
}

export async function listRefundRecords(
  sql: Sql,
  { merchantId, environment }: Owner,
  filters: RefundFilters,
  window: PageWindow,
): Promise<RefundPage> {
  const filter = { merchantId, environment, ...filters };
  const { rows, total } = await listDated<{ id: string }>(sql, list, filter, window);
  return { rows: rows.map((row) => refundColumns.read(row)), total };
}

/** One payment has few refunds, so they are counted one by one. */
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
  const rows = await sql.rows<{ id: string | null; total: string }>(
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
  const refunds = rows.flatMap((row) => (row.id === null ? [] : [refundColumns.read(row)]));
  return { rows: refunds, total: BigInt(rows[0]?.total ?? 0) };
}
