// A search that can mean several things, such as an order number or an e-mail: each is found by its own index, and the
// page is made of all hits, newest first, with their exact number. What has very many hits is not gathered: the list
// is walked for the page, and only their number is counted.
import type { Sql } from "#platform/database/database.ts";
import { behind, type Condition, Params } from "./condition.ts";
import type { PageWindow } from "./dated-list.ts";

/** One thing that can be meant, of rows `t`. */
export interface Way {
  readonly match: Condition;
  /** With more hits the list is walked. */
  readonly hitsMax: number;
  /** The hits among the rows, `from` and `where`, where another table finds them. */
  readonly hits?: (rows: Condition, params: Params) => string;
}

interface Found {
  /** The page, newest first. */
  readonly ids: readonly string[];
  /** All hits, exactly. */
  readonly total: bigint;
}

const newestFirst = "order by t.created_at desc, t.id desc";

/**
 * @param table has `id` and `created_at`
 * @param rows what a row must be besides
 * @param sql one snapshot
 */
export async function searchList(
  sql: Sql,
  table: "payments" | "sessions",
  rows: Condition,
  ways: readonly Way[],
  window: PageWindow,
): Promise<Found> {
  const params = new Params();
  const hits = ways.map(
    (way, i) =>
      `hits_${i} as materialized (select t.id, t.created_at ${hitsOf(table, way, rows, params)} limit ${way.hitsMax + 1})`,
  );
  const unread = window.after ? `where ${behind(window.after).in(params)}` : "";
  const [row] = await sql.rows<{ found: number[]; total: string; ids: string[] }>(
    `with ${hits.join(", ")},
     hits as materialized (${ways.map((_way, i) => `select * from hits_${i}`).join(" union ")})
     select array[${ways.map((_way, i) => `(select count(*) from hits_${i})`).join(", ")}]::int[] as found,
       (select count(*) from hits) as total,
       array(select t.id from hits t ${unread} ${newestFirst} ${pageOf(window, params)}) as ids`,
    params.values,
  );
  const isFull = ways.map(({ hitsMax }, i) => (row?.found[i] ?? 0) > hitsMax);
  if (isFull.includes(true)) return await walkList(sql, table, rows, ways, isFull, window);
  return { ids: row?.ids ?? [], total: BigInt(row?.total ?? 0) };
}

/** What has hits without end is met soon when walking the list in its order, but its number is counted hit by hit. */
async function walkList(
  sql: Sql,
  table: "payments" | "sessions",
  rows: Condition,
  ways: readonly Way[],
  isFull: readonly boolean[],
  window: PageWindow,
): Promise<Found> {
  // No row is a hit in two ways, so that numbers add up.
  const apart = (all: Condition, way: number) =>
    ways.slice(0, way).reduce((others, { match }) => others.without(match), all);
  const params = new Params();
  const upTo = params.add(BigInt(window.limit) + window.offset);
  const unread = window.after ? rows.with(behind(window.after)) : rows;
  const pages = ways.map((way, i) => {
    const own = apart(unread, i);
    if (!isFull[i]) return `(select t.id, t.created_at ${hitsOf(table, way, own, params)})`;
    const where = own.with(way.match).in(params);
    return `(select t.id, t.created_at from ${table} t where ${where} ${newestFirst} limit ${upTo})`;
  });
  const found = await sql.rows<{ id: string }>(
    `select t.id from (${pages.join(" union all ")}) t ${newestFirst} ${pageOf(window, params)}`,
    params.values,
  );
  const countParams = new Params();
  const counts = ways.map((way, i) => {
    const own = apart(rows, i);
    const hits = isFull[i] ? `from ${table} t where ${own.with(way.match).in(countParams)}` : undefined;
    return `(select count(*) ${hits ?? hitsOf(table, way, own, countParams)})`;
  });
  const [counted] = await sql.rows<{ n: string }>(`select ${counts.join(" + ")} as n`, countParams.values);
  return { ids: found.map(({ id }) => id), total: BigInt(counted?.n ?? 0) };
}

/** The hits of a way, `from` and `where`, found by the index of what is searched. */
function hitsOf(table: string, { match, hits }: Way, rows: Condition, params: Params): string {
  return hits ? hits(rows, params) : `from ${table} t where ${rows.with(match).in(params)}`;
}

function pageOf({ limit, offset }: PageWindow, params: Params): string {
  return `limit ${params.add(limit)} offset ${params.add(offset)}`;
}
