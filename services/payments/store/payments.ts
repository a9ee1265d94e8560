// The payments table and the ends of attempts: rows in, rule states out. Amounts come as text (int8) and become bigint
// here.
import { byKey, idsByKey, inputIds } from "#platform/database/batch.ts";
import { type GroupedSql, parseTime, type Sql, type Tx } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { FeeSchedules } from "../rules/fee.ts";
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
import { scheduleOrder, schedulesBegun } from "./fee-schedules.ts";
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
}

interface LockedRow extends Row {
  fee_schedules: { effective_from: string; basis_points: number; fixed_amount: number }[];
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
export async function findPayment(sql: GroupedSql, id: string): Promise<StoredPayment | undefined> {
  return await sql.together(findPayments, id);
}

async function findPayments(sql: Sql, ids: readonly string[]): Promise<(StoredPayment | undefined)[]> {
  const rows = await sql.rows<Row>(`select ${columns} from ${inputIds} join payments p using (id)`, [idsByKey(ids)]);
  const found = new Map(rows.map((row) => [row.id, paymentOf(row)]));
  return ids.map((id) => found.get(id));
}

/** The same for what a merchant sees of them: its own, in the environment, once they are there to be seen. */
export async function findOwnPayment(sql: GroupedSql, owner: Owner, id: string): Promise<StoredPayment | undefined> {
  const payment = await findPayment(sql, id);
  if (!payment?.state.visible) return undefined;
  return payment.merchantId === owner.merchantId && payment.environment === owner.environment ? payment : undefined;
}

const feesBegun = schedulesBegun({
  merchant: "p.merchant_id",
  currency: "p.currency",
  connector: "p.connector",
  at: "now()",
});

/** A payment that nobody else changes until the transaction ends, with the fee schedules of its captures. */
export interface LockedPayment {
  readonly payment: StoredPayment;
  readonly fees: FeeSchedules;
  /** A row of unexpected funds in its name is not closed. */
  readonly hasUnexpectedFunds: boolean;
}

/** Locks the payment. */
export async function lockPayment(tx: Tx, id: string): Promise<LockedPayment | undefined> {
  return await tx.together(lockPayments, id);
}

/** In one order for everybody. */
async function lockPayments(sql: Sql, ids: readonly string[]): Promise<(LockedPayment | undefined)[]> {
  const lock = sql.rows<LockedRow>(
    `select ${columns},
       (select coalesce(jsonb_agg(jsonb_build_object('effective_from', f.effective_from, 'basis_points', f.basis_points,
         'fixed_amount', f.fixed_amount) order by ${scheduleOrder}), '[]') ${feesBegun}) as fee_schedules
     from ${inputIds} join payments p using (id)
     order by p.id for update of p`,
    [idsByKey(ids)],
  );
  // After a wait for the lock, the statement above reads other tables as they were before it; the next one does not.
  const open = sql.rows<{ id: string }>(
    `select distinct s.payment_id as id from ${inputIds} join suspense s on s.payment_id = given.id and s.state <> 'closed'`,
    [idsByKey(ids)],
  );
  const [rows, holding] = await Promise.all([lock, open]);
  const held = new Set(holding.map(({ id }) => id));
  const locked = new Map(rows.map((row) => [row.id, lockedOf(row, held.has(row.id))]));
  return ids.map((id) => locked.get(id));
}

function lockedOf(row: LockedRow, hasUnexpectedFunds: boolean): LockedPayment {
  const fees = row.fee_schedules.map((one) => ({
    effectiveFrom: parseTime(one.effective_from),
    basisPoints: BigInt(one.basis_points),
    fixed: BigInt(one.fixed_amount),
  }));
  return { payment: paymentOf(row), fees, hasUnexpectedFunds };
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

/** Another intent takes the place of the payment's own, which nobody has paid; the caller holds the lock. */
export async function replaceIntent(tx: Tx, id: string, connectorRef: string): Promise<void> {
  await tx.rows(`update payments set connector_ref = $2, checks = 0, next_check_at = now() where id = $1`, [
    id,
    connectorRef,
  ]);
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
  return parseTime(row?.since ?? null) ?? at;
}

/** Notes that the processor has the intent after all: what it says of its absence later begins anew. */
export async function recordFound(tx: Tx, id: string): Promise<void> {
  await tx.rows(`update payments set not_found_since = null where id = $1`, [id]);
}

/** Lets the merchant see the payment before anything is known of it. */
export async function showPayment(sql: Sql, id: string): Promise<void> {
  await sql.rows("update payments set visible = true where id = $1 and not visible", [id]);
}

/** What a payment becomes. */
interface SavedPayment {
  readonly id: string;
  readonly connectorRef: string;
  readonly state: PaymentState;
  /**
   * When the reconcile job asks about it at the latest, its schedule beginning anew: a payment that is not settled
   * stays on that job's list. undefined: never.
   */
  readonly checkAfterSeconds: number | undefined;
}

/** Writes the moved state and the ends of attempts, in one statement; the row is locked by the caller. */
export async function savePayment(tx: Tx, payment: SavedPayment, ended: readonly AttemptEnd[]): Promise<void> {
  await tx.together(savePayments, { payment, ended });
}

type PaymentSave = { readonly payment: SavedPayment; readonly ended: readonly AttemptEnd[] };

async function savePayments(sql: Sql, saved: readonly PaymentSave[]): Promise<true[]> {
  const rows = await sql.rows(
    `with saved as (
       select * from jsonb_to_recordset($1) as s (
         each integer, id text, connector_ref text, outcome text, captured_amount bigint, refunded_amount bigint, fee_amount bigint,
         dispute_hold text, disputed_amount bigint, last_attempt_ref text, last_attempt_at timestamptz, failed_attempts integer,
         announced_by_confirm boolean, announced_by_processor boolean, visible boolean, card_brand text, card_last4 text,
         card_funding text, card_fingerprint text, card_exp_month integer, card_exp_year integer, verification jsonb,
         authorization_code text, receipt_url text, authorized_at timestamptz, captured_at timestamptz, capture_before timestamptz,
         failed_at timestamptz, finished_attempts text[], check_after_seconds float8, ended jsonb)
       where each = 1),
     ends as (
       insert into attempts (payment_id, ref, outcome, failure_code, failure_message, ended_at,
         started_at, card_brand, card_last4, three_ds_result)
       select saved.id, e.* from saved, jsonb_to_recordset(ended) as e (
         ref text, outcome text, failure_code text, failure_message text, ended_at timestamptz,
         started_at timestamptz, card_brand text, card_last4 text, three_ds_result text)
       -- An attempt that had paid can fail afterwards.
       on conflict (payment_id, ref) do update set outcome = excluded.outcome, failure_code = excluded.failure_code,
         failure_message = excluded.failure_message, ended_at = excluded.ended_at)
     update payments p set connector_ref = coalesce(p.connector_ref, s.connector_ref), outcome = s.outcome,
       captured_amount = s.captured_amount, refunded_amount = s.refunded_amount, fee_amount = s.fee_amount,
       dispute_hold = s.dispute_hold, disputed_amount = s.disputed_amount, last_attempt_ref = s.last_attempt_ref,
       last_attempt_at = s.last_attempt_at, failed_attempts = s.failed_attempts, announced_by_confirm = s.announced_by_confirm,
       announced_by_processor = s.announced_by_processor, visible = s.visible, card_brand = s.card_brand,
       card_last4 = s.card_last4, card_funding = s.card_funding, card_fingerprint = s.card_fingerprint,
       card_exp_month = s.card_exp_month, card_exp_year = s.card_exp_year, verification = s.verification,
       authorization_code = s.authorization_code, receipt_url = s.receipt_url, authorized_at = s.authorized_at,
       captured_at = s.captured_at, capture_before = s.capture_before, failed_at = s.failed_at,
       finished_attempts = s.finished_attempts, not_found_since = null, checks = 0,
       next_check_at = case when s.check_after_seconds is not null
         then least(p.next_check_at, now() + make_interval(secs => s.check_after_seconds)) end
     from saved s where p.id = s.id returning p.id`,
    [byKey(saved.map(savedRowOf), "id")],
  );
  if (rows.length !== saved.length) throw new Error("a payment that is locked is not there, or was given twice");
  return saved.map(() => true);
}

/** The JSON that the statement above reads. */
function savedRowOf({ payment: { id, connectorRef, state: s, checkAfterSeconds }, ended }: PaymentSave) {
  return {
    id,
    connector_ref: connectorRef || null,
    outcome: s.outcome,
    captured_amount: String(s.capturedAmount),
    refunded_amount: String(s.refundedAmount),
    fee_amount: String(s.feeAmount),
    dispute_hold: s.disputeHold,
    disputed_amount: String(s.disputedAmount),
    last_attempt_ref: s.lastAttemptRef,
    last_attempt_at: s.lastAttemptAt,
    failed_attempts: s.failedAttempts,
    announced_by_confirm: s.announcedByConfirm,
    announced_by_processor: s.announcedByProcessor,
    visible: s.visible,
    card_brand: s.card?.brand,
    card_last4: s.card?.last4,
    card_funding: s.card?.funding,
    card_fingerprint: s.card?.fingerprint,
    card_exp_month: s.card?.expMonth,
    card_exp_year: s.card?.expYear,
    verification: s.verification,
    authorization_code: s.authorizationCode,
    receipt_url: s.receiptUrl,
    authorized_at: s.authorizedAt,
    captured_at: s.capturedAt,
    capture_before: s.captureBefore,
    failed_at: s.failedAt,
    finished_attempts: [...s.finishedAttempts],
    check_after_seconds: checkAfterSeconds,
    ended: ended.map(({ ref, outcome, code, message, at, attempt }) => ({
      ref,
      outcome,
      failure_code: code,
      failure_message: message,
      ended_at: at,
      started_at: attempt?.startedAt,
      card_brand: attempt?.card?.brand,
      card_last4: attempt?.card?.last4,
      three_ds_result: attempt?.verification?.threeDsResult ?? "",
    })),
  };
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
    expiresAt: parseTime(row.expires_at),
    scheduled: row.scheduled,
    version: Number(row.version),
    notFoundSince: parseTime(row.not_found_since) ?? undefined,
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
      lastAttemptAt: parseTime(row.last_attempt_at) ?? undefined,
      failedAttempts: row.failed_attempts,
      finishedAttempts: new Set(row.finished_attempts),
      announcedByConfirm: row.announced_by_confirm,
      announcedByProcessor: row.announced_by_processor,
      visible: row.visible,
      card: row.card ?? undefined,
      verification: row.verification ?? undefined,
      authorizationCode: row.authorization_code,
      receiptUrl: row.receipt_url,
      authorizedAt: parseTime(row.authorized_at) ?? undefined,
      captureBefore: parseTime(row.capture_before) ?? undefined,
      capturedAt: parseTime(row.captured_at) ?? undefined,
      failedAt: parseTime(row.failed_at) ?? undefined,
    },
  };
}
