// The sessions table after its insert. A change carries its events in the same statement, so that a confirm costs one
// round trip and one commit.
import { byKey, idsByKey, inputIds } from "#platform/database/batch.ts";
import {
  bigint,
  boolean,
  bytes,
  Columns,
  integer,
  optionalColumn,
  sqlColumn,
  text,
  time,
} from "#platform/database/columns.ts";
import type { GroupedSql, Sql, Tx } from "#platform/database/database.ts";
import { eventsJson, type OutboxRows } from "#platform/events/outbox.ts";
import type { KeyedHash } from "#platform/secrets/vault.ts";
import type { Id } from "#platform/values/id.ts";
import { isExhausted, isInProgress, isLive, type SessionState, type SessionStatus } from "../rules/session.ts";
import { lineColumns, type NewSession, orderColumns } from "./new-sessions.ts";

export interface StoredSession extends NewSession {
  readonly state: SessionState;
  readonly completedAt: Date | undefined;
  readonly expiryRequested: boolean;
  /** Number of e-mails the buyer has given; 0: an e-mail is the merchant's. */
  readonly emailTurn: number;
  readonly secretHash: KeyedHash;
  /** Ciphertext; undefined once the session has ended. */
  readonly render: Buffer | undefined;
  readonly version: number;
  /** It was read from the archive. */
  readonly archived?: true;
}

const ownColumns = new Columns({
  completedAt: optionalColumn(time),
  expiryAsked: boolean,
  emailTurn: integer,
  secretHash: bytes,
  secretHashKeyId: text,
  render: optionalColumn(bytes),
  version: integer,
});
const stateColumns = new Columns({
  status: sqlColumn<SessionStatus>("text"),
  paymentStatus: text,
  receiptUrl: text,
  capturedAmount: optionalColumn(bigint),
  capturedVersion: optionalColumn(bigint),
  failedAttempts: integer,
  heardVersion: bigint,
  heardAt: optionalColumn(time),
});

/** A row for `sessionOf`. */
export interface SessionRow {
  readonly id: Id<"session">;
}

/** Columns of a list, which can be long and shows no line items. */
export const listedColumns = [orderColumns, ownColumns, stateColumns].map((part) => part.names("t")).join(", ");
export const sessionColumns = `${listedColumns}, ${lineColumns.names("t")}`;

export async function findSession(sql: GroupedSql, id: Id<"session">): Promise<StoredSession | undefined> {
  return await sql.batched(findSessions, id);
}

/** In the order of the ids. */
export async function findSessions(sql: Sql, ids: readonly string[]): Promise<(StoredSession | undefined)[]> {
  const rows = await sql.rows<SessionRow>(`select ${sessionColumns} from ${inputIds} join sessions t using (id)`, [
    idsByKey(ids),
  ]);
  const found = new Map(rows.map((row) => [row.id, sessionOf(row)]));
  return ids.map((id) => found.get(id as Id<"session">));
}

/** Stores the secret's hash under another key, unless it has changed. The session's version stays. */
export async function replaceSecretHash(sql: Sql, id: Id<"session">, old: KeyedHash, fresh: KeyedHash): Promise<void> {
  await sql.rows("update sessions set secret_hash = $3, secret_hash_key_id = $4 where id = $1 and secret_hash = $2", [
    id,
    old.hash,
    fresh.hash,
    fresh.keyId,
  ]);
}

/** Stores the render of another intent, unless it has changed. The session's version stays. */
export async function replaceRender(
  sql: Sql,
  id: Id<"session">,
  old: Buffer,
  fresh: { readonly render: Buffer; readonly connector: string },
): Promise<void> {
  await sql.rows("update sessions set render = $3, connector = $4 where id = $1 and render = $2", [
    id,
    old,
    fresh.render,
    fresh.connector,
  ]);
}

/**
 * Stores the buyer's e-mail while the session is open, unless the merchant gave one. The session's version stays.
 * @returns the number of the buyer's e-mail; undefined: nothing changed
 */
export async function saveBuyerEmail(sql: Sql, id: Id<"session">, email: string): Promise<number | undefined> {
  const [row] = await sql.rows<{ email_turn: number }>(
    `update sessions set customer_email = $2, email_turn = email_turn + 1
     where id = $1 and status = 'open' and (customer_email = '' or email_turn > 0) returning email_turn`,
    [id, email],
  );
  return row?.email_turn;
}

/** Locks sessions in the order of ids, so that two statements cannot deadlock. Unknown ids are left out. */
export async function lockSessions(sql: Sql, ids: readonly Id<"session">[]): Promise<StoredSession[]> {
  const rows = await sql.rows<SessionRow>(
    `select ${sessionColumns} from ${inputIds} join sessions t using (id) order by id for update of t`,
    [idsByKey(ids)],
  );
  return rows.map(sessionOf);
}

// Longest time to the next check while an attempt is in progress or an ended session is still open.
const checkMinutesMax = 10;

export interface SessionChange {
  /** As read. */
  readonly session: Pick<StoredSession, "id" | "version">;
  readonly state: SessionState;
  readonly events: OutboxRows;
}

/**
 * Writes states and events of the sessions that have not changed since they were read, in one statement. The next check
 * of the intent is immediate if no attempts are left or a session that should end reopened, within minutes while an
 * attempt is in progress, else at the session's expiry.
 * @returns each session after the change; undefined: it has changed since it was read
 */
export async function changeSessions(
  sql: Sql,
  changes: readonly SessionChange[],
): Promise<(StoredSession | undefined)[]> {
  const rows = await sql.rows<SessionRow & { n: number }>(
    `with change as (
       select * from jsonb_to_recordset($1) as c (
         each integer, n integer, id text, version integer, status text, payment_status text, receipt_url text,
         captured_amount bigint, failed_attempts integer, heard_at timestamptz, heard_version bigint, live boolean, exhausted boolean, under_way boolean,
         events jsonb)
       where each = 1),
     changed as (
       update sessions t set status = c.status, payment_status = c.payment_status, receipt_url = c.receipt_url,
         failed_attempts = c.failed_attempts, heard_at = c.heard_at, heard_version = c.heard_version, version = t.version + 1,
         captured_amount = c.captured_amount, captured_version = c.heard_version,
         completed_at = case when c.status = 'completed' then coalesce(t.completed_at, now()) end,
         render = case when c.live then t.render end,
         checks = case when t.status = c.status then t.checks else 0 end,
         next_check_at = case
           when not c.live then null
           when c.exhausted or (c.status = 'open' and t.status <> 'open' and (t.expiry_asked or t.expires_at <= now()))
             then least(t.next_check_at, now())
           when c.under_way then least(t.next_check_at, now() + make_interval(mins => ${checkMinutesMax}))
           when t.expiry_asked or t.expires_at <= now() then t.next_check_at
           else t.expires_at end
       from change c where t.id = c.id and t.version = c.version returning ${sessionColumns}, c.n, c.events),
     announced as (
       insert into outbox (event_id, subject, body)
       select e.* from changed, jsonb_to_recordset(events) as e (event_id text, subject text, body bytea))
     select ${sessionColumns}, n from changed t`,
    [byKey(changes.map(changeRowOf), "id")],
  );
  const byIndex = new Map(rows.map((row) => [row.n, sessionOf(row)]));
  return changes.map((_, n) => byIndex.get(n));
}

function changeRowOf({ session: { id, version }, state, events }: SessionChange, n: number) {
  return {
    n,
    id,
    version,
    status: state.status,
    payment_status: state.paymentStatus,
    receipt_url: state.receiptUrl,
    captured_amount: state.capturedAmount === undefined ? null : String(state.capturedAmount),
    failed_attempts: state.failedAttempts,
    heard_at: state.paymentEventAt,
    heard_version: String(state.paymentVersion),
    live: isLive(state.status),
    exhausted: isExhausted(state),
    under_way: isInProgress(state),
    events: eventsJson(events),
  };
}

/** Records the merchant's request to expire a session. If the caller fails to end it, the job does after a minute. */
export async function requestExpiry(sql: Sql, id: Id<"session">, events: OutboxRows): Promise<void> {
  await sql.rows(
    `with asked as (
       update sessions set expiry_asked = true, checks = 0,
         next_check_at = case when next_check_at is not null then least(next_check_at, now() + interval '1 minute') end
       where id = $1 and not expiry_asked returning id)
     insert into outbox (event_id, subject, body)
     select u.* from asked, unnest($2::text[], $3::text[], $4::bytea[]) as u`,
    [id, events.ids, events.subjects, events.bodies],
  );
}

/**
 * Claims sessions that are due for a check of their intent, oldest first. The next check is after 1, 2, 4, 8, then
 * every 10 minutes, and at the expiry. The pause is also the lease.
 */
export async function claimDueSessions(sql: Sql, limit: number): Promise<StoredSession[]> {
  const rows = await sql.rows<SessionRow>(
    `update sessions t set checks = t.checks + 1,
       next_check_at = least(now() + make_interval(mins => least(2 ^ least(t.checks, 10), ${checkMinutesMax})::int),
         case when t.expires_at > now() then t.expires_at end)
     where t.id in (select id from sessions where next_check_at <= now() order by next_check_at
       limit $1 for update skip locked)
     returning ${sessionColumns}`,
    [limit],
  );
  return rows.map(sessionOf);
}

/** Ended, and its intent was canceled at the processor before. */
export const isUnpaid = "status in ('expired', 'canceled') and payment_status in ('', 'canceled')";

/** Leaves out a session that money has completed meanwhile. */
export async function deleteSessions(tx: Tx, unpaidIds: readonly string[]): Promise<void> {
  await tx.rows(
    `with locked as (select id from sessions where id = any($1::text[]) and ${isUnpaid} order by id for update)
     delete from sessions t using locked where t.id = locked.id`,
    [unpaidIds],
  );
}

export function sessionOf(row: SessionRow): StoredSession {
  const { expiryAsked: expiryRequested, secretHash: hash, secretHashKeyId: keyId, ...own } = ownColumns.read(row);
  const { heardVersion, heardAt, capturedAmount, capturedVersion, ...state } = stateColumns.read(row);
  return {
    ...orderColumns.read(row),
    ...lineColumns.read(row),
    ...own,
    expiryRequested,
    secretHash: { keyId, hash },
    state: {
      ...state,
      // An older release moves heard_version alone, which outdates the captured amount.
      capturedAmount: capturedVersion === heardVersion ? capturedAmount : undefined,
      paymentVersion: heardVersion,
      paymentEventAt: heardAt,
    },
  };
}
