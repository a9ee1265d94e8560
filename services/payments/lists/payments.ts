// The list of payments, newest first, with its exact total, for any combination of filters. Three ways, by what is
// asked: status and time alone come from counts by day; amounts from counts by week and amount (totals.ts); a search
// from its hits.
import type { Database, Sql } from "#platform/database/database.ts";
import { type DatedFilter, listDated, type PageWindow } from "#platform/lists/dated-list.ts";
import { type ItemRow, itemColumns, itemOf, type Owner, type PaymentItem } from "../store/payment-records.ts";
import { behind, type Condition, narrow, Params, type PlainFilters } from "./conditions.ts";
import { isPrefixOfAll, searchPayments } from "./search.ts";
import { type AmountTotal, countByAmount, findWeek } from "./totals.ts";

/** What a list is narrowed by. */
export interface PaymentFilters extends PlainFilters {
  /** Payment id or its beginning, four last digits, or a part of an e-mail; empty: no search. */
  readonly q: string;
}

interface PaymentPage {
  readonly rows: PaymentItem[];
  readonly total: bigint;
}

const list = { table: "payments", alias: "t", condition: "t.visible", columns: itemColumns };

/** Where one way of reading a page by amount becomes slower than another. */
const sizesDefault = {
  // So many index entries are gathered and sorted in about 10 ms. With more hits the next page's worth of them is soon
  // met when walking the list.
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
  const { q } = filters;
  const narrowing = narrow(owner, filters);
  const { where, dated, amounts } = narrowing;
  if (q === "" && !amounts) return await listByDay(db, dated, window);
  return await db.snapshot(async (sql) => {
    if (q !== "" && !(await isPrefixOfAll(sql, owner, q))) {
      const { rows, total } = await searchPayments(sql, narrowing, q, window);
      return { rows: rows.map(itemOf), total };
    }
    if (!amounts) return await listByDay(sql, dated, window);
    const counted = await countByAmount(sql, narrowing);
    return { rows: (await rowsByAmount(sql, where, counted, window, sizes)).map(itemOf), total: counted.total };
  });
}

async function listByDay(sql: Sql, filter: DatedFilter, window: PageWindow): Promise<PaymentPage> {
  const { rows, total } = await listDated<ItemRow>(sql, list, filter, window);
  return { rows: rows.map(itemOf), total };
}

/**
 * The page. Few hits are gathered by whatever index is narrowest; many are met by walking the list from near the page.
 */
async function rowsByAmount(
  sql: Sql,
  where: Condition,
  { total, parts }: AmountTotal,
  { limit, offset, after }: PageWindow,
  { gatheredMax, passedMax }: typeof sizesDefault,
): Promise<ItemRow[]> {
  if (offset >= total) return [];
  const isFar = total > gatheredMax && offset > passedMax;
  const week = isFar ? await findWeek(sql, parts, offset) : undefined;
  const params = new Params();
  const unread = after ? where.with(behind(after)) : where;
  const near = week ? unread.and("t.created_at < ?", week.ends) : unread;
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
