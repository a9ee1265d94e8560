// The sessions table: one named statement for each step of the hot paths. A change carries its events in the same
// statement, so that a confirm costs one round trip and one commit.
import { byKey, idsByKey, inputIds } from "#platform/database/batch.ts";
import { type GroupedSql, parseTime, type Sql } from "#platform/database/database.ts";
import { eventsJson, type OutboxRows } from "#platform/events/outbox.ts";
import type { KeyedHash } from "#platform/secrets/vault.ts";
import type { Id } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { isExhausted, isInProgress, isLive, type SessionState, type SessionStatus } from "../rules/session.ts";
import type { NewSession } from "./new-sessions.ts";

export interface StoredSession extends NewSession {
  readonly state: SessionState;
  readonly completedAt: Date | undefined;
  readonly expiryRequested: boolean;
  /** How often the buyer gave an e-mail; 0: the one that is there, if any, is the merchant's. */
  readonly emailTurn: number;
  readonly secretHash: KeyedHash;
  /** Ciphertext; undefined once the session has ended. */
  readonly render: Buffer | undefined;
  readonly version: number;
}

export interface SessionRow {
  id: Id<"session">;
  merchant_id: string;
  environment: Environment;
  status: SessionStatus;
  amount: string;
  currency: string;
  description: string;
  order_reference: string;
  customer_email: string;
  metadata: Record<string, string>;
  connector: string;
  surface: string;
  capture_method: string;
  success_url: string;
  cancel_url: string;
  locale: string;
  secret_hash: Buffer;
  secret_hash_key_id: string;
  render: Buffer | null;
  payment_status: string;
  receipt_url: string;
  captured_amount: string | null;
  captured_version: string | null;
  failed_attempts: number;
  heard_version: string;
  heard_at: string | null;
  expiry_asked: boolean;
  email_turn: number;
  version: number;
  created_at: string;
  expires_at: string;
  completed_at: string | null;
  /** Not in lists. */
  line_items?: readonly { readonly name: string; readonly quantity: number; readonly amount: number }[];
}
/** For lists, which can be long and show no lines. */
export const listedColumns = `s.id, s.merchant_id, s.environment, s.status, s.amount, s.currency, s.description,
  s.order_reference, s.customer_email, s.metadata, s.connector, s.surface, s.success_url, s.cancel_url, s.locale, s.secret_hash, s.secret_hash_key_id,
  s.render, s.payment_status, s.receipt_url, s.failed_attempts, s.heard_version, s.heard_at, s.expiry_asked, s.version, s.created_at,
  s.expires_at, s.completed_at, s.capture_method, s.email_turn,
  s.captured_amount, s.captured_version`;
export const sessionColumns = `${listedColumns}, s.line_items`;

export async function findSession(sql: GroupedSql, id: Id<"session">): Promise<StoredSession | undefined> {
  return await sql.together(findSessions, id);
}

async function findSessions(sql: Sql, ids: readonly Id<"session">[]): Promise<(StoredSession | undefined)[]> {
  const rows = await sql.rows<SessionRow>(`select ${sessionColumns} from ${inputIds} join sessions s using (id)`, [
    idsByKey(ids),
  ]);
  const found = new Map(rows.map((row) => [row.id, sessionOf(row)]));
  return ids.map((id) => found.get(id));
}

/**
 * Stores the hash of the same secret under another key, unless somebody did since. It is no change of the session: its
 * version stays.
 */
export async function replaceSecretHash(sql: Sql, id: Id<"session">, old: KeyedHash, fresh: KeyedHash): Promise<void> {
  await sql.rows("update sessions set secret_hash = $3, secret_hash_key_id = $4 where id = $1 and secret_hash = $2", [
    id,
    old.hash,
    fresh.hash,
    fresh.keyId,
  ]);
}

/**
 * Stores what the browser needs of the intent that took the place of another one, unless somebody did since. As above,
 * its version stays.
 */
export async function replaceRender(sql: Sql, id: Id<"session">, old: Buffer, fresh: Buffer): Promise<void> {
  await sql.rows("update sessions set render = $3 where id = $1 and render = $2", [id, old, fresh]);
}

/**
 * Takes the buyer's e-mail while the session is open, unless its merchant gave one. It is no change of the session's
 * state: its version stays.
 * @returns which of the buyer's e-mails it is; undefined: nothing changed
 */
export async function takeEmail(sql: Sql, id: Id<"session">, email: string): Promise<number | undefined> {
  const [row] = await sql.rows<{ email_turn: number }>(
    `update sessions set customer_email = $2, email_turn = email_turn + 1
     where id = $1 and status = 'open' and (customer_email = '' or email_turn > 0) returning email_turn`,
    [id, email],
  );
  return row?.email_turn;
}

/** The sessions, locked until the transaction ends, in one order for everybody. Unknown ids are left out. */
export async function lockSessions(sql: Sql, ids: readonly Id<"session">[]): Promise<StoredSession[]> {
  const rows = await sql.rows<SessionRow>(
    `select ${sessionColumns} from ${inputIds} join sessions s using (id) order by id for update of s`,
    [idsByKey(ids)],
  );
  return rows.map(sessionOf);
}

// While an attempt is under way, or a session that should have ended has not, the next look is at most this far away.
const checkMinutesMax = 10;

/** What a session becomes. */
export interface SessionChange {
  /** As it was read. */
  readonly session: Pick<StoredSession, "id" | "version">;
  readonly state: SessionState;
  readonly events: OutboxRows;
}

/**
 * Writes states and their events, of each session that is still as it was read, in one statement. It also says when
 * to look at the intent next: at once when tries are over or what was to end is open again, within minutes while an
 * attempt is under way, else when the session's time is over.
 * @returns each session after it; undefined: somebody else changed it, read it again.
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
       update sessions s set status = c.status, payment_status = c.payment_status, receipt_url = c.receipt_url,
         failed_attempts = c.failed_attempts, heard_at = c.heard_at, heard_version = c.heard_version, version = s.version + 1,
         captured_amount = c.captured_amount, captured_version = c.heard_version,
         completed_at = case when c.status = 'completed' then coalesce(s.completed_at, now()) end,
         render = case when c.live then s.render end,
         checks = case when s.status = c.status then s.checks else 0 end,
         next_check_at = case
           when not c.live then null
           when c.exhausted or (c.status = 'open' and s.status <> 'open' and (s.expiry_asked or s.expires_at <= now()))
             then least(s.next_check_at, now())
           when c.under_way then least(s.next_check_at, now() + make_interval(mins => ${checkMinutesMax}))
           when s.expiry_asked or s.expires_at <= now() then s.next_check_at
           else s.expires_at end
       from change c where s.id = c.id and s.version = c.version returning ${sessionColumns}, c.n, c.events),
     announced as (
       insert into outbox (event_id, subject, body)
       select e.* from changed, jsonb_to_recordset(events) as e (event_id text, subject text, body bytea))
     select ${sessionColumns}, n from changed s`,
    [byKey(changes.map(changeRowOf), "id")],
  );
  const byIndex = new Map(rows.map((row) => [row.n, sessionOf(row)]));
  return changes.map((_, n) => byIndex.get(n));
}

/** The JSON that the statement above reads. */
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

/**
 * Remembers that the merchant asked for expiry. Whoever asked carries it out; should that fail, the sweeper does, a
 * minute later.
 */
export async function askExpiry(sql: Sql, id: Id<"session">, events: OutboxRows): Promise<void> {
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
 * Claims sessions whose intent is to be asked about, oldest first, and puts off their next check: after 1, 2, 4, 8
 * minutes, then every 10, and when their time is over. The pause is also the lease: nobody else claims them meanwhile.
 */
export async function claimDueSessions(sql: Sql, limit: number): Promise<StoredSession[]> {
  const rows = await sql.rows<SessionRow>(
    `update sessions s set checks = s.checks + 1,
       next_check_at = least(now() + make_interval(mins => least(2 ^ least(s.checks, 10), ${checkMinutesMax})::int),
         case when s.expires_at > now() then s.expires_at end)
     where s.id in (select id from sessions where next_check_at <= now() order by next_check_at
       limit $1 for update skip locked)
     returning ${sessionColumns}`,
    [limit],
  );
  return rows.map(sessionOf);
}

export function sessionOf(row: SessionRow): StoredSession {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    environment: row.environment,
    amount: BigInt(row.amount),
    currency: row.currency,
    description: row.description,
    orderReference: row.order_reference,
    customerEmail: row.customer_email,
    metadata: row.metadata,
    connector: row.connector,
    surface: row.surface,
    captureMethod: row.capture_method,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    locale: row.locale,
    lineItems: (row.line_items ?? []).map((line) => ({ ...line, amount: BigInt(line.amount) })),
    createdAt: parseTime(row.created_at),
    expiresAt: parseTime(row.expires_at),
    completedAt: parseTime(row.completed_at) ?? undefined,
    expiryRequested: row.expiry_asked,
    emailTurn: row.email_turn,
    secretHash: { keyId: row.secret_hash_key_id, hash: row.secret_hash },
    render: row.render ?? undefined,
    version: row.version,
    state: {
      status: row.status,
      paymentStatus: row.payment_status,
      receiptUrl: row.receipt_url,
      capturedAmount: capturedOf(row),
      failedAttempts: row.failed_attempts,
      paymentVersion: BigInt(row.heard_version),
      paymentEventAt: parseTime(row.heard_at) ?? undefined,
    },
  };
}

/** A release that does not know the columns moves heard_version alone: what they say is then out of date. */
function capturedOf(row: SessionRow): bigint | undefined {
  const isCurrent = row.captured_version === row.heard_version;
  return isCurrent && row.captured_amount !== null ? BigInt(row.captured_amount) : undefined;
}
