// Lists payments, newest first, with the exact total of any combination of filters. Status and time use the counts by
// day; amounts, kinds and captures use totals.ts; a search or an order reference uses search.ts. README.md has a
// picture.
import type { Database, Sql } from "#platform/database/database.ts";
import { type Condition, Params } from "#platform/lists/condition.ts";
import { afterCursor } from "#platform/lists/cursor.ts";
import { type DatedFilter, listDated, type PageWindow } from "#platform/lists/dated-list.ts";
import { type ItemRow, itemColumns, itemOf, type Owner, type PaymentItem } from "../store/payment-records.ts";
import { buildNarrowing, type Narrowing, type PlainFilters } from "./conditions.ts";
import { findKinds, kindsOf } from "./kinds.ts";
import { isPrefixOfAll, mayBeConnectorRef, searchPayments } from "./search.ts";
import { type AmountTotal, countByAmount, countByTime, countRows, findWeek } from "./totals.ts";

export interface PaymentFilters extends PlainFilters {
  /** Prefix of a payment id or order reference, last four digits, processor's id, or part of an e-mail; empty: all. */
  readonly q: string;
}

interface PaymentPage {
  readonly rows: PaymentItem[];
  readonly total: bigint;
}

const list = { table: "payments", condition: "t.visible", columns: itemColumns };

/** Thresholds at which another plan for a page becomes faster. */
const sizesDefault = {
  // Index entries that are collected and sorted in about 10 ms. With more hits, walking the list soon finds a page.
  gatheredMax: 10_000n,
  // Skipping this many rows is cheaper than finding the week of the offset.
  passedMax: 1_000n,
  // Payments that are skipped in about 40 ms; beyond that, finding the week of the newest hit is cheaper.
  walkedMax: 50_000n,
};

/** @returns the page and the filters' total in one snapshot */
export async function listPayments(
  db: Pick<Database, "rows" | "snapshot">,
  owner: Owner,
  filters: PaymentFilters,
  window: PageWindow,
  sizes = sizesDefault,
): Promise<PaymentPage> {
  const { q, orderReference, currency, connector, capturedFrom, capturedTo } = filters;
  const isPlain = q === "" && orderReference === "" && currency === "" && connector === "";
  const plain = buildNarrowing(owner, filters);
  if (isPlain && !capturedFrom && !capturedTo && !plain.amounts) return await listByDay(db, plain.dated, window);
  return await db.snapshot(async (sql) => {
    const kinds = await findKinds(sql, owner, filters);
    if (kinds?.length === 0) return { rows: [], total: 0n };
    const narrowing = kinds ? buildNarrowing(owner, filters, kinds) : plain;
    const search = (await isPrefixOfAll(sql, owner, q)) ? "" : q;
    if (search !== "" || orderReference !== "") {
      const ofOwner = mayBeConnectorRef(search) ? await kindsOf(sql, owner) : [];
      const connectors = [...new Set(ofOwner.map((kind) => kind.connector))];
      const { rows, total } = await searchPayments(sql, { ...narrowing, connectors }, search, window);
      return { rows: rows.map(itemOf), total };
    }
    if (!kinds && !narrowing.amounts) return await listByDay(sql, narrowing.dated, window);
    const counted = await count(sql, narrowing, filters);
    return { rows: (await pageRows(sql, narrowing, counted, window, sizes)).map(itemOf), total: counted.total };
  });
}

async function listByDay(sql: Sql, filter: DatedFilter, window: PageWindow): Promise<PaymentPage> {
  const { rows, total } = await listDated<ItemRow>(sql, list, filter, window);
  return { rows: rows.map(itemOf), total };
}

/** Counts exist per creation and per capture time; a filter by both is counted row by row. */
async function count(sql: Sql, narrowing: Narrowing, { from, to }: PlainFilters): Promise<AmountTotal> {
  if (narrowing.captured && (from || to)) return await countRows(sql, narrowing.where);
  return await (narrowing.amounts ? countByAmount(sql, narrowing) : countByTime(sql, narrowing));
}

/**
 * Few hits are collected from the narrowest index and sorted. Many are found by walking the list, from its newest
 * payment or, for old hits and far offsets, from the week of the offset.
 */
async function pageRows(
  sql: Sql,
  narrowing: Narrowing,
  { total, parts }: AmountTotal,
  window: PageWindow,
  { gatheredMax, passedMax, walkedMax }: typeof sizesDefault,
): Promise<ItemRow[]> {
  const { where, list, captured } = narrowing;
  const { limit, offset, after } = window;
  if (offset >= total) return [];
  const unread = after ? where.with(afterCursor(after)) : where;
  if (total <= gatheredMax) return await readPageOf(sql, gather(unread), window);
  const upTo = BigInt(limit) + offset;
  if (captured || after) return await readPageOf(sql, walk(armsOf(unread, captured), upTo), window);
  if (offset <= passedMax) {
    const rows = await readPageOf(sql, walkNewest(list, where, walkedMax), window);
    if (BigInt(rows.length) === (upTo < total ? BigInt(limit) : total - offset)) return rows;
  }
  const week = await findWeek(sql, parts, offset);
  const near = week ? where.and("t.created_at < ?", week.ends) : where;
  const passed = offset - (week?.passed ?? 0n);
  return await readPageOf(sql, walk([near], BigInt(limit) + passed), { limit, offset: passed });
}

/** Builds the select of ids and times from which a page is cut. */
type Hits = (params: Params) => string;

/** `offset 0` keeps the planner from walking the list in order to save the sort. */
function gather(where: Condition): Hits {
  return (params) => `select t.id, t.created_at from payments t where ${where.in(params)} offset 0`;
}

function walk(arms: readonly Condition[], upTo: bigint): Hits {
  const hits = (arm: Condition, params: Params) =>
    `(select t.id, t.created_at from payments t where ${arm.in(params)} ${newestFirst} limit ${params.add(upTo)})`;
  return (params) => arms.map((arm) => hits(arm, params)).join(" union all ");
}

function walkNewest(list: Condition, where: Condition, walkedMax: bigint): Hits {
  const newest = (params: Params) =>
    `select * from payments t where ${list.in(params)} ${newestFirst} limit ${params.add(walkedMax)}`;
  return (params) => `select t.id, t.created_at from (${newest(params)}) t where ${where.in(params)}`;
}

const newestFirst = "order by t.created_at desc, t.id desc";

async function readPageOf(sql: Sql, hits: Hits, { limit, offset }: PageWindow): Promise<ItemRow[]> {
  const params = new Params();
  return await sql.rows<ItemRow>(
    `select ${itemColumns} from payments t where t.id = any (array(
       select id from (${hits(params)}) t ${newestFirst} limit ${params.add(limit)} offset ${params.add(offset)}))
     ${newestFirst}`,
    params.values,
  );
}

/** The walk for captures begins a day after the last one; a second arm covers captures before their creation's day. */
function armsOf(where: Condition, captured: Narrowing["captured"]): readonly Condition[] {
  if (!captured || captured.to === "infinity") return [where];
  const begin = "?::timestamptz + interval '24 hours'";
  return [
    where.and(`t.created_at < ${begin}`, captured.to),
    where.and(`t.created_at - t.captured_at > interval '24 hours' and t.created_at >= ${begin}`, captured.to),
  ];
}
