// The sessions table: one named statement for each step of the hot paths. A change carries its events in the same
// statement, so that a confirm costs one round trip and one commit.
import { type Sql, time } from "#platform/database/database.ts";
import type { OutboxRows } from "#platform/events/outbox.ts";
import type { KeyedHash } from "#platform/secrets/hash-keys.ts";
import type { Id } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { LineItem } from "../rules/line-items.ts";
import type { RuleResult } from "../rules/risk.ts";
import { isExhausted, isLive, isUnderWay, type SessionState, type SessionStatus } from "../rules/session.ts";

/** What a session is made of and never changes. */
export interface NewSession {
  readonly id: Id<"session">;
  readonly merchantId: string;
  readonly environment: Environment;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  readonly description: string;
  /** The merchant's own order number; may be empty. */
  readonly orderReference: string;
  readonly customerEmail: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly connector: string;
  readonly surface: string;
  readonly captureMethod: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly locale: string;
  /** Of a session in a list: none. */
  readonly lineItems: readonly LineItem[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface StoredSession extends NewSession {
  readonly state: SessionState;
  readonly completedAt: Date | undefined;
  readonly expiryAsked: boolean;
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
  s.expires_at, s.completed_at, s.capture_method, s.email_turn`;
export const sessionColumns = `${listedColumns}, s.line_items`;

/**
 * Inserts an open session with its events and what risk screening looked at. A duplicate id is PostgreSQL's refusal
 * (isDuplicate, `sessions_pkey`).
 */
export async function insertSession(
  sql: Sql,
  session: NewSession,
  secrets: { hash: KeyedHash; render: Buffer },
  events: OutboxRows,
  looks: readonly RuleResult[] = [],
): Promise<void> {
  await sql.rows(
    `with announced as (
       insert into outbox (event_id, subject, body) select * from unnest($18::text[], $19::text[], $20::bytea[])),
     decided as (
       insert into risk_decisions (session_id, merchant_id, environment, stage, blocked, looks)
       select $1, $2, $3, 'create', false, $21::jsonb where $21::jsonb <> '[]')
     insert into sessions (id, merchant_id, environment, amount, currency, description, customer_email, metadata, connector,
       surface, success_url, cancel_url, locale, created_at, expires_at, next_check_at, secret_hash, render,
       secret_hash_key_id, order_reference, line_items, capture_method)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15, $16, $17, $22, $23, $24, $25)`,
    [
      session.id,
      session.merchantId,
      session.environment,
      session.amount,
      session.currency,
      session.description,
      session.customerEmail,
      JSON.stringify(session.metadata),
      session.connector,
      session.surface,
      session.successUrl,
      session.cancelUrl,
      session.locale,
      session.createdAt.toISOString(),
      session.expiresAt.toISOString(),
      secrets.hash.hash,
      secrets.render,
      events.ids,
      events.subjects,
      events.bodies,
      JSON.stringify(looks),
      secrets.hash.keyId,
      session.orderReference,
      JSON.stringify(
        session.lineItems.map(({ name, quantity, amount }) => ({ name, quantity, amount: Number(amount) })),
      ),
      session.captureMethod,
    ],
  );
}

export async function findSession(sql: Sql, id: Id<"session">): Promise<StoredSession | undefined> {
  const [row] = await sql.rows<SessionRow>(`select ${sessionColumns} from sessions s where s.id = $1`, [id]);
  return row && sessionOf(row);
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
    `select ${sessionColumns} from sessions s where s.id = any($1::text[]) order by s.id for update`,
    [ids],
  );
  return rows.map(sessionOf);
}

// While an attempt is under way, or a session that should have ended has not, the next look is at most this far away.
const lookMinutesMax = 10;

/**
 * Writes the state and its events, if the session is still as it was read. It also says when to look at the intent
 * next: at once when tries are over or what was to end is open again, within minutes while an attempt is under way,
 * else when the session's time is over.
 * @returns the session after it; undefined: somebody else changed it, read it again.
 */
export async function changeSession(
  sql: Sql,
  session: Pick<StoredSession, "id" | "version">,
  state: SessionState,
  events: OutboxRows,
): Promise<StoredSession | undefined> {
  const [row] = await sql.rows<SessionRow>(
    `with changed as (
       update sessions s set status = $3, payment_status = $4, receipt_url = $5, failed_attempts = $6, heard_at = $7,
         heard_version = $14, version = s.version + 1,
         completed_at = case when $3 = 'completed' then coalesce(s.completed_at, now()) end,
         render = case when $8 then s.render end,
         checks = case when s.status = $3 then s.checks else 0 end,
         next_check_at = case
           when not $8 then null
           when $9 or ($3 = 'open' and s.status <> 'open' and (s.expiry_asked or s.expires_at <= now()))
             then least(s.next_check_at, now())
           when $13 then least(s.next_check_at, now() + make_interval(mins => ${lookMinutesMax}))
           when s.expiry_asked or s.expires_at <= now() then s.next_check_at
           else s.expires_at end
       where s.id = $1 and s.version = $2 returning ${sessionColumns}),
     announced as (
       insert into outbox (event_id, subject, body)
       select e.* from changed, unnest($10::text[], $11::text[], $12::bytea[]) as e)
     select * from changed`,
    [
      session.id,
      session.version,
      state.status,
      state.paymentStatus,
      state.receiptUrl,
      state.failedAttempts,
      state.heardAt?.toISOString() ?? null,
      isLive(state.status),
      isExhausted(state),
      events.ids,
      events.subjects,
      events.bodies,
      isUnderWay(state),
      state.heardVersion,
    ],
  );
  return row && sessionOf(row);
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
       next_check_at = least(now() + make_interval(mins => least(2 ^ least(s.checks, 10), ${lookMinutesMax})::int),
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
    createdAt: time(row.created_at),
    expiresAt: time(row.expires_at),
    completedAt: time(row.completed_at) ?? undefined,
    expiryAsked: row.expiry_asked,
    emailTurn: row.email_turn,
    secretHash: { keyId: row.secret_hash_key_id, hash: row.secret_hash },
    render: row.render ?? undefined,
    version: row.version,
    state: {
      status: row.status,
      paymentStatus: row.payment_status,
      receiptUrl: row.receipt_url,
      failedAttempts: row.failed_attempts,
      heardVersion: BigInt(row.heard_version),
      heardAt: time(row.heard_at) ?? undefined,
    },
  };
}
