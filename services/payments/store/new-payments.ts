// Inserts a payment with the operation that will make its intent, and later records the intent. Payments that are
// created at the same moment are written in one statement (platform/database/batch.ts).
import { asJson, byKey, inOrder } from "#platform/database/batch.ts";
import type { RowOf } from "#platform/database/columns.ts";
import { hexOf, type Sql } from "#platform/database/database.ts";
import type { PaymentRouting } from "../rules/routing.ts";
import type { NewOperation } from "./operations.ts";
import { paymentColumns } from "./payment-columns.ts";

const newColumns = paymentColumns.pick(
  "id",
  "merchantId",
  "environment",
  "sessionId",
  "amount",
  "currency",
  "description",
  "orderReference",
  "customerEmail",
  "metadata",
  "connector",
  "connectorAccountId",
  "surface",
  "captureMethod",
  "offeredMethods",
  "expiresAt",
  "routingRule",
  "routingReason",
);

export type NewPayment = Omit<RowOf<typeof newColumns>, "routingRule" | "routingReason" | "offeredMethods"> & {
  /** Absent: not known. */
  readonly routing?: PaymentRouting;
  readonly offeredMethods?: readonly string[] | undefined;
};

export interface PaymentInsert {
  readonly payment: NewPayment;
  /** Will create the intent. */
  readonly operation: NewOperation;
  /** When the reconcile job first checks the operation, from now. */
  readonly operationSeconds: number;
  /** When it first asks the processor about the payment, from now. */
  readonly checkSeconds: number;
}

/**
 * Inserts payments with their operations in one statement.
 * @returns for each: false when the payment exists already
 */
export async function insertPayments(sql: Sql, inserts: readonly PaymentInsert[]): Promise<boolean[]> {
  const rows = await sql.rows<{ id: string }>(
    `with begun as (
       select * from jsonb_to_recordset($1) as b (${newColumns.types}, check_seconds float8, operation_id text,
         operation_seconds float8, sent_after timestamptz, sealed_order bytea, state text)),
     payment as (
       insert into payments (${newColumns.names()}, next_check_at)
       select ${newColumns.names()}, now() + make_interval(secs => check_seconds) from begun
       on conflict do nothing returning id)
     insert into operations (id, kind, payment_id, reference, next_try_at, sent_after, sealed_order, state)
     select operation_id, 'create_intent', id, id, now() + make_interval(secs => operation_seconds), sent_after, sealed_order, state
     from payment join begun using (id)
     returning id`,
    [asJson(inOrder(inserts.map(rowOf), "id"))],
  );
  const written = new Set(rows.map(({ id }) => id));
  return inserts.map(({ operation }) => written.has(operation.id));
}

function rowOf({ payment, operation, operationSeconds, checkSeconds }: PaymentInsert) {
  return {
    ...newColumns.write({
      ...payment,
      offeredMethods: payment.offeredMethods,
      routingRule: payment.routing?.rule,
      routingReason: payment.routing?.reason,
    }),
    id: payment.id,
    check_seconds: checkSeconds,
    operation_id: operation.id,
    operation_seconds: operationSeconds,
    sent_after: operation.sentAfter,
    sealed_order: operation.sealedOrder && hexOf(operation.sealedOrder),
    state: operation.state,
  };
}

interface CreatedIntent {
  readonly paymentId: string;
  readonly connectorRef: string;
  /** Ciphertext. */
  readonly render: Buffer;
  /** Renewals before the loss of a payment that is rebuilt; else 0. */
  readonly renewals: number;
}

/** Records created intents and closes their operations, in one statement. @returns true for each */
export async function recordIntents(sql: Sql, made: readonly CreatedIntent[]): Promise<true[]> {
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
