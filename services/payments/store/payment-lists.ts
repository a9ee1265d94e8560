// The list of payments, newest first, with its exact total, for any combination of filters. Three ways, by what is asked: status
// and time alone come from counts by day; amounts from counts by week and amount (payment-totals.ts); a search from its hits.
import type { Database, Sql } from "#platform/database.ts";
import { listDated, type PageWindow } from "#platform/dated-list.ts";
import { timeRange } from "#platform/day-range.ts";
import { type Condition, conditionOf, Params, type PlainFilters } from "./payment-conditions.ts";
import { findWeek } from "./payment-counts.ts";
import { type ItemRow, item, itemColumns, type Owner, type PaymentItem } from "./payment-records.ts";
import { isPrefixOfAll, searchPayments } from "./payment-search.ts";
import { type AmountTotal, countByAmount } from "./payment-totals.ts";

/** What a list is narrowed by. */
export interface PaymentFilters extends PlainFilters {
  /** Payment id or its beginning, four last digits, or a part of an e-mail; empty: no search. */
  readonly q: string;
}

interface PaymentPage {
  readonly items: PaymentItem[];
  readonly total: bigint;
}

const list = { table: "payments", alias: "t", condition: "t.visible", columns: itemColumns };

/** Where one way of reading a page by amount becomes slower than another. */
const sizesDefault = {
  // So many index entries are gathered and sorted in about 10 ms. With more hits the next page's worth of them is soon met when
  // walking the list.
  gatheredMax: 10_000n,
  // Passing over so many is cheaper than finding the week in which the offset lies.
  passedMax: 1_000n,
};

/** @returns the page and how many payments the filters have in all, of one moment */
export async function listPayments(
  db: Pick<Database, "rows" | "snapshot">,
  owner: Owner,
  filters: PaymentFilters,
  window: PageWindow,
  sizes = sizesDefault,
): Promise<PaymentPage> {
  const hasAmounts = filters.minAmount !== undefined || filters.maxAmount !== undefined;
  if (filters.q === "" && !hasAmounts) return await listByDay(db, owner, filters, window);
  return await db.snapshot(async (sql) => {
    const where = conditionOf(owner, filters);
    if (filters.q !== "" && !(await isPrefixOfAll(sql, owner, filters.q))) {
      const { rows, total } = await searchPayments(sql, { owner, where, q: filters.q }, window);
      return { items: rows.map(item), total };
    }
    if (!hasAmounts) return await listByDay(sql, owner, filters, window);
    const counted = await countByAmount(sql, owner, filters);
    return { items: (await rowsByAmount(sql, where, counted, window, sizes)).map(item), total: counted.total };
  });
}

async function listByDay(sql: Sql, owner: Owner, filters: PaymentFilters, window: PageWindow): Promise<PaymentPage> {
  const filter = { ...owner, status: filters.status, range: timeRange(filters.from, filters.to) };
  const { rows, total } = await listDated<ItemRow>(sql, list, filter, window);
  return { items: rows.map(item), total };
}

/** The page. Few hits are gathered by whatever index is narrowest; many are met by walking the list from near the page. */
async function rowsByAmount(
  sql: Sql,
  where: Condition,
  { total, parts }: AmountTotal,
  { limit, offset }: PageWindow,
  { gatheredMax, passedMax }: typeof sizesDefault,
): Promise<ItemRow[]> {
  if (offset >= total) return [];
  const isFar = total > gatheredMax && offset > passedMax;
  const week = isFar ? await findWeek(sql, parts, offset) : undefined;
  const params = new Params();
  const near = week ? where.and("t.created_at < ?", week.ends) : where;
  const hits = `select t.id, t.created_at from payments t where ${near.in(params)}`;
  // `offset 0` keeps the planner from walking the list in order to save the sort.
  const gathered = total <= gatheredMax ? " offset 0" : "";
  return await sql.rows<ItemRow>(
    `select ${itemColumns} from payments t where t.id = any (array(
       select id from (${hits}${gathered}) t order by created_at desc, id desc
       limit ${params.add(limit)} offset ${params.add(offset - (week?.passed ?? 0n))}))
     order by t.created_at desc, t.id desc`,
    params.values,
  );
}
