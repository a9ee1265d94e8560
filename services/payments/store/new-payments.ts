// What the creation of a payment writes: it begins with the operation that will make its intent, and records the intent
// that was made. Payments that begin at the same moment are written together (platform/database/batch.ts).
import { asJson, byKey, inOrder } from "#platform/database/batch.ts";
import { hexOf, type Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { CaptureMethod } from "../rules/payment.ts";
import type { NewOperation } from "./operations.ts";

export interface NewPayment {
  readonly id: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly sessionId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly description: string;
  /** The merchant's own order number; may be empty. */
  readonly orderReference: string;
  readonly customerEmail: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly connector: string;
  readonly connectorAccountId: string;
  readonly surface: string;
  readonly captureMethod: CaptureMethod;
  readonly expiresAt: Date;
}

/** A payment that begins. */
export interface PaymentInsert {
  readonly payment: NewPayment;
  /** Will create its intent; as its creator holds it. */
  readonly operation: NewOperation;
  /** When the reconcile job first looks at the operation; from now. */
  readonly operationSeconds: number;
  /** When it first asks the processor about the payment; from now. */
  readonly checkSeconds: number;
}

/**
 * Inserts payments with their operations, in one statement.
 * @returns of each: false when the payment exists already.
 */
export async function insertPayments(sql: Sql, begun: readonly PaymentInsert[]): Promise<boolean[]> {
  const rows = await sql.rows<{ id: string }>(
    `with begun as (
       select * from jsonb_to_recordset($1) as b (
         id text, merchant_id text, environment smallint, session_id text, amount bigint, currency text, description text,
         order_reference text, customer_email text, metadata jsonb, connector text, connector_account_id text, surface text,
         capture_method text, expires_at timestamptz, check_seconds float8, operation_id text, operation_seconds float8,
         sent_after timestamptz, sealed_order bytea, state text)),
     payment as (
       insert into payments (id, merchant_id, environment, session_id, amount, currency, description, order_reference, customer_email,
         metadata, connector, connector_account_id, surface, capture_method, expires_at, next_check_at)
       select id, merchant_id, environment, session_id, amount, currency, description, order_reference, customer_email,
         metadata, connector, connector_account_id, surface, capture_method, expires_at, now() + make_interval(secs => check_seconds)
       from begun
       on conflict do nothing returning id)
     insert into operations (id, kind, payment_id, reference, next_try_at, sent_after, sealed_order, state)
     select operation_id, 'create_intent', id, id, now() + make_interval(secs => operation_seconds), sent_after, sealed_order, state
     from payment join begun using (id)
     returning id`,
    [asJson(inOrder(begun.map(rowOf), "id"))],
  );
  const written = new Set(rows.map(({ id }) => id));
  return begun.map(({ operation }) => written.has(operation.id));
}

/** The JSON that the statement above reads. */
function rowOf({ payment: p, operation, operationSeconds, checkSeconds }: PaymentInsert) {
  return {
    id: p.id,
    merchant_id: p.merchantId,
    environment: p.environment,
    session_id: p.sessionId || null,
    amount: String(p.amount),
    currency: p.currency,
    description: p.description,
    order_reference: p.orderReference,
    customer_email: p.customerEmail,
    metadata: p.metadata,
    connector: p.connector,
    connector_account_id: p.connectorAccountId,
    surface: p.surface,
    capture_method: p.captureMethod,
    expires_at: p.expiresAt,
    check_seconds: checkSeconds,
    operation_id: operation.id,
    operation_seconds: operationSeconds,
    sent_after: operation.sentAfter,
    sealed_order: operation.sealedOrder && hexOf(operation.sealedOrder),
    state: operation.state,
  };
}

/** An intent that was made for a payment. */
export interface MadeIntent {
  readonly paymentId: string;
  readonly connectorRef: string;
  /** Ciphertext. */
  readonly render: Buffer;
  /** Of a payment that was lost, how often it was renewed before; else 0. */
  readonly renewals: number;
}

/** Records created intents and closes their operations, in one statement. @returns true for each */
export async function recordIntents(sql: Sql, made: readonly MadeIntent[]): Promise<true[]> {
  await sql.rows(
    `with made as (
       select * from jsonb_to_recordset($1) as m (each integer, payment_id text, ref text, render bytea, renewals integer)
       where each = 1),
     done as (
       update operations o set state = 'done', sealed_order = null from made m
       where o.kind = 'create_intent' and o.reference = m.payment_id and o.state = 'started')
     update payments p set connector_ref = coalesce(p.connector_ref, m.ref), render = m.render,
       renewals = greatest(p.renewals, m.renewals)
     from made m where p.id = m.payment_id`,
    [
      byKey(
        made.map((m) => ({
          payment_id: m.paymentId,
          ref: m.connectorRef,
          render: hexOf(m.render),
          renewals: m.renewals,
        })),
        "payment_id",
      ),
    ],
  );
  return made.map(() => true);
}
