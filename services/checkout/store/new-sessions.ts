// Inserts an open session with its event and the decision that admitted it, in one statement. Sessions that are created
// at the same moment are written together (platform/database/batch.ts).
import { asJson } from "#platform/database/batch.ts";
import { bigint, Columns, type RowOf, sqlColumn, text, time } from "#platform/database/columns.ts";
import { hexOf, type Sql } from "#platform/database/database.ts";
import { eventsJson, type OutboxRows } from "#platform/events/outbox.ts";
import type { KeyedHash } from "#platform/secrets/vault.ts";
import type { Id } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { LineItem } from "../rules/line-items.ts";
import type { RuleResult } from "../rules/risk.ts";

interface StoredLine {
  readonly name: string;
  readonly quantity: number;
  readonly amount: number;
}

/** The columns that never change, without the line items. */
export const orderColumns = new Columns({
  id: sqlColumn<Id<"session">>("text"),
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  /** Minor units. */
  amount: bigint,
  currency: text,
  description: text,
  /** The merchant's own order number; may be empty. */
  orderReference: text,
  customerEmail: text,
  metadata: sqlColumn<Readonly<Record<string, string>>>("jsonb"),
  connector: text,
  surface: text,
  captureMethod: text,
  successUrl: text,
  cancelUrl: text,
  locale: text,
  /** Empty: it was not made from a link. */
  paymentLinkId: text,
  createdAt: time,
  expiresAt: time,
});

export const lineColumns = new Columns({
  lineItems: {
    type: "jsonb",
    /** Lists do not select the column. */
    read: (lines: readonly StoredLine[] | undefined): readonly LineItem[] =>
      (lines ?? []).map((line) => ({ ...line, amount: BigInt(line.amount) })),
    write: (lines: readonly LineItem[]): readonly StoredLine[] =>
      lines.map(({ name, quantity, amount }) => ({ name, quantity, amount: Number(amount) })),
  },
});

/** The part of a session that never changes. */
export type NewSession = RowOf<typeof orderColumns> & RowOf<typeof lineColumns>;

/** An open session and the rows that are inserted with it. */
export interface SessionInsert {
  readonly session: NewSession;
  readonly secretHash: KeyedHash;
  /** Ciphertext. */
  readonly render: Buffer;
  readonly events: OutboxRows;
  /** Results of risk screening. */
  readonly results: readonly RuleResult[];
}

const insertedColumns = `${orderColumns.names()}, ${lineColumns.names()}, secret_hash, secret_hash_key_id, render`;

/** @returns true for each @throws PostgreSQL's duplicate error (isDuplicate, `sessions_pkey`) */
export async function insertSessions(sql: Sql, opened: readonly SessionInsert[]): Promise<true[]> {
  await sql.rows(
    `with opened as (
       select * from jsonb_to_recordset($1) as o (${orderColumns.types}, ${lineColumns.types}, secret_hash bytea,
         secret_hash_key_id text, render bytea, events jsonb, looks jsonb)),
     announced as (
       insert into outbox (event_id, subject, body)
       select e.* from opened, jsonb_to_recordset(events) as e (event_id text, subject text, body bytea)),
     decided as (
       insert into risk_decisions (session_id, merchant_id, environment, stage, blocked, looks)
       select id, merchant_id, environment, 'create', false, looks from opened where looks <> '[]')
     insert into sessions (${insertedColumns}, next_check_at) select ${insertedColumns}, expires_at from opened`,
    [asJson(opened.map(rowOf))],
  );
  return opened.map(() => true);
}

function rowOf({ session, secretHash, render, events, results }: SessionInsert) {
  return {
    ...orderColumns.write(session),
    ...lineColumns.write(session),
    secret_hash: hexOf(secretHash.hash),
    secret_hash_key_id: secretHash.keyId,
    render: hexOf(render),
    events: eventsJson(events),
    looks: results,
  };
}
