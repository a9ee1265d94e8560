// The list's search (docs/contract.md §5) by the prefix of a payment id; else by the prefix of an order reference, the
// last four digits, the processor's id, or a part of an e-mail, which is looked up in customer_emails first.
import type { Sql } from "#platform/database/database.ts";
import { beginsWith, Condition, literalPattern } from "#platform/lists/condition.ts";
import type { PageWindow } from "#platform/lists/dated-list.ts";
import { type Strategy, searchList } from "#platform/lists/search.ts";
import { type ItemRow, itemColumns, type Owner } from "../store/payment-records.ts";
import { hasReference, type Narrowing } from "./conditions.ts";

interface Within extends Pick<Narrowing, "list" | "where" | "emails"> {
  /** The merchant's connectors, if the search may be a processor's id. */
  readonly connectors?: readonly string[];
}

interface SearchPage {
  /** The page, newest first. */
  readonly rows: readonly ItemRow[];
  /** Exact number of hits. */
  readonly total: bigint;
}

/** Thresholds at which another plan becomes faster. */
const sizesDefault = {
  // Hits that are collected and sorted in about 10 ms; more are counted in their index alone.
  gatheredMax: 10_000,
  // Hits by e-mail that are collected in a second; the alternative compares the e-mails of all payments.
  emailHitsMax: 100_000,
  // At least this many of the newest payments are scanned for hits that are not collected.
  passedMin: 10_000,
};

/** @param q empty: all payments of the filters */
export async function searchPayments(
  sql: Sql,
  within: Within,
  q: string,
  window: PageWindow,
  sizes = sizesDefault,
): Promise<SearchPage> {
  const searched = { table: "payments", list: within.list, rows: within.where } as const;
  const strategies = await chooseStrategies(sql, within, q, sizes);
  const { ids, total } = await searchList(sql, searched, strategies, window, sizes.passedMin);
  if (ids.length === 0) return { rows: [], total };
  const rows = await sql.rows<ItemRow>(
    `select ${itemColumns} from payments t where t.id = any ($1) order by t.created_at desc, t.id desc`,
    [ids],
  );
  return { rows, total };
}

/** One strategy for each possible meaning of `q`. */
async function chooseStrategies(
  sql: Sql,
  { emails, connectors = [] }: Within,
  q: string,
  { gatheredMax: hitsMax, emailHitsMax }: typeof sizesDefault,
): Promise<readonly Strategy[]> {
  if (q === "") return [{ match: new Condition("true"), hitsMax }];
  if (q.startsWith("pay_")) return [{ match: beginsWith("t.visible", "t.id", q), hitsMax }];
  // Lower case by the database, as in the index.
  const [{ small = q } = {}] = await sql.rows<{ small: string }>("select lower($1) as small", [q]);
  const reference = { match: beginsWith(hasReference, "lower(t.order_reference)", small), hitsMax };
  const last4 = { match: new Condition("t.card_last4 = ?", q), hitsMax };
  const like = `%${literalPattern(q)}%`;
  const owned = emails.and("lower(e.email) like lower(?)", like);
  const email: Strategy = {
    match: new Condition("t.customer_email <> '' and lower(t.customer_email) like lower(?)", like),
    hitsMax: emailHitsMax,
    known: {
      values: (params) => `select e.email from customer_emails e where ${owned.in(params)}`,
      // A sorted array is matched in one pass over the index by e-mail; single lookups take three times as long.
      has: (values) => new Condition(`t.customer_email <> '' and t.customer_email = any (${values})`),
    },
  };
  const ref = { match: new Condition("t.connector = any(?) and t.connector_ref = ?", connectors, q), hitsMax };
  return [reference, ...(/^\d{4}$/.test(q) ? [last4] : []), ...(connectors.length === 0 ? [] : [ref]), email];
}

/** Processors' ids have at least ten characters. */
export function mayBeConnectorRef(q: string): boolean {
  return /^[\w-]{10,128}$/.test(q);
}

/** True if all payment ids of the owner have this prefix. */
export async function isPrefixOfAll(sql: Sql, owner: Owner, q: string): Promise<boolean> {
  if (!q.startsWith("pay_")) return false;
  const end = (order: string) =>
    `(select t.id from payments t where t.merchant_id = $1 and t.environment = $2 and t.visible
      order by t.id using ${order} limit 1)`;
  const [ends] = await sql.rows<{ first: string | null; last: string | null }>(
    `select ${end("~<~")} as first, ${end("~>~")} as last`,
    [owner.merchantId, owner.environment],
  );
  return ends?.first?.startsWith(q) === true && ends.last?.startsWith(q) === true;
}
