// Reads sessions for their merchant: one by id, or a page with the exact total of its filters.
import type { Database, Sql } from "#platform/database/database.ts";
import { beginsWith, Condition, inTimeRange } from "#platform/lists/condition.ts";
import { listDated, type PageWindow } from "#platform/lists/dated-list.ts";
import { timeRange } from "#platform/lists/day-range.ts";
import { type SearchTarget, type Strategy, searchList } from "#platform/lists/search.ts";
import { idFloor, isId } from "#platform/values/id.ts";
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
  /** Exact, in any case; empty: all. */
  readonly customerEmail: string;
  /**
   * The id of a payment link; the id of a session or payment, or its prefix of at least fourteen characters after `cs_`
   * or `pay_`, which buyers quote; or the prefix of an order reference or e-mail, both in any case. Empty: no search.
   */
  readonly q: string;
}

export async function findOwnSession(sql: Sql, owner: Owner, id: string): Promise<StoredSession | undefined> {
  const [row] = await sql.rows<SessionRow>(
    `select ${sessionColumns} from sessions t where t.id = $1 and t.merchant_id = $2 and t.environment = $3`,
    [id, owner.merchantId, owner.environment],
  );
  return row && sessionOf(row);
}

/** @param document JSON of the archive (schema/0018-archive.sql) */
export async function findArchivedSession(
  sql: Sql,
  owner: Owner,
  id: string,
  document: string,
): Promise<StoredSession | undefined> {
  const [row] = await sql.rows<SessionRow>(
    `select ${sessionColumns} from jsonb_populate_record(null::sessions, $4::jsonb -> 'session') t
     where t.id = $1 and t.merchant_id = $2 and t.environment = $3`,
    [id, owner.merchantId, owner.environment, document],
  );
  return row && { ...sessionOf(row), archived: true };
}

const list = { table: "sessions", condition: "true", columns: listedColumns };

/**
 * Newest first.
 * @param hitsMax more hits are not collected and sorted
 * @param passedMin at least this many sessions are then scanned
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
    const { ids, total } = await searchList(sql, buildTarget(filter), strategies, window, passedMin);
    return { rows: ids.length === 0 ? [] : await readSessions(sql, ids), total };
  });
}

/** The filters without the search. */
function buildTarget(filter: ListFilter): SearchTarget {
  const { merchantId, environment, status, from, to, orderReference, customerEmail } = filter;
  let list = new Condition("t.merchant_id = ? and t.environment = ?", merchantId, environment);
  if (from || to) list = list.with(inTimeRange("t.created_at", timeRange(from, to)));
  let rows = status === "" ? list : list.and("t.status = ?", status);
  if (orderReference !== "") {
    const isOfReference = `${hasReference} and lower(t.order_reference) = lower(?) and t.order_reference = ?`;
    rows = rows.and(isOfReference, orderReference, orderReference);
  }
  if (customerEmail !== "") rows = rows.and(`${hasEmail} and lower(t.customer_email) = lower(?)`, customerEmail);
  return { table: "sessions", list, rows };
}

// Conditions of the partial indexes (schema/0014-references-in-any-case.sql, 0009-emails-covered.sql,
// 0015-payment-links.sql).
const hasReference = "t.order_reference <> ''";
const hasEmail = "t.customer_email <> ''";
const hasLink = "t.payment_link_id <> ''";
// Hits that are collected from an index and sorted in about 10 ms.
const hitsMaxDefault = 10_000;

// Fourteen characters hold the millisecond and some more bits: a range of the primary key with a few sessions.
const idBeginning = /^(?:cs|pay)_([0-9a-z]{14,26})$/;
const idLength = 26;

async function chooseStrategies(sql: Sql, q: string, hitsMax: number): Promise<readonly Strategy[]> {
  if (q === "") return [{ match: new Condition("true"), hitsMax }];
  if (isId("paymentLink", q)) return [{ match: new Condition(`${hasLink} and t.payment_link_id = ?`, q), hitsMax }];
  const [, own] = idBeginning.exec(q) ?? [];
  const byId = own === undefined ? [] : [{ match: idsThatBegin(own), hitsMax }];
  if (q.startsWith("cs_")) return own === undefined ? [{ match: new Condition("t.id = ?", q), hitsMax }] : byId;
  // Lower case by the database, as in the indexes.
  const [{ small = q } = {}] = await sql.rows<{ small: string }>("select lower($1) as small", [q]);
  return [
    ...byId,
    { match: beginsWith(hasReference, "lower(t.order_reference)", small), hitsMax },
    { match: beginsWith(hasEmail, "lower(t.customer_email)", small), hitsMax },
  ];
}

/** All ids have one length, so the range is right in every collation. */
function idsThatBegin(own: string): Condition {
  const [first, last] = ["0", "z"].map((letter) => `cs_${own.padEnd(idLength, letter)}`);
  return new Condition("t.id between ? and ?", first, last);
}

async function readSessions(sql: Sql, ids: readonly string[]): Promise<StoredSession[]> {
  const rows = await sql.rows<SessionRow>(
    `select ${listedColumns} from sessions t where t.id = any ($1) order by t.created_at desc, t.id desc`,
    [ids],
  );
  return rows.map(sessionOf);
}

/**
 * Sessions of all merchants since the time, oldest first.
 * @param after the last session of the page before, or empty
 */
export async function sessionsSince(sql: Sql, since: Date, after: string, limit: number): Promise<StoredSession[]> {
  const rows = await sql.rows<SessionRow>(
    `select ${sessionColumns} from sessions t where t.id >= $1 and t.id > $2 order by t.id limit $3`,
    [idFloor("session", since.getTime()), after, limit],
  );
  return rows.map(sessionOf);
}
