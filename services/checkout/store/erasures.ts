// The erasures table. Functions of the schema (0016-erasures.sql) erase the rows of other tables.
import { Columns, integer, optionalColumn, type RowOf, sqlColumn, text, time } from "#platform/database/columns.ts";
import type { Sql, Tx } from "#platform/database/database.ts";
import type { Id } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { sessionIdOf } from "../rules/session.ts";
import type { Owner } from "./session-lists.ts";

const erasureColumns = new Columns({
  id: text,
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  customerEmail: text,
  paymentId: text,
  payments: integer,
  sessions: integer,
  paymentLinks: integer,
  createdAt: time,
  finishedAt: optionalColumn(time),
});

export type StoredErasure = RowOf<typeof erasureColumns>;

/** Names the buyer: exactly one is not empty. */
export interface BuyerKey {
  /** In any case. */
  readonly customerEmail: string;
  readonly paymentId: string;
}

const columns = erasureColumns.names("e");
const erasureOf = (row: object): StoredErasure => erasureColumns.read(row);

// Until the process that accepted an erasure has had its time; then the job continues it.
const leaseSeconds = 60;

export async function insertErasure(tx: Tx, buyer: Owner & BuyerKey, id: string, at: Date): Promise<StoredErasure> {
  const rows = await tx.rows<object>(
    `insert into erasures as e (id, merchant_id, environment, customer_email, payment_id, created_at, next_try_at)
     values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => ${leaseSeconds})) returning ${columns}`,
    [id, buyer.merchantId, buyer.environment, buyer.customerEmail, buyer.paymentId, at.toISOString()],
  );
  return erasureOf(rows[0] ?? {});
}

export async function findErasure(sql: Sql, owner: Owner, id: string): Promise<StoredErasure | undefined> {
  const [row] = await sql.rows<object>(
    `select ${columns} from erasures e where e.id = $1 and e.merchant_id = $2 and e.environment = $3`,
    [id, owner.merchantId, owner.environment],
  );
  return row && erasureOf(row);
}

/** Newest first. */
export async function listErasures(sql: Sql, owner: Owner, limit: number): Promise<StoredErasure[]> {
  const rows = await sql.rows<object>(
    `select ${columns} from erasures e where e.merchant_id = $1 and e.environment = $2 order by e.id desc limit $3`,
    [owner.merchantId, owner.environment, limit],
  );
  return rows.map(erasureOf);
}

// An erasure waits longest for a dispute, which lasts months.
const pauseHoursMax = 6;

/** Claims the erasure that is due longest; the pause to its next try, from a minute to hours, is also the lease. */
export async function claimErasure(sql: Sql): Promise<StoredErasure | undefined> {
  const [row] = await sql.rows<object>(
    `update erasures e set tries = tries + 1,
       next_try_at = now() + least(interval '1 minute' * 2 ^ least(tries, 20), interval '${pauseHoursMax} hours')
     where id = (select id from erasures where next_try_at <= now() order by next_try_at limit 1 for update skip locked)
     returning ${columns}`,
  );
  return row && erasureOf(row);
}

export async function addErased(tx: Tx, id: string, payments: number, sessions: number): Promise<void> {
  await tx.rows("update erasures set payments = payments + $2, sessions = sessions + $3 where id = $1", [
    ...[id, payments, sessions],
  ]);
}

/** @returns undefined: it was finished before */
export async function finishErasure(tx: Tx, id: string, paymentLinks: number): Promise<StoredErasure | undefined> {
  const [row] = await tx.rows<object>(
    `update erasures e set payment_links = $2, customer_email = '', next_try_at = null, finished_at = now()
     where id = $1 and finished_at is null returning ${columns}`,
    [id, paymentLinks],
  );
  return row && erasureOf(row);
}

/** The buyer's sessions that are not erased, newest first. @param buyer with a payment: the session of that payment */
export async function findBuyerSessions(sql: Sql, buyer: Owner & BuyerKey, limit: number): Promise<Id<"session">[]> {
  const { merchantId, environment, customerEmail, paymentId } = buyer;
  const [condition, value] =
    paymentId === ""
      ? ["t.customer_email <> '' and lower(t.customer_email) = lower($3)", customerEmail]
      : ["t.id = $3", sessionIdOf(paymentId)];
  const rows = await sql.rows<{ id: Id<"session"> }>(
    `select t.id from sessions t where t.merchant_id = $1 and t.environment = $2 and t.erased_at is null and ${condition}
     order by t.created_at desc, t.id desc limit $4`,
    [merchantId, environment, value, limit],
  );
  return rows.map(({ id }) => id);
}

/** @returns how many of the owner's sessions were not erased before */
export async function eraseSessions(tx: Tx, owner: Owner, ids: readonly string[]): Promise<number> {
  const [row] = await tx.rows<{ erased: number }>("select erase_sessions($1, $2, $3::smallint) as erased", [
    ...[ids, owner.merchantId, owner.environment],
  ]);
  return row?.erased ?? 0;
}

/** @returns how many links had the e-mail */
export async function eraseLinks(tx: Tx, { merchantId, environment, customerEmail }: StoredErasure): Promise<number> {
  const [row] = await tx.rows<{ erased: number }>("select erase_links($1, $2::smallint, $3) as erased", [
    ...[merchantId, environment, customerEmail],
  ]);
  return row?.erased ?? 0;
}
