// What the creation of a session writes: the open session, its event, and the decision that let it in, in one
// statement. Sessions that open at the same moment are written together (platform/database/batch.ts).
import { asJson } from "#platform/database/batch.ts";
import { hexOf, type Sql } from "#platform/database/database.ts";
import { eventsJson, type OutboxRows } from "#platform/events/outbox.ts";
import type { KeyedHash } from "#platform/secrets/vault.ts";
import type { Id } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { LineItem } from "../rules/line-items.ts";
import type { RuleResult } from "../rules/risk.ts";

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

/** An open session, with what is written beside it. */
export interface SessionInsert {
  readonly session: NewSession;
  readonly secretHash: KeyedHash;
  /** Ciphertext. */
  readonly render: Buffer;
  readonly events: OutboxRows;
  /** What risk screening looked at. */
  readonly results: readonly RuleResult[];
}

/**
 * Inserts open sessions with what belongs to them, in one statement. A duplicate id is PostgreSQL's refusal
 * (isDuplicate, `sessions_pkey`). @returns true for each
 */
export async function insertSessions(sql: Sql, opened: readonly SessionInsert[]): Promise<true[]> {
  await sql.rows(
    `with opened as (
       select * from jsonb_to_recordset($1) as o (
         id text, merchant_id text, environment smallint, amount bigint, currency text, description text, order_reference text,
         customer_email text, metadata jsonb, line_items jsonb, connector text, surface text, capture_method text, success_url text,
         cancel_url text, locale text, created_at timestamptz, expires_at timestamptz, secret_hash bytea, secret_hash_key_id text,
         render bytea, events jsonb, looks jsonb)),
     announced as (
       insert into outbox (event_id, subject, body)
       select e.* from opened, jsonb_to_recordset(events) as e (event_id text, subject text, body bytea)),
     decided as (
       insert into risk_decisions (session_id, merchant_id, environment, stage, blocked, looks)
       select id, merchant_id, environment, 'create', false, looks from opened where looks <> '[]')
     insert into sessions (id, merchant_id, environment, amount, currency, description, order_reference, customer_email, metadata,
       line_items, connector, surface, capture_method, success_url, cancel_url, locale, created_at, expires_at, next_check_at,
       secret_hash, secret_hash_key_id, render)
     select id, merchant_id, environment, amount, currency, description, order_reference, customer_email, metadata,
       line_items, connector, surface, capture_method, success_url, cancel_url, locale, created_at, expires_at, expires_at,
       secret_hash, secret_hash_key_id, render
     from opened`,
    [asJson(opened.map(rowOf))],
  );
  return opened.map(() => true);
}

/** The JSON that the statement above reads. */
function rowOf({ session: s, secretHash, render, events, results }: SessionInsert) {
  return {
    id: s.id,
    merchant_id: s.merchantId,
    environment: s.environment,
    amount: String(s.amount),
    currency: s.currency,
    description: s.description,
    order_reference: s.orderReference,
    customer_email: s.customerEmail,
    metadata: s.metadata,
    line_items: s.lineItems.map(({ name, quantity, amount }) => ({ name, quantity, amount: Number(amount) })),
    connector: s.connector,
    surface: s.surface,
    capture_method: s.captureMethod,
    success_url: s.successUrl,
    cancel_url: s.cancelUrl,
    locale: s.locale,
    created_at: s.createdAt,
    expires_at: s.expiresAt,
    secret_hash: hexOf(secretHash.hash),
    secret_hash_key_id: secretHash.keyId,
    render: hexOf(render),
    events: eventsJson(events),
    looks: results,
  };
}
