// The payments table and the ends of attempts: rows in, rule states out. Amounts come as text (int8) and become bigint
// here.
import { type Sql, type Tx, time } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { FeeSchedule } from "../rules/fee.ts";
import type {
  AttemptEnd,
  CaptureMethod,
  Card,
  DisputeHold,
  Outcome,
  PaymentState,
  PaymentStatus,
  Verification,
} from "../rules/payment.ts";
import { scheduleInEffect } from "./fee-schedules.ts";
import type { NewOperation } from "./operations.ts";
import type { Owner } from "./payment-records.ts";

/** A payment as stored: what never changes, and the state that facts move. */
export interface StoredPayment {
  readonly id: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly sessionId: string;
  readonly currency: string;
  readonly connector: string;
  readonly connectorAccountId: string;
  readonly connectorRef: string;
  readonly surface: string;
  readonly render: Buffer | undefined;
  /** How often another intent took the place of one whose page ended. */
  readonly renewals: number;
  readonly status: PaymentStatus;
  readonly expiresAt: Date;
  /** The reconcile job has it on its list. */
  readonly scheduled: boolean;
  /** Counts its changes. */
  readonly version: number;
  /** Since when, by the processor's clock, it answers that it has no such intent. */
  readonly notFoundSince: Date | undefined;
  readonly state: PaymentState;
}

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

interface Row {
  id: string;
  merchant_id: string;
  environment: Environment;
  session_id: string | null;
  amount: string;
  currency: string;
  connector: string;
  connector_account_id: string;
  connector_ref: string | null;
  surface: string;
  render: Buffer | null;
  renewals: number;
  outcome: Outcome;
  captured_amount: string;
  refunded_amount: string;
  fee_amount: string;
  dispute_hold: DisputeHold;
  disputed_amount: string;
  status: PaymentStatus;
  last_attempt_ref: string;
  last_attempt_at: string | null;
  failed_attempts: number;
  announced_by_confirm: boolean;
  announced_by_processor: boolean;
  visible: boolean;
  card: Card | null;
  verification: Verification | null;
  authorization_code: string;
  receipt_url: string;
  authorized_at: string | null;
  capture_method: CaptureMethod;
  capture_before: string | null;
  captured_at: string | null;
  failed_at: string | null;
  expires_at: string;
  finished_attempts: string[];
  scheduled: boolean;
  version: string;
  not_found_since: string | null;
  fee_schedule: { basis_points: number; fixed_amount: number } | null;
}

const columns = `p.id, p.merchant_id, p.environment, p.session_id, p.amount, p.currency, p.connector, p.connector_account_id,
  p.connector_ref, p.surface, p.render, p.renewals, p.outcome, p.captured_amount, p.refunded_amount, p.fee_amount, p.dispute_hold,
  p.disputed_amount, p.status, p.last_attempt_ref, p.last_attempt_at, p.failed_attempts, p.announced_by_confirm,
  p.announced_by_processor, p.visible, p.verification, p.authorization_code, p.receipt_url, p.authorized_at, p.captured_at,
  p.failed_at, p.expires_at, p.capture_method, p.capture_before,
  case when p.card_last4 is not null then jsonb_build_object('brand', p.card_brand, 'last4', p.card_last4,
    'funding', p.card_funding, 'fingerprint', p.card_fingerprint, 'expMonth', p.card_exp_month, 'expYear', p.card_exp_year)
  end as card,
  p.finished_attempts, p.next_check_at is not null as scheduled, p.version, p.not_found_since`;

/** The payment, or undefined. */
export async function findPayment(sql: Sql, id: string): Promise<StoredPayment | undefined> {
  const [row] = await sql.rows<Row>(`select ${columns} from payments p where p.id = $1`, [id]);
  return row && paymentOf(row);
}

/** The same for what a merchant sees of them: its own, in the environment, once they are there to be seen. */
export async function findOwnPayment(sql: Sql, owner: Owner, id: string): Promise<StoredPayment | undefined> {
  const payment = await findPayment(sql, id);
  if (!payment?.state.visible) return undefined;
  return payment.merchantId === owner.merchantId && payment.environment === owner.environment ? payment : undefined;
}

const feeInEffect = scheduleInEffect({
  merchant: "p.merchant_id",
  currency: "p.currency",
  connector: "p.connector",
  at: "now()",
});

/** A payment that nobody else changes until the transaction ends, with the fee schedule in effect for it. */
export interface LockedPayment {
  readonly payment: StoredPayment;
  readonly fees: FeeSchedule;
  /** Something is held in suspense in its name. */
  readonly holdsSuspense: boolean;
}

/** Locks the payment. */
export async function lockPayment(tx: Tx, id: string): Promise<LockedPayment | undefined> {
  const [row] = await tx.rows<Row & { holds_suspense: boolean }>(
    `select ${columns},
       (select jsonb_build_object('basis_points', f.basis_points, 'fixed_amount', f.fixed_amount) ${feeInEffect}) as fee_schedule,
       exists(select from suspense s where s.payment_id = p.id and s.state = 'open') as holds_suspense
     from payments p where p.id = $1 for update of p`,
    [id],
  );
  if (!row) return undefined;
  const { basis_points = 0, fixed_amount = 0 } = row.fee_schedule ?? {};
  const fees = { basisPoints: BigInt(basis_points), fixed: BigInt(fixed_amount) };
  return { payment: paymentOf(row), fees, holdsSuspense: row.holds_suspense };
}

/**
 * Inserts the payment and the operation that will create its intent, in one statement.
 * @param operation as its creator holds it.
 * @param timing when the reconcile job first looks at the operation, and first asks the processor about the payment.
 * @returns false when the payment exists already.
 */
export async function insertPayment(
  sql: Sql,
  payment: NewPayment,
  operation: NewOperation,
  timing: { operationSeconds: number; checkSeconds: number },
): Promise<boolean> {
  const rows = await sql.rows(
    `with payment as (
       insert into payments (id, merchant_id, environment, session_id, amount, currency, description, customer_email, metadata,
         connector, connector_account_id, surface, expires_at, next_check_at, order_reference, capture_method)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, now() + make_interval(secs => $14), $20, $21)
       on conflict do nothing returning id)
     insert into operations (id, kind, payment_id, reference, next_try_at, sent_after, sealed_order, state)
     select $15, 'create_intent', id, id, now() + make_interval(secs => $16), $17, $18, $19 from payment
     returning id`,
    [
      payment.id,
      payment.merchantId,
      payment.environment,
      payment.sessionId || null,
      payment.amount,
      payment.currency,
      payment.description,
      payment.customerEmail,
      JSON.stringify(payment.metadata),
      payment.connector,
      payment.connectorAccountId,
      payment.surface,
      payment.expiresAt.toISOString(),
      timing.checkSeconds,
      operation.id,
      timing.operationSeconds,
      operation.sentAfter?.toISOString() ?? null,
      operation.sealedOrder ?? null,
      operation.state,
      payment.orderReference,
      payment.captureMethod,
    ],
  );
  return rows.length === 1;
}

/**
 * Notes the buyer's e-mail, unless a later one is noted. It is no change of the payment's state: its version stays.
 * @returns false: there is no such payment
 */
export async function noteCustomerEmail(sql: Sql, id: string, email: string, turn: number): Promise<boolean> {
  const rows = await sql.rows(
    `with noted as (
       update payments set customer_email = $2, email_turn = $3 where id = $1 and email_turn < $3)
     select 1 from payments where id = $1`,
    [id, email, turn],
  );
  return rows.length === 1;
}

/**
 * Gives a payment that no processor has heard of to another account. The caller holds the locks of payment and
 * operation.
 * @returns false when it is not with the account `from` any more.
 */
export async function changeAccount(
  tx: Tx,
  id: string,
  from: string,
  to: { id: string; connector: string; surface: string },
): Promise<boolean> {
  const rows = await tx.rows(
    `update payments set connector = $3, connector_account_id = $4, surface = $5
     where id = $1 and connector_account_id = $2 and connector_ref is null and outcome = 'pending' returning id`,
    [id, from, to.connector, to.id, to.surface],
  );
  return rows.length === 1;
}

/** Takes in that the payment has this intent; the reconcile job asks about it at once. */
export async function adoptIntent(tx: Tx, id: string, connectorRef: string): Promise<void> {
  await tx.rows(
    `update payments set connector_ref = coalesce(connector_ref, $2), next_check_at = now() where id = $1`,
    [id, connectorRef],
  );
}

/** The reconcile job asks the processor about it at once. */
export async function askAtOnce(tx: Tx, id: string): Promise<void> {
  await tx.rows(`update payments set next_check_at = now() where id = $1`, [id]);
}

/** Records the created intent and closes its operation, in one statement. @param renewals of a payment that was lost */
export async function recordIntent(
  sql: Sql,
  id: string,
  connectorRef: string,
  render: Buffer,
  renewals = 0,
): Promise<void> {
  await sql.rows(
    `with done as (
       update operations set state = 'done', sealed_order = null
       where kind = 'create_intent' and reference = $1 and state = 'started')
     update payments set connector_ref = coalesce(connector_ref, $2), render = $3, renewals = greatest(renewals, $4) where id = $1`,
    [id, connectorRef, render, renewals],
  );
}

/**
 * Puts the renewed intent in the place of the one whose page ended and closes its operation, in one statement.
 * @returns false: the payment has ended, or the renewal was recorded before.
 */
export async function recordRenewal(
  sql: Sql,
  { id, renewal, connectorRef }: { id: string; renewal: number; connectorRef: string },
  render: Buffer | undefined,
): Promise<boolean> {
  const rows = await sql.rows(
    `with renewed as (
       update payments set connector_ref = $3, render = $4, renewals = $2, checks = 0
       where id = $1 and renewals = $2 - 1 and outcome not in ('succeeded', 'canceled') and authorized_at is null
       returning id, connector_ref),
     done as (
       update operations o set state = 'done', sealed_order = null from renewed
       where o.kind = 'renew_intent' and o.reference = $5)
     select id from renewed`,
    [id, renewal, connectorRef, render ?? null, `${id}/${renewal}`],
  );
  return rows.length === 1;
}

/** True for an intent of ours that has not ended unpaid. */
export async function isAwaited(sql: Sql, connector: string, connectorRef: string): Promise<boolean> {
  const rows = await sql.rows(
    `select 1 from payments where connector = $1 and connector_ref = $2 and outcome <> 'canceled'`,
    [connector, connectorRef],
  );
  return rows.length === 1;
}

/**
 * Notes that the processor has no such intent, by its own clock. @returns since when it says so without a break.
 */
export async function recordNotFound(sql: Sql, id: string, at: Date): Promise<Date> {
  const [row] = await sql.rows<{ since: string }>(
    `update payments set not_found_since = least(not_found_since, $2) where id = $1 returning not_found_since as since`,
    [id, at.toISOString()],
  );
  return time(row?.since ?? null) ?? at;
}

/** Notes that the processor has the intent after all: what it says of its absence later begins anew. */
export async function recordFound(tx: Tx, id: string): Promise<void> {
  await tx.rows(`update payments set not_found_since = null where id = $1`, [id]);
}

/** What an operator took as ours has the amount that was paid. */
export async function changeAmount(tx: Tx, id: string, amount: bigint): Promise<void> {
  await tx.rows(`update payments set amount = $2 where id = $1`, [id, amount]);
}

/** Lets the merchant see the payment before anything is known of it. */
export async function showPayment(sql: Sql, id: string): Promise<void> {
  await sql.rows("update payments set visible = true where id = $1 and not visible", [id]);
}

/**
 * Writes the moved state and the ends of attempts, in one statement; the row is locked by the caller. A payment that is
 * not settled stays on the reconcile job's list.
 * @param payment `checkAfterSeconds`: when the reconcile job asks about it at the latest, its schedule beginning anew;
 * undefined: never.
 */
export async function savePayment(
  tx: Tx,
  payment: { id: string; connectorRef: string; state: PaymentState; checkAfterSeconds: number | undefined },
  ended: readonly AttemptEnd[],
): Promise<void> {
  const s = payment.state;
  await tx.rows(
    `with ends as (
       insert into attempts (payment_id, ref, outcome, failure_code, failure_message, ended_at,
         started_at, card_brand, card_last4, three_ds_result)
       select $1, * from unnest($26::text[], $27::text[], $28::text[], $29::text[], $30::timestamptz[],
         $34::timestamptz[], $35::text[], $36::text[], $37::text[])
       -- An attempt that had paid can fail afterwards.
       on conflict (payment_id, ref) do update set outcome = excluded.outcome, failure_code = excluded.failure_code,
         failure_message = excluded.failure_message, ended_at = excluded.ended_at)
     update payments set connector_ref = coalesce(connector_ref, $2), outcome = $3, captured_amount = $4, refunded_amount = $5,
       fee_amount = $6, dispute_hold = $7, disputed_amount = $8, last_attempt_ref = $9, last_attempt_at = $10,
       failed_attempts = $11, announced_by_confirm = $12, announced_by_processor = $13, visible = $14, card_brand = $15,
       card_last4 = $16, card_funding = $17, card_fingerprint = $18, card_exp_month = $19, card_exp_year = $20,
       verification = $21, authorization_code = $22, receipt_url = $23, authorized_at = $24, captured_at = $25, capture_before = $38,
       failed_at = $31, finished_attempts = $33, not_found_since = null,
       next_check_at = case when $32::float8 is not null then least(next_check_at, now() + make_interval(secs => $32)) end, checks = 0
     where id = $1`,
    [
      payment.id,
      payment.connectorRef || null,
      s.outcome,
      s.capturedAmount,
      s.refundedAmount,
      s.feeAmount,
      s.disputeHold,
      s.disputedAmount,
      s.lastAttemptRef,
      iso(s.lastAttemptAt),
      s.failedAttempts,
      s.announcedByConfirm,
      s.announcedByProcessor,
      s.visible,
      s.card?.brand,
      s.card?.last4,
      s.card?.funding,
      s.card?.fingerprint,
      s.card?.expMonth,
      s.card?.expYear,
      s.verification ? JSON.stringify(s.verification) : null,
      s.authorizationCode,
      s.receiptUrl,
      iso(s.authorizedAt),
      iso(s.capturedAt),
      ended.map((end) => end.ref),
      ended.map((end) => end.outcome),
      ended.map((end) => end.code),
      ended.map((end) => end.message),
      ended.map((end) => end.at.toISOString()),
      iso(s.failedAt),
      payment.checkAfterSeconds ?? null,
      [...s.finishedAttempts],
      ended.map(({ attempt }) => iso(attempt?.startedAt)),
      ended.map(({ attempt }) => attempt?.card?.brand ?? null),
      ended.map(({ attempt }) => attempt?.card?.last4 ?? null),
      ended.map(({ attempt }) => attempt?.verification?.threeDsResult ?? ""),
      iso(s.captureBefore),
    ],
  );
}

function iso(at: Date | undefined): string | null {
  return at?.toISOString() ?? null;
}

function paymentOf(row: Row): StoredPayment {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    environment: row.environment,
    sessionId: row.session_id ?? "",
    currency: row.currency,
    connector: row.connector,
    connectorAccountId: row.connector_account_id,
    connectorRef: row.connector_ref ?? "",
    surface: row.surface,
    render: row.render ?? undefined,
    renewals: row.renewals,
    status: row.status,
    expiresAt: time(row.expires_at),
    scheduled: row.scheduled,
    version: Number(row.version),
    notFoundSince: time(row.not_found_since) ?? undefined,
    state: {
      amount: BigInt(row.amount),
      captureMethod: row.capture_method,
      outcome: row.outcome,
      capturedAmount: BigInt(row.captured_amount),
      refundedAmount: BigInt(row.refunded_amount),
      feeAmount: BigInt(row.fee_amount),
      disputeHold: row.dispute_hold,
      disputedAmount: BigInt(row.disputed_amount),
      lastAttemptRef: row.last_attempt_ref,
      lastAttemptAt: time(row.last_attempt_at) ?? undefined,
      failedAttempts: row.failed_attempts,
      finishedAttempts: new Set(row.finished_attempts),
      announcedByConfirm: row.announced_by_confirm,
      announcedByProcessor: row.announced_by_processor,
      visible: row.visible,
      card: row.card ?? undefined,
      verification: row.verification ?? undefined,
      authorizationCode: row.authorization_code,
      receiptUrl: row.receipt_url,
      authorizedAt: time(row.authorized_at) ?? undefined,
      captureBefore: time(row.capture_before) ?? undefined,
      capturedAt: time(row.captured_at) ?? undefined,
      failedAt: time(row.failed_at) ?? undefined,
    },
  };
}
