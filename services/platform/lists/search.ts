// A search with several interpretations, such as order number or e-mail. Each has its own index; the page merges all
// hits, newest first, with an exact total. When hits are too many to collect, they are counted by index and the list is
// scanned from the newest hit, as far as that pays.
import type { Sql } from "#platform/database/database.ts";
import { Condition, Params } from "./condition.ts";
import { afterCursor } from "./cursor.ts";
import type { PageWindow } from "./dated-list.ts";

/** One interpretation, over rows `t`. */
export interface Strategy {
  readonly match: Condition;
  /** Above this number hits are not collected. */
  readonly hitsMax: number;
  /** For a column whose matching values another table lists. */
  readonly known?: KnownValues;
}

/** Distinct matching values. */
interface KnownValues {
  /** A select of all of them. */
  readonly values: (params: Params) => string;
  /** The condition that an indexed column has one of the values. @param values an array of text, as SQL */
  readonly has: (values: string) => Condition;
}

/** The searched rows `t`, of a table with `id` and `created_at`. */
export interface SearchTarget {
  readonly table: "payments" | "sessions";
  /** Covered by the list-order index: owner and creation time. */
  readonly list: Condition;
  /** All conditions except the search itself. */
  readonly rows: Condition;
}

interface SearchResult {
  /** The page, newest first. */
  readonly ids: readonly string[];
  /** Exact number of hits. */
  readonly total: bigint;
}

const newestFirst = "order by t.created_at desc, t.id desc";
// Scanned in about 10 ms.
const passedMinDefault = 10_000;
// Scanning a row costs as much as counting this many hits.
const hitsPerPassed = 4n;

/** @param sql one snapshot @param passedMin rows to scan at least when hits are not collected */
export async function searchList(
  sql: Sql,
  searched: SearchTarget,
  strategies: readonly Strategy[],
  window: PageWindow,
  passedMin = passedMinDefault,
): Promise<SearchResult> {
  const params = new Params();
  const counted = strategies.map((strategy, i) => countStrategy(searched, strategy, i, params));
  const each = (column: string) => strategies.map((_strategy, i) => `(select ${column} from met_${i})`);
  const arrayOf = (column: string) => `array[${each(column).join(", ")}]`;
  const gathered = (all: string) =>
    strategies.map((strategy, i) => gatherStrategy(searched, strategy, i, params)).join(all);
  const unread = () => (window.after ? `where ${afterCursor(window.after).in(params)}` : "");
  const page = (hits: string) =>
    `array(select t.id from ${hits} t ${unread()} ${newestFirst} ${pageOf(window, params)})`;
  // Hits of a single strategy need no deduplication.
  const [row] = await sql.rows<{ found: number[]; newest: (string | null)[]; total: string; ids: string[] }>(
    `with ${counted.join(", ")},
     met as materialized (select ${each("isfull").join(" or ")} as isfull, ${each("hits").join(" + ")} as hits,
       ${each("(hits > 0)::int").join(" + ")} <= 1 as isone),
     hits as materialized (${gathered(" union ")})
     select ${arrayOf("n")}::int[] as found, ${arrayOf("newest")}::text[] as newest,
       case when (select isone from met) then (select hits from met) else (select count(*) from hits) end as total,
       case when (select isone from met) then ${page(`(${gathered(" union all ")})`)} else ${page("hits")} end as ids`,
    params.values,
  );
  const counts = strategies.map((strategy, i) => ({ strategy, n: row?.found[i] ?? 0, newest: row?.newest[i] ?? null }));
  const isFull = ({ strategy, n }: { strategy: Strategy; n: number }) => n > strategy.hitsMax;
  if (!counts.some(isFull)) return { ids: row?.ids ?? [], total: BigInt(row?.total ?? 0) };
  const met = counts.filter(({ n }) => n > 0);
  // Too many values are not looked up: all rows are compared.
  const meant = met.map(({ strategy: { match, hitsMax, known }, n }): Strategy => {
    return known && n <= hitsMax ? { match, hitsMax, known } : { match, hitsMax };
  });
  const [only, ...others] = met;
  const isCounted = only && !only.strategy.known && others.length === 0;
  const hits = isCounted ? { ...only, total: BigInt(only.n) } : await countHits(sql, searched, meant);
  const { total, newest } = hits;
  if (newest === null) return { ids: [], total };
  const passedMax = total / hitsPerPassed > passedMin ? total / hitsPerPassed : BigInt(passedMin);
  const ids = await scanNewest(sql, searched, meant, window, { passedMax, newest });
  return { ids: ids.length === window.limit ? ids : await sortHits(sql, searched, meant, window), total };
}

/** Common table expressions `met_i`: a strategy's number of hits, its newest hit, and whether the hits are too many. */
function countStrategy({ table, rows }: SearchTarget, strategy: Strategy, i: number, params: Params): string {
  const { hitsMax, known } = strategy;
  if (!known) {
    return `met_${i} as materialized (select n, n as hits, newest, n > ${hitsMax} as isfull from (
      select count(*) as n, max(t.created_at) as newest ${hitsOf(table, strategy, rows, params)}) hits)`;
  }
  const few = `(select case when n <= ${hitsMax} then all_of_them end from values_${i})::text[]`;
  return `values_${i} as materialized (select array_agg(value) as all_of_them, count(*) as n
      from (select * from (${known.values(params)}) v (value) limit ${hitsMax + 1}) v),
    hits_${i} as materialized (select t.id, t.created_at from ${table} t
      where ${rows.with(known.has(few)).in(params)} limit ${hitsMax + 1}),
    met_${i} as materialized (select greatest(hits, n) as n, hits, null as newest, greatest(hits, n) > ${hitsMax} as isfull
      from (select count(*) as hits from hits_${i}) counted, values_${i})`;
}

/** Selects a strategy's hits; none if any strategy has too many. */
function gatherStrategy({ table, rows }: SearchTarget, strategy: Strategy, i: number, params: Params): string {
  const found = strategy.known
    ? `select * from hits_${i} where true`
    : `select t.id, t.created_at ${hitsOf(table, strategy, rows, params)}`;
  return `${found} and not (select isfull from met)`;
}

/** All hits. `newest`: creation time as the database has it; null without hits. */
async function countHits(
  sql: Sql,
  { table, rows }: SearchTarget,
  strategies: readonly Strategy[],
): Promise<{ readonly total: bigint; readonly newest: string | null }> {
  const params = new Params();
  const counts = strategies.map((strategy, i) => {
    // A row counts for one strategy only, so the numbers add up.
    const own = strategies.slice(0, i).reduce((others, { match }) => others.without(match), rows);
    return `select count(*) as n, max(t.created_at) as newest ${hitsOf(table, strategy, own, params)}`;
  });
  const [counted] = await sql.rows<{ n: string; newest: string | null }>(
    `select sum(n) as n, max(newest)::text as newest from (${counts.join(" union all ")}) counts`,
    params.values,
  );
  return { total: BigInt(counted?.n ?? 0), newest: counted?.newest ?? null };
}

/**
 * @param newest time of the newest hit; old hits are clustered
 * @returns the page, or less if the scanned rows contain fewer hits
 */
async function scanNewest(
  sql: Sql,
  { table, list, rows }: SearchTarget,
  strategies: readonly Strategy[],
  window: PageWindow,
  { passedMax, newest }: { readonly passedMax: bigint; readonly newest: string },
): Promise<string[]> {
  if (window.offset + BigInt(window.limit) > passedMax) return [];
  const params = new Params();
  const fromNewest = list.and("t.created_at <= ?::timestamptz", newest);
  const unread = window.after ? fromNewest.with(afterCursor(window.after)) : fromNewest;
  const passed = `select * from ${table} t where ${unread.in(params)} ${newestFirst} limit ${params.add(passedMax)}`;
  const hits = rows.with(Condition.anyOf(strategies.map(({ match }) => match)));
  const found = await sql.rows<{ id: string }>(
    `select t.id from (${passed}) t where ${hits.in(params)} ${newestFirst} ${pageOf(window, params)}`,
    params.values,
  );
  return found.map(({ id }) => id);
}

/** Sparse hits are fewer than the rows between them, so they are sorted straight from their index. */
async function sortHits(
  sql: Sql,
  { table, rows }: SearchTarget,
  strategies: readonly Strategy[],
  window: PageWindow,
): Promise<string[]> {
  const params = new Params();
  const upTo = params.add(BigInt(window.limit) + window.offset);
  const unread = window.after ? rows.with(afterCursor(window.after)) : rows;
  // `offset 0` keeps the planner from walking the list order to avoid the sort.
  const hits = strategies.map((strategy) => {
    const all = `select t.id, t.created_at ${hitsOf(table, strategy, unread, params)} offset 0`;
    return `(select * from (${all}) t ${newestFirst} limit ${upTo})`;
  });
  const found = await sql.rows<{ id: string }>(
    `select t.id from (${hits.join(" union ")}) t ${newestFirst} ${pageOf(window, params)}`,
    params.values,
  );
  return found.map(({ id }) => id);
}

/** A strategy's hits as `from` and `where`, found by the index of the search. */
function hitsOf(table: string, { match, known }: Strategy, rows: Condition, params: Params): string {
  const found = known ? known.has(`array(${known.values(params)})`) : match;
  return `from ${table} t where ${rows.with(found).in(params)}`;
}

function pageOf({ limit, offset }: PageWindow, params: Params): string {
  return `limit ${params.add(limit)} offset ${params.add(offset)}`;
}
