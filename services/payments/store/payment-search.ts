// The list's search (CONTRACT.md §5): a payment id or its beginning, exactly four last digits, or a part of an e-mail in any case.
// Hits are found by the index of what is searched; only a search with very many hits goes through the list.
import type { Sql } from "#platform/database.ts";
import type { PageWindow } from "#platform/dated-list.ts";
import { type Condition, ownPayments, Params } from "./payment-conditions.ts";
import { type ItemRow, itemColumns, type Owner } from "./payment-records.ts";

interface Found {
  /** The page, newest first. */
  readonly rows: readonly ItemRow[];
  /** All hits, exactly. */
  readonly total: bigint;
}

// So many hits are fetched and sorted in about 50 ms.
const hitsMaxDefault = 10_000;
const newestFirst = "order by t.created_at desc, t.id desc";

/** @param where the other filters @param hitsMax with more hits the list is walked */
export async function searchPayments(
  sql: Sql,
  where: Condition,
  q: string,
  window: PageWindow,
  hitsMax = hitsMaxDefault,
): Promise<Found> {
  const ways = waysOf(where, q);
  const params = new Params();
  const hits = eachWay(
    ways,
    (way) => `select t.id, t.created_at from payments t where ${way.in(params)} limit ${hitsMax + 1}`,
  );
  const page = `limit ${params.add(window.limit)} offset ${params.add(window.offset)}`;
  const found = await sql.rows<(ItemRow | { id: null }) & { total: string }>(
    `with hits as materialized (${hits})
     select (select count(*) from hits) as total, ${itemColumns} from (select) one
     left join payments t on t.id = any (array(select t.id from hits t ${newestFirst} ${page})) ${newestFirst}`,
    params.values,
  );
  const total = BigInt(found[0]?.total ?? 0);
  if (total > hitsMax) return await walk(sql, ways, window);
  return { rows: found.filter((row): row is ItemRow & { total: string } => row.id !== null), total };
}

/** Hits without end: the page is met soon when walking the list in its order, but the total has to count every hit. */
async function walk(sql: Sql, ways: readonly Condition[], window: PageWindow): Promise<Found> {
  const params = new Params();
  const upTo = params.add(BigInt(window.limit) + window.offset);
  const hits = eachWay(
    ways,
    (way) => `select t.id, t.created_at from payments t where ${way.in(params)} ${newestFirst} limit ${upTo}`,
  );
  const page = `limit ${params.add(window.limit)} offset ${params.add(window.offset)}`;
  const rows = await sql.rows<ItemRow>(
    `select ${itemColumns} from payments t
     where t.id = any (array(select t.id from (${hits}) t ${newestFirst} ${page})) ${newestFirst}`,
    params.values,
  );
  const countParams = new Params();
  const counts = eachWay(ways, (way) => `select count(*) as n from payments t where ${way.in(countParams)}`);
  const [counted] = await sql.rows<{ n: string }>(`select sum(n) as n from (${counts}) t`, countParams.values);
  return { rows, total: BigInt(counted?.n ?? 0) };
}

/** True when every payment of the owner has an id that begins so: then it narrows nothing. */
export async function isPrefixOfAll(sql: Sql, owner: Owner, q: string): Promise<boolean> {
  if (!q.startsWith("pay_")) return false;
  const params = new Params();
  const end = (order: string) =>
    `(select t.id from payments t where ${ownPayments(owner).in(params)} order by t.id using ${order} limit 1)`;
  const [ends] = await sql.rows<{ first: string | null; last: string | null }>(
    `select ${end("~<~")} as first, ${end("~>~")} as last`,
    params.values,
  );
  return ends?.first?.startsWith(q) === true && ends.last?.startsWith(q) === true;
}

/** What can be meant, each way by one index; no payment is a hit in two ways. */
function waysOf(where: Condition, q: string): readonly Condition[] {
  const literal = q.replace(/[\\%_]/g, "\\$&");
  if (q.startsWith("pay_")) return [where.and("t.id like ?", `${literal}%`)];
  const inEmail = where.and("t.customer_email <> '' and lower(t.customer_email) like lower(?)", `%${literal}%`);
  if (!/^\d{4}$/.test(q)) return [inEmail];
  return [where.and("t.card_last4 = ?", q), inEmail.and("t.card_last4 is distinct from ?", q)];
}

function eachWay(ways: readonly Condition[], select: (way: Condition) => string): string {
  return ways.map((way) => `(${select(way)})`).join(" union all ");
}
