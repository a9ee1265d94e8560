// Reads refunds for merchants: one, those of a payment or all, newest first, with the exact total of the filters.
import type { Sql } from "#platform/database/database.ts";
import { Condition, inTimeRange, literalPattern, Params } from "#platform/lists/condition.ts";
import { afterCursor } from "#platform/lists/cursor.ts";
import { type DatedFilter, listDated, type PageWindow } from "#platform/lists/dated-list.ts";
import type { Owner } from "../store/payment-records.ts";
import { refundColumns, type StoredRefund } from "../store/refunds/refunds.ts";

interface RefundPage {
  readonly rows: StoredRefund[];
  readonly total: bigint;
}

type RefundFilters = Pick<DatedFilter, "status" | "range">;

const list = { table: "refunds", condition: "true", columns: "t.*" };

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

/** Refunds that other conditions than status and time select. */
interface RefundChoice {
  /** Empty: of all payments. */
  readonly paymentId: string;
  /** In any case; empty: all. */
  readonly orderReference: string;
  readonly customerEmail: string;
  /** Failed, and the payment has no later refund that is under way or made. */
  readonly needsAction: boolean;
}

/** One payment, order or buyer has few refunds, and few fail, so they are counted one by one. */
export async function listChosenRefunds(
  sql: Sql,
  owner: Owner,
  choice: RefundChoice,
  { status, range }: RefundFilters,
  window: PageWindow,
): Promise<RefundPage> {
  const { limit, offset, after } = window;
  const params = new Params();
  let own = chosenBy(owner, choice).with(inTimeRange("t.created_at", range));
  if (status !== "") own = own.and("t.status = ?", status);
  const shown = after ? afterCursor(after) : new Condition("true");
  const rows = await sql.rows<{ id: string | null; total: string }>(
    `with own as materialized (select t.* from refunds t where ${own.in(params)})
     select (select count(*) from own) as total, page.* from (select) one left join (
       select t.* from own t where ${shown.in(params)}
       order by t.created_at desc, t.id desc limit ${params.add(limit)} offset ${params.add(offset)}) page on true
     order by page.created_at desc, page.id desc`,
    params.values,
  );
  const refunds = rows.flatMap((row) => (row.id === null ? [] : [refundColumns.read(row)]));
  return { rows: refunds, total: BigInt(rows[0]?.total ?? 0) };
}

function chosenBy({ merchantId, environment }: Owner, choice: RefundChoice): Condition {
  const { paymentId, orderReference, customerEmail, needsAction } = choice;
  const of = (table: string) => `${table}.merchant_id = ? and ${table}.environment = ?`;
  let where = new Condition(of("t"), merchantId, environment);
  if (paymentId !== "") where = where.and("t.payment_id = ?", paymentId);
  const payments = (condition: string) =>
    `t.payment_id in (select p.id from payments p where ${of("p")} and ${condition})`;
  if (orderReference !== "") {
    const isOfReference = "p.visible and p.order_reference <> '' and lower(p.order_reference) = lower(?)";
    where = where.and(payments(isOfReference), merchantId, environment, orderReference);
  }
  if (customerEmail !== "") {
    const emails = `select e.email from customer_emails e where ${of("e")} and lower(e.email) like lower(?)`;
    const isOfEmail = `p.visible and p.customer_email <> '' and p.customer_email = any (array(${emails}))`;
    const pattern = literalPattern(customerEmail);
    where = where.and(payments(isOfEmail), merchantId, environment, merchantId, environment, pattern);
  }
  if (!needsAction) return where;
  return where.and(`t.status = 'failed' and not exists (
    select from refunds later where later.payment_id = t.payment_id
      and later.status in ('pending', 'succeeded') and later.created_at > t.created_at)`);
}

/** Order reference and e-mail of the refunds' payments, by payment. */
export async function findBuyers(
  sql: Sql,
  refunds: readonly StoredRefund[],
): Promise<ReadonlyMap<string, RefundBuyer>> {
  const rows = await sql.rows<{ id: string; order_reference: string; customer_email: string }>(
    "select id, order_reference, customer_email from payments where id = any ($1)",
    [refunds.map(({ paymentId }) => paymentId)],
  );
  return new Map(
    rows.map((row) => [row.id, { orderReference: row.order_reference, customerEmail: row.customer_email }]),
  );
}

interface RefundBuyer {
  readonly orderReference: string;
  readonly customerEmail: string;
}
