// Reserves a refund: takes its amount from what can be refunded of the payment, and writes the operation that makes it
// at the processor. It holds for the payment as it was read, else it is done once more under the payment's lock.
import { type GroupedSql, isDuplicate, type Tx } from "#platform/database/database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalid } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { ProcessorAccount } from "../../connectors/connector.ts";
import { decideRefund as reservable } from "../../rules/refund.ts";
import { firstTry, recordTakeOver } from "../../store/operations.ts";
import { lockPayment, type StoredPayment } from "../../store/payments.ts";
import { insertReservations, renewReservation } from "../../store/refunds/refund-reservations.ts";
import { findRefund, type StoredRefund } from "../../store/refunds/refunds.ts";
import { reservedRefund } from "../settle-payment.ts";
import { type DriveDeps, type HeldRefund, neverSent } from "./drive-refund.ts";

export interface WantedRefund {
  readonly id: string;
  /** Minor units; undefined: all that is left. */
  readonly amount: bigint | undefined;
  /** Of the payment in all; undefined: all of it. */
  readonly refundedAtMost: bigint | undefined;
  readonly reason: string;
  /** Its idempotency key, sealed; undefined: it has none. */
  readonly image: string | undefined;
}

/**
 * An id that an earlier run had goes straight to its refund: what was allowed when it was asked for is not asked again.
 * @param payment as it was read
 * @param isResumed an earlier run may have had the id
 * @returns undefined: there is one to go on with.
 * @throws Failure NOT_REFUNDABLE, AMOUNT_TOO_LARGE, FEATURE_DISABLED, INVALID_BODY.
 */
export async function reserveRefund(
  deps: DriveDeps,
  payment: StoredPayment,
  wanted: WantedRefund,
  isResumed: boolean,
): Promise<HeldRefund | undefined> {
  if (isResumed && (await takeUp(deps, payment.id, wanted))) return undefined;
  const account = await deps.accounts.byId(payment.connectorAccountId);
  if (!account.refundsEnabled) throw new Failure("FEATURE_DISABLED");
  const amount = wanted.amount ?? payment.state.capturedAmount - payment.state.refundedAmount;
  const problem = deps.connectors.get(payment.connector).refusesAmount(amount, payment.currency);
  if (problem !== undefined) throw invalid("amount", problem);
  try {
    const asRead = isResumed ? undefined : await reserveAsRead(deps.db, deps, account, payment, wanted);
    return asRead ?? (await deps.db.transaction((tx) => reserveLocked(tx, deps, account, payment.id, wanted)));
  } catch (error) {
    // Another run has taken over the idempotency key meanwhile and reserved this refund.
    if (isDuplicate(error) && (await takeUp(deps, payment.id, wanted))) return undefined;
    throw error;
  }
}

async function reserveLocked(
  tx: Tx,
  deps: DriveDeps,
  account: ProcessorAccount,
  paymentId: string,
  wanted: WantedRefund,
): Promise<HeldRefund> {
  const fresh = await reserveAsRead(tx, deps, account, await lockedPayment(tx, paymentId), wanted);
  if (!fresh) throw new Error("a locked payment changed");
  return fresh;
}

/**
 * From here on the amount is taken, whatever else runs at once.
 * @returns undefined: the payment has changed since it was read, and nothing was written.
 * @throws Failure NOT_REFUNDABLE, AMOUNT_TOO_LARGE, by the payment as it was read.
 */
async function reserveAsRead(
  sql: GroupedSql,
  deps: DriveDeps,
  account: ProcessorAccount,
  payment: StoredPayment,
  { id, amount: requested, refundedAtMost, reason, image }: WantedRefund,
): Promise<HeldRefund | undefined> {
  const reservation = reservable(payment.state, requested, refundedAtMost);
  if (reservation.kind === "refused") throw new Failure(reservation.reason);
  const { amount } = reservation;
  const sentAfter = deps.connectors.get(payment.connector).processorTime();
  const operation = firstTry(newId("operation"), "create_refund", payment.id, sentAfter, { refundId: id });
  const refund = newRefund(payment, account, id, amount, reason);
  const { reserved, events: moved } = reservedRefund(payment, amount);
  const events = deps.outbox.toRows([refundRequested(refund, image), ...moved]);
  const { version } = payment;
  const wanted = { version, refund, operation, tryAfterSeconds: deps.reconcileAfterSeconds, events };
  const isReserved = await sql.together(insertReservations, wanted);
  if (!isReserved) return undefined;
  return { refund, operation, payment: reserved };
}

/**
 * An earlier run has reserved this refund. If it surely was never made, its amount is taken again.
 * @returns false: there is none.
 * @throws Failure NOT_REFUNDABLE, AMOUNT_TOO_LARGE: what it had taken was given back and is gone.
 */
async function takeUp(
  { db, outbox, reconcileAfterSeconds }: DriveDeps,
  paymentId: string,
  { id: refundId, refundedAtMost }: WantedRefund,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const payment = await lockedPayment(tx, paymentId);
    const known = await findRefund(tx, refundId);
    if (!known) return false;
    if (!neverSent(known)) {
      await recordTakeOver(tx, "create_refund", refundId);
      return true;
    }
    const reservation = reservable(payment.state, known.amount, refundedAtMost);
    if (reservation.kind === "refused") throw new Failure(reservation.reason);
    const { reserved, events } = reservedRefund(payment, known.amount);
    await renewReservation(tx, reserved, known, reconcileAfterSeconds, outbox.toRows(events));
    return true;
  });
}

async function lockedPayment(tx: Tx, id: string): Promise<StoredPayment> {
  const locked = await lockPayment(tx, id);
  if (!locked) throw new Failure("NOT_FOUND");
  return locked.payment;
}

/** For the audit log: who asked for it; and for a rebuild. Merchants hear of the refund by payment.refunded. */
function refundRequested(refund: StoredRefund, image: string | undefined) {
  const { id, paymentId, merchantId, environment, amount, currency, status } = refund;
  const attributes = { payment_id: paymentId, amount: String(amount), currency, ...(image && { image }) };
  return { type: "refund.requested", merchantId, environment, objectId: id, status, at: clockNow(), attributes };
}

function newRefund(
  payment: StoredPayment,
  account: ProcessorAccount,
  id: string,
  amount: bigint,
  reason: string,
): StoredRefund {
  return {
    id,
    paymentId: payment.id,
    merchantId: payment.merchantId,
    environment: payment.environment,
    currency: payment.currency,
    amount,
    status: "pending",
    connector: account.connector,
    connectorRef: "",
    reason,
    failureCode: "",
    failureMessage: "",
    acknowledged: false,
    unasked: false,
    createdAt: clockNow(),
  };
}
