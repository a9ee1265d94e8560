// Lists whose rows are counted one by one, because they stay short or an index covers their filters: a page, newest
// first, and the exact total in one statement, and so from one snapshot.
import type { Sql } from "#platform/database/database.ts";
import { Condition, inTimeRange, Params } from "#platform/lists/condition.ts";
import { afterCursor } from "#platform/lists/cursor.ts";
import type { PageWindow } from "#platform/lists/dated-list.ts";
import { timeRange } from "#platform/lists/day-range.ts";
import type { Owner } from "../store/payment-records.ts";

/** The owner's rows `t` with these values by column; an empty value matches all. */
export function ownRows({ merchantId, environment }: Owner, values: Readonly<Record<string, string>> = {}): Condition {
  const own = new Condition("t.merchant_id = ? and t.environment = ?", merchantId, environment);
  const given = Object.entries(values).filter(([, value]) => value !== "");
  return given.reduce((where, [column, value]) => where.and(`t.${column} = ?`, value), own);
}

/** Rows within the bounds, both included; undefined: unbounded. */
export function rowsWithin(
  where: Condition,
  column: string,
  { from, to }: { readonly from: Date | undefined; readonly to: Date | undefined },
): Condition {
  return from || to ? where.with(inTimeRange(column, timeRange(from, to))) : where;
}

interface CountedList {
  readonly table: string;
  /** The rows `t` of a page, if the table alone is not enough. */
  readonly from?: string;
  readonly columns: string;
  /** The list's order, before the id; default `created_at`. */
  readonly time?: string;
}

/** Rows before the offset are skipped without reading their columns. */
export async function readCountedPage<Row extends { readonly id: string }>(
  sql: Sql,
  { table, from = `${table} t`, columns, time = "created_at" }: CountedList,
  where: Condition,
  { limit, offset, after }: PageWindow,
): Promise<{ rows: Row[]; total: bigint }> {
  const params = new Params();
  const counted = where.in(params);
  const shown = after ? where.with(afterCursor(after, `t.${time}`)) : where;
  const found = await sql.rows<(Row | { readonly id: null }) & { readonly total: string }>(
    `select (select count(*) from ${table} t where ${counted}) as total, page.* from (select) one left join (
       select ${columns} from ${from} where t.id = any (array(
         select t.id from ${table} t where ${shown.in(params)}
         order by t.${time} desc, t.id desc limit ${params.add(limit)} offset ${params.add(offset)}))) page on true
     order by page.${time} desc, page.id desc`,
    params.values,
  );
  const rows = found.filter((row): row is Row & { readonly total: string } => row.id !== null);
  return { rows, total: BigInt(found[0]?.total ?? 0) };
}
