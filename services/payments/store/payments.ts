// The payments table after its insert, and the attempts that ended: rows in, rule states out.
import { byKey, idsByKey, inputIds } from "#platform/database/batch.ts";
import type { RowOf } from "#platform/database/columns.ts";
import { type GroupedSql, parseTime, type Sql, type Tx } from "#platform/database/database.ts";
import type { FeeSchedules } from "../rules/fee.ts";
import type { AttemptEnd, PaymentState } from "../rules/payment.ts";
import { activeSchedules, scheduleOrder } from "./fee-schedules.ts";
import {
  attemptColumns,
  cardColumns,
  cardFields,
  cardOf,
  identityColumns,
  orderColumns,
  stateColumns,
} from "./payment-columns.ts";
import type { Owner } from "./payment-records.ts";

const columns = [identityColumns, orderColumns, stateColumns, cardColumns].map((part) => part.names("p")).join(", ");

/** A payment and the state that facts move. */
export interface StoredPayment extends Omit<RowOf<typeof identityColumns>, "nextCheckAt"> {
  /** The reconcile job will ask the processor about it. */
  readonly scheduled: boolean;
  readonly state: PaymentState;
}

function paymentOf(row: object): StoredPayment {
  const { nextCheckAt, ...identity } = identityColumns.read(row);
  const state = { ...orderColumns.read(row), ...stateColumns.read(row), card: cardOf(cardColumns.read(row)) };
  return { ...identity, scheduled: nextCheckAt !== undefined, state };
}

export async function findPayment(sql: GroupedSql, id: string): Promise<StoredPayment | undefined> {
  return await sql.batched(findPayments, id);
}

async function findPayments(sql: Sql, ids: readonly string[]): Promise<(StoredPayment | undefined)[]> {
  const rows = await sql.rows<{ id: string }>(`select ${columns} from ${inputIds} join payments p using (id)`, [
    idsByKey(ids),
  ]);
  const found = new Map(rows.map((row) => [row.id, paymentOf(row)]));
  return ids.map((id) => found.get(id));
}

/** A payment of the merchant in the environment, once it is visible. */
export async function findOwnPayment(sql: GroupedSql, owner: Owner, id: string): Promise<StoredPayment | undefined> {
  const payment = await findPayment(sql, id);
  if (!payment?.state.visible) return undefined;
  return payment.merchantId === owner.merchantId && payment.environment === owner.environment ? payment : undefined;
}

const ofPayment = { merchant: "p.merchant_id", currency: "p.currency", connector: "p.connector" };
const activeFees = activeSchedules({ ...ofPayment, at: "now()" });

interface LockedRow {
  id: string;
  fee_schedules: { effective_from: string; basis_points: number; fixed_amount: number }[];
}

/** A payment under a row lock, with the fee schedules of its captures. */
export interface LockedPayment {
  readonly payment: StoredPayment;
  readonly fees: FeeSchedules;
  /** The payment has unexpected funds that are not closed. */
  readonly hasUnexpectedFunds: boolean;
}

export async function lockPayment(tx: Tx, id: string): Promise<LockedPayment | undefined> {
  return await tx.batched(lockPayments, id);
}

/** Locks in the order of ids, so that two statements cannot deadlock. */
async function lockPayments(sql: Sql, ids: readonly string[]): Promise<(LockedPayment | undefined)[]> {
  const lock = sql.rows<LockedRow>(
    `select ${columns},
       (select coalesce(jsonb_agg(jsonb_build_object('effective_from', f.effective_from, 'basis_points', f.basis_points,
         'fixed_amount', f.fixed_amount) order by ${scheduleOrder}), '[]') ${activeFees}) as fee_schedules
     from ${inputIds} join payments p using (id)
     order by p.id for update of p`,
    [idsByKey(ids)],
  );
  // A statement that waits for a lock reads other tables as they were before the wait, so a second one reads suspense.
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
 * Records the buyer's e-mail unless a later one is stored. The payment's version stays.
 * @returns false: there is no such payment
 */
export async function recordCustomerEmail(sql: Sql, id: string, email: string, turn: number): Promise<boolean> {
  const rows = await sql.rows(
    `with noted as (
       update payments set customer_email = $2, email_turn = $3 where id = $1 and email_turn < $3)
     select 1 from payments where id = $1`,
    [id, email, turn],
  );
  return rows.length === 1;
}

/**
 * Moves a payment that was never sent to a processor to another account. The caller locks payment and operation.
 * @returns false when the account is no longer `from`
 */
export async function changeAccount(
  tx: Tx,
  id: string,
  from: string,
  to: { id: string; connector: string; surface: string; offered: readonly string[] },
): Promise<boolean> {
  const rows = await tx.rows(
    `update payments set connector = $3, connector_account_id = $4, surface = $5, offered_methods = $6,
       routing_reason = 'outage'
     where id = $1 and connector_account_id = $2 and connector_ref is null and outcome = 'pending' returning id`,
    [id, from, to.connector, to.id, to.surface, to.offered],
  );
  return rows.length === 1;
}

/** Stores the intent of the payment; the reconcile job checks it immediately. */
export async function adoptIntent(tx: Tx, id: string, connectorRef: string): Promise<void> {
  await tx.rows(
    `update payments set connector_ref = coalesce(connector_ref, $2), next_check_at = now() where id = $1`,
    [id, connectorRef],
  );
}

/** Replaces the payment's unpaid intent. The caller holds the lock. */
export async function replaceIntent(tx: Tx, id: string, connectorRef: string): Promise<void> {
  await tx.rows(`update payments set connector_ref = $2, checks = 0, next_check_at = now() where id = $1`, [
    id,
    connectorRef,
  ]);
}

/**
 * Replaces the intent whose page ended by its renewal and closes the operation, in one statement.
 * @returns false: the payment has ended, or the renewal was already recorded
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

/** True for an intent of a payment that is not canceled. */
export async function isAwaited(sql: Sql, connector: string, connectorRef: string): Promise<boolean> {
  const rows = await sql.rows(
    `select 1 from payments where connector = $1 and connector_ref = $2 and outcome <> 'canceled'`,
    [connector, connectorRef],
  );
  return rows.length === 1;
}

/**
 * Records that the processor has no such intent.
 * @param at by the processor's clock
 * @returns since when it has answered so without a break
 */
export async function recordNotFound(sql: Sql, id: string, at: Date): Promise<Date> {
  const [row] = await sql.rows<{ since: string }>(
    `update payments set not_found_since = least(not_found_since, $2) where id = $1 returning not_found_since as since`,
    [id, at.toISOString()],
  );
  return parseTime(row?.since ?? null) ?? at;
}

/** Records that the processor has the intent after all. */
export async function recordFound(tx: Tx, id: string): Promise<void> {
  await tx.rows(`update payments set not_found_since = null where id = $1`, [id]);
}

/** Shows the payment to the merchant before its outcome is known. */
export async function showPayment(sql: Sql, id: string): Promise<void> {
  await sql.rows("update payments set visible = true where id = $1 and not visible", [id]);
}

interface SavedPayment {
  readonly id: string;
  readonly connectorRef: string;
  readonly state: PaymentState;
  /** Latest time of the reconcile job's next question, whose schedule restarts. undefined: never. */
  readonly checkAfterSeconds: number | undefined;
}

/** Writes the new state and the attempts that ended in one statement. The caller holds the lock. */
export async function savePayment(tx: Tx, payment: SavedPayment, ended: readonly AttemptEnd[]): Promise<void> {
  await tx.batched(savePayments, { payment, ended });
}

type PaymentSave = { readonly payment: SavedPayment; readonly ended: readonly AttemptEnd[] };

async function savePayments(sql: Sql, saved: readonly PaymentSave[]): Promise<true[]> {
  const rows = await sql.rows(
    `with saved as (
       select * from jsonb_to_recordset($1) as s (each integer, id text, connector_ref text, ${stateColumns.types},
         ${cardColumns.types}, check_after_seconds float8, ended jsonb)
       where each = 1),
     ends as (
       insert into attempts (payment_id, connector_account_id, ${attemptColumns.names()})
       select saved.id, p.connector_account_id, e.*
       from saved join payments p using (id), jsonb_to_recordset(ended) as e (${attemptColumns.types})
       -- An attempt that had paid can fail afterwards.
       on conflict (payment_id, ref) do update set outcome = excluded.outcome, failure_code = excluded.failure_code,
         failure_message = excluded.failure_message, ended_at = excluded.ended_at)
     update payments p set ${stateColumns.assignments("s")}, ${cardColumns.assignments("s")},
       connector_ref = coalesce(p.connector_ref, s.connector_ref), not_found_since = null, checks = 0,
       next_check_at = case when s.check_after_seconds is not null
         then least(p.next_check_at, now() + make_interval(secs => s.check_after_seconds)) end
     from saved s where p.id = s.id returning p.id`,
    [byKey(saved.map(savedRowOf), "id")],
  );
  if (rows.length !== saved.length) throw new Error("a locked payment is missing or was saved twice");
  return saved.map(() => true);
}

function savedRowOf({ payment: { id, connectorRef, state, checkAfterSeconds }, ended }: PaymentSave) {
  return {
    id,
    connector_ref: connectorRef || null,
    ...stateColumns.write(state),
    ...cardColumns.write(cardFields(state.card)),
    check_after_seconds: checkAfterSeconds,
    ended: ended.map(({ ref, outcome, code, message, at, attempt }) =>
      attemptColumns.write({
        ref,
        outcome,
        failureCode: code,
        failureMessage: message,
        endedAt: at,
        startedAt: attempt?.startedAt,
        cardBrand: attempt?.card?.brand ?? "",
        cardLast4: attempt?.card?.last4 ?? "",
        method: attempt?.method,
        threeDsResult: attempt?.verification?.threeDsResult ?? "",
      }),
    ),
  };
}

/** Removes the fingerprints of the payments' cards. Version and time of the last change stay. */
export async function dropFingerprints(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.rows(
    `with locked as (select id from payments where id = any($1::text[]) and card_fingerprint <> '' order by id for update)
     update payments p set card_fingerprint = null from locked where p.id = locked.id`,
    [ids],
  );
}
