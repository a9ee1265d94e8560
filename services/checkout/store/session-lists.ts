// Reading sessions for their merchant: one by id, or a page with the exact total of its filters.
import type { Database, Sql } from "#platform/database/database.ts";
import { beginsWith, Condition, inTimeRange } from "#platform/lists/condition.ts";
import { listDated, type PageWindow } from "#platform/lists/dated-list.ts";
import { timeRange } from "#platform/lists/day-range.ts";
import { type SearchTarget, type Strategy, searchList } from "#platform/lists/search.ts";
import { idFloor } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { listedColumns, type SessionRow, type StoredSession, sessionColumns, sessionOf } from "./sessions.ts";

export interface Owner {
  readonly merchantId: string;
  readonly environment: Environment;
}

export interface ListFilter extends Owner {
  /** Exact; empty: all. */
  readonly status: string;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  /** Exact; empty: all. */
  readonly orderReference: string;
  /** Exact but for the case of letters; empty: all. */
  readonly customerEmail: string;
  /**
   * A session's id or its payment's, or the first fourteen characters of either behind its prefix, which buyers quote;
   * or the beginning of an order reference or of an e-mail in any case; empty: no search.
   */
  readonly q: string;
}

export async function findOwnSession(sql: Sql, owner: Owner, id: string): Promise<StoredSession | undefined> {
  const [row] = await sql.rows<SessionRow>(
    `select ${sessionColumns} from sessions s where s.id = $1 and s.merchant_id = $2 and s.environment = $3`,
    [id, owner.merchantId, owner.environment],
  );
  return row && sessionOf(row);
}

const list = { table: "sessions", alias: "s", condition: "true", columns: listedColumns };

/**
 * Newest first.
 * @param hitsMax with more hits of what is searched they are not gathered
 * @param passedMin and so many sessions are looked through
 */
export async function listSessions(
  db: Pick<Database, "rows" | "snapshot">,
  filter: ListFilter,
  window: PageWindow,
  hitsMax = hitsMaxDefault,
  passedMin?: number,
): Promise<{ rows: StoredSession[]; total: bigint }> {
  const { merchantId, environment, status, orderReference, customerEmail, q } = filter;
  const range = timeRange(filter.from, filter.to);
  if (orderReference === "" && customerEmail === "" && q === "") {
    const { rows, total } = await listDated<SessionRow>(db, list, { merchantId, environment, status, range }, window);
    return { rows: rows.map(sessionOf), total };
  }
  return await db.snapshot(async (sql) => {
    const strategies = await chooseStrategies(sql, q, hitsMax);
    const { ids, total } = await searchList(sql, searchedBy(filter), strategies, window, passedMin);
    return { rows: ids.length === 0 ? [] : await readSessions(sql, ids), total };
  });
}

/** The filters besides the search. */
function searchedBy(filter: ListFilter): SearchTarget {
  const { merchantId, environment, status, from, to, orderReference, customerEmail } = filter;
  let list = new Condition("t.merchant_id = ? and t.environment = ?", merchantId, environment);
  if (from || to) list = list.with(inTimeRange("t.created_at", timeRange(from, to)));
  let rows = status === "" ? list : list.and("t.status = ?", status);
  if (orderReference !== "") rows = rows.and(`${hasReference} and t.order_reference = ?`, orderReference);
  if (customerEmail !== "") rows = rows.and(`${hasEmail} and lower(t.customer_email) = lower(?)`, customerEmail);
  return { table: "sessions", list, rows };
}

// What the indexes of references and of e-mails hold (schema/0006-order-reference.sql, 0009-emails-covered.sql).
const hasReference = "t.order_reference <> ''";
const hasEmail = "t.customer_email <> ''";
// So many are gathered from an index and sorted in about 10 ms.
const hitsMaxDefault = 10_000;

// Fourteen characters hold the millisecond and some bits more: a range of the primary key with a few in it, whoever's.
const idBeginning = /^(?:cs|pay)_([0-9a-z]{14,26})$/;
const idLength = 26;

async function chooseStrategies(sql: Sql, q: string, hitsMax: number): Promise<readonly Strategy[]> {
  if (q === "") return [{ match: new Condition("true"), hitsMax }];
  const [, own] = idBeginning.exec(q) ?? [];
  const byId = own === undefined ? [] : [{ match: idsThatBegin(own), hitsMax }];
  if (q.startsWith("cs_")) return own === undefined ? [{ match: new Condition("t.id = ?", q), hitsMax }] : byId;
  // The database's own small letters: those of the index.
  const [row] = await sql.rows<{ small: string }>("select lower($1) as small", [q]);
  return [
    ...byId,
    { match: beginsWith(hasReference, "t.order_reference", q), hitsMax },
    { match: beginsWith(hasEmail, "lower(t.customer_email)", row?.small ?? q), hitsMax },
  ];
}

/** All ids are of one length, so that this holds in every collation. */
function idsThatBegin(own: string): Condition {
  const [first, last] = ["0", "z"].map((letter) => `cs_${own.padEnd(idLength, letter)}`);
  return new Condition("t.id between ? and ?", first, last);
}

async function readSessions(sql: Sql, ids: readonly string[]): Promise<StoredSession[]> {
  const rows = await sql.rows<SessionRow>(
    `select ${listedColumns} from sessions s where s.id = any ($1) order by s.created_at desc, s.id desc`,
    [ids],
  );
  return rows.map(sessionOf);
}

/** Everybody's sessions made since then, oldest first. @param after the last one of the page before; empty: none. */
export async function sessionsSince(sql: Sql, since: Date, after: string, limit: number): Promise<StoredSession[]> {
  const rows = await sql.rows<SessionRow>(
    `select ${sessionColumns} from sessions s where s.id >= $1 and s.id > $2 order by s.id limit $3`,
    [idFloor("session", since.getTime()), after, limit],
  );
  return rows.map(sessionOf);
}
