// The list's search (docs/contract.md §5): a payment id or its beginning; else the beginning of an order reference,
// exactly four last digits, or a part of an e-mail in any case, which is found first among the merchant's own
// (customer_emails).
import type { Sql } from "#platform/database/database.ts";
import { beginsWith, Condition, literalPattern, type Params } from "#platform/lists/condition.ts";
import type { PageWindow } from "#platform/lists/dated-list.ts";
import { searchList, type Way } from "#platform/lists/search.ts";
import { type ItemRow, itemColumns, type Owner } from "../store/payment-records.ts";
import { hasReference, type Narrowing } from "./conditions.ts";

/** Within what is searched. */
type Within = Pick<Narrowing, "where" | "emails">;

interface Found {
  /** The page, newest first. */
  readonly rows: readonly ItemRow[];
  /** All hits, exactly. */
  readonly total: bigint;
}

// So many hits are gathered from covering indexes and sorted in 0.1 to 0.3 s; a walk for e-mails compares all of them.
const hitsMaxDefault = 100_000;
// References are counted in their index alone, which is quicker than sorting as many.
const referencesMax = 10_000;

/** @param q empty: what the filters leave. @param hitsMax with more hits of a way the list is walked */
export async function searchPayments(
  sql: Sql,
  within: Within,
  q: string,
  window: PageWindow,
  hitsMax = hitsMaxDefault,
): Promise<Found> {
  const { ids, total } = await searchList(sql, "payments", within.where, waysOf(within, q, hitsMax), window);
  if (ids.length === 0) return { rows: [], total };
  const rows = await sql.rows<ItemRow>(
    `select ${itemColumns} from payments t where t.id = any ($1) order by t.created_at desc, t.id desc`,
    [ids],
  );
  return { rows, total };
}

/** What can be meant; without a search all of them. */
function waysOf({ emails }: Within, q: string, hitsMax: number): readonly Way[] {
  if (q === "") return [{ match: new Condition("true"), hitsMax }];
  if (q.startsWith("pay_")) return [{ match: beginsWith("t.id", q), hitsMax }];
  const reference = {
    match: beginsWith(`${hasReference} and t.order_reference`, q),
    hitsMax: Math.min(hitsMax, referencesMax),
  };
  const last4 = { match: new Condition("t.card_last4 = ?", q), hitsMax };
  const like = `%${literalPattern(q)}%`;
  const owned = emails.and("lower(e.email) like lower(?)", like);
  const email: Way = {
    match: new Condition("t.customer_email <> '' and lower(t.customer_email) like lower(?)", like),
    hitsMax,
    hits: (rows, params) => hitsByEmail(rows, owned, params),
  };
  return [reference, ...(/^\d{4}$/.test(q) ? [last4] : []), email];
}

/** `offset 0`: an e-mail's payments come from the index by e-mail, whatever the planner expects of a part of one. */
function hitsByEmail(rows: Condition, owned: Condition, params: Params): string {
  const payment = rows.and("t.customer_email <> ''").in(params);
  return `from customer_emails e, lateral (
      select t.id, t.created_at from payments t where ${payment} and t.customer_email = e.email offset 0) t
    where ${owned.in(params)}`;
}

/** True when every payment of the owner has an id that begins so: then it narrows nothing. */
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
