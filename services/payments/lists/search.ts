// The list's search (docs/contract.md §5): a payment id or its beginning, exactly four last digits, or a part of an
// e-mail in any case. Hits are found by the index of what is searched, e-mails first among the merchant's own
// (customer_emails); only a search with very many hits goes through the list.
import type { Sql } from "#platform/database/database.ts";
import type { PageWindow } from "#platform/lists/dated-list.ts";
import { type ItemRow, itemColumns, type Owner } from "../store/payment-records.ts";
import { behind, type Condition, type Narrowing, Params } from "./conditions.ts";

/** Within what is searched. */
type Within = Pick<Narrowing, "where" | "emails">;

interface Found {
  /** The page, newest first. */
  readonly rows: readonly ItemRow[];
  /** All hits, exactly. */
  readonly total: bigint;
}

/** One thing that can be meant. */
interface Way {
  /** What a payment must be. */
  readonly where: Condition;
  /** What one of the merchant's e-mails must be, and what a payment with that e-mail. */
  readonly byEmail?: { readonly email: Condition; readonly payment: Condition };
}

// So many hits are gathered from covering indexes and sorted in 0.1 to 0.3 s.
const hitsMaxDefault = 100_000;
const newestFirst = "order by t.created_at desc, t.id desc";

/** @param hitsMax with more hits the list is walked */
export async function searchPayments(
  sql: Sql,
  within: Within,
  q: string,
  window: PageWindow,
  hitsMax = hitsMaxDefault,
): Promise<Found> {
  const params = new Params();
  const hits = waysOf(within, q).map(
    (way) => `(select t.id, t.created_at ${hitsOf(way, params)} limit ${hitsMax + 1})`,
  );
  const unread = window.after ? `where ${behind(window.after).in(params)}` : "";
  const page = `limit ${params.add(window.limit)} offset ${params.add(window.offset)}`;
  const found = await sql.rows<(ItemRow | { id: null }) & { total: string }>(
    `with hits as materialized (${hits.join(" union ")})
     select (select count(*) from hits) as total, ${itemColumns} from (select) one
     left join payments t on t.id = any (array(select t.id from hits t ${unread} ${newestFirst} ${page})) ${newestFirst}`,
    params.values,
  );
  const total = BigInt(found[0]?.total ?? 0);
  if (total > hitsMax) return await walkList(sql, within, q, window);
  return { rows: found.filter((row): row is ItemRow & { total: string } => row.id !== null), total };
}

/** Hits without end: the page is met soon when walking the list in its order, but the total has to count every hit. */
async function walkList(sql: Sql, within: Within, q: string, window: PageWindow): Promise<Found> {
  const ways = waysOf(within, q, "apart");
  const params = new Params();
  const upTo = params.add(BigInt(window.limit) + window.offset);
  const { after } = window;
  const unread = ways.map(({ where }) => (after ? where.with(behind(after)) : where));
  const hits = unread.map(
    (where) => `(select t.id, t.created_at from payments t where ${where.in(params)} ${newestFirst} limit ${upTo})`,
  );
  const page = `limit ${params.add(window.limit)} offset ${params.add(window.offset)}`;
  const rows = await sql.rows<ItemRow>(
    `select ${itemColumns} from payments t
     where t.id = any (array(select t.id from (${hits.join(" union all ")}) t ${newestFirst} ${page})) ${newestFirst}`,
    params.values,
  );
  const countParams = new Params();
  const counts = ways.map(({ where }) => `(select count(*) from payments t where ${where.in(countParams)})`);
  const [counted] = await sql.rows<{ n: string }>(`select ${counts.join(" + ")} as n`, countParams.values);
  return { rows, total: BigInt(counted?.n ?? 0) };
}

/** The hits of a way, `from` and `where`, found by the index of what is searched. */
function hitsOf({ where, byEmail }: Way, params: Params): string {
  if (!byEmail) return `from payments t where ${where.in(params)}`;
  // `offset 0`: an e-mail's payments come from the index by e-mail, whatever the planner expects of a part of one.
  return `from customer_emails e, lateral (
      select t.id, t.created_at from payments t where ${byEmail.payment.in(params)} and t.customer_email = e.email offset 0) t
    where ${byEmail.email.in(params)}`;
}

/** What can be meant. @param apart no payment is a hit in two ways */
function waysOf({ where, emails }: Within, q: string, apart?: "apart"): readonly Way[] {
  const literal = q.replace(/[\\%_]/g, "\\$&");
  if (q.startsWith("pay_")) return [{ where: where.and("t.id like ?", `${literal}%`) }];
  const like = `%${literal}%`;
  const inEmail = (others: Condition): Way => {
    const payment = others.and("t.customer_email <> ''");
    return {
      where: payment.and("lower(t.customer_email) like lower(?)", like),
      byEmail: { payment, email: emails.and("lower(e.email) like lower(?)", like) },
    };
  };
  if (!/^\d{4}$/.test(q)) return [inEmail(where)];
  const others = apart ? where.and("t.card_last4 is distinct from ?", q) : where;
  return [{ where: where.and("t.card_last4 = ?", q) }, inEmail(others)];
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
