// Refunds a payment. Phases, each one transaction or one network call, each safe to run again: 1 claim the idempotency key ·
// 2 reserve the amount if the payment is still as it was read, else under its lock, with the operation row · 3 ask the processor ·
// 4 settle and store the answer.
// No answer is not a failure: the refund stays pending, is answered as such, and the reconcile job brings it to its end.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { clockNow } from "#platform/clock.ts";
import { crashPoint } from "#platform/crash-point.ts";
import type { Database, Sql, Tx } from "#platform/database.ts";
import { asFailure, Failure, invalid } from "#platform/failure.ts";
import { newId } from "#platform/id.ts";
import type { IdempotencyKeys, IdempotencyScope } from "#platform/idempotency.ts";
import type { Outbox } from "#platform/outbox.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type RefundPaymentResponse, RefundPaymentResponseSchema } from "#proto/payments/v1/payments_pb.ts";
import type { Account } from "../connectors/connector.ts";
import type { Connectors } from "../connectors/registry.ts";
import { statusOf } from "../rules/payment.ts";
import { reserve as reservable } from "../rules/refund.ts";
import { appendMovements } from "../store/journal.ts";
import { firstTry, recordTakeOver, renewOperation } from "../store/operations.ts";
import { findPayment, lockPayment, type StoredPayment, savePayment } from "../store/payments.ts";
import { insertReservation } from "../store/refund-reservations.ts";
import { findRefund, type StoredRefund, saveRefund } from "../store/refunds.ts";
import { refundMessage } from "../wire.ts";
import type { Accounts } from "./ask-processor.ts";
import { driveRefund, type HeldRefund, neverSent } from "./drive-refund.ts";

export interface RefundDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  readonly accounts: Accounts;
  /** The reconcile job leaves a call alone this long, that may still be under way; seconds. */
  readonly patienceSeconds: number;
  readonly connectors: Connectors;
  readonly keys: IdempotencyKeys;
}

export interface RefundRequest {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly paymentId: string;
  /** Minor units; undefined: all that is left. */
  readonly amount: bigint | undefined;
  readonly reason: string;
  readonly idempotency: IdempotencyScope | undefined;
}

/** @throws Failure NOT_FOUND, NOT_REFUNDABLE, AMOUNT_TOO_LARGE, FEATURE_DISABLED, CONNECTOR_ERROR, IDEMPOTENCY_…. */
export async function refundPayment(deps: RefundDeps, request: RefundRequest): Promise<RefundPaymentResponse> {
  const scope = request.idempotency;
  const freshId = newId("refund");
  if (!scope) return await refund(deps, request, freshId, false, async () => {});
  const claim = await deps.keys.claim(scope, freshId);
  if (claim.kind === "replay") {
    if (claim.answer.kind === "refusal") throw new Failure(claim.answer.reason, { replayed: true });
    return { ...fromBinary(RefundPaymentResponseSchema, claim.answer.bytes), replayed: true };
  }
  crashPoint("refund-payment.1-claimed");
  const { objectId, lockId } = claim;
  try {
    return await refund(deps, request, objectId, objectId !== freshId, (tx, response) => {
      const bytes = toBinary(RefundPaymentResponseSchema, response);
      return deps.keys.finish(tx, scope, lockId, { kind: "response", bytes });
    });
  } catch (error) {
    const failure = asFailure(error);
    await deps.keys.settleFailure(scope, lockId, failure);
    throw failure;
  }
}

async function refund(
  deps: RefundDeps,
  request: RefundRequest,
  refundId: string,
  again: boolean,
  finish: (tx: Tx, response: RefundPaymentResponse) => Promise<void>,
): Promise<RefundPaymentResponse> {
  const payment = await owned(deps.db, request);
  const fresh = await reserve(deps, request, payment, refundId, again);
  crashPoint("refund-payment.2-reserved");
  return await driveRefund(deps, refundId, fresh, async (tx, settled, stored) => {
    const response = create(RefundPaymentResponseSchema, {
      refund: refundMessage(stored),
      paymentStatus: settled.status,
      replayed: false,
    });
    await finish(tx, response);
    return response;
  });
}

/**
 * Phase 2. An id that an earlier run had goes straight to its refund: what was allowed when it was asked for is not asked again.
 * @returns undefined: there is one to go on with.
 */
async function reserve(
  deps: RefundDeps,
  request: RefundRequest,
  payment: StoredPayment,
  refundId: string,
  again: boolean,
): Promise<HeldRefund | undefined> {
  if (again && (await goOnWith(deps, request, refundId))) return undefined;
  const account = await deps.accounts.byId(payment.connectorAccountId);
  if (!account.refundsEnabled) throw new Failure("FEATURE_DISABLED");
  const problem = deps.connectors.get(payment.connector).refusesAmount(amountAsked(request, payment), payment.currency);
  if (problem !== undefined) throw invalid("amount", problem);
  if (again) return await reserveLocked(deps, request, refundId, account);
  const asRead = await reserveFresh(deps.db, deps, request, payment, refundId, account);
  return asRead ?? (await reserveLocked(deps, request, refundId, account));
}

/** Minor units. */
function amountAsked({ amount }: RefundRequest, { state }: StoredPayment): bigint {
  return amount ?? state.capturedAmount - state.refundedAmount;
}

/** An earlier run has reserved this refund. If it surely was never made, its amount is taken again. @returns false: there is none. */
async function goOnWith(deps: RefundDeps, request: RefundRequest, refundId: string): Promise<boolean> {
  return await deps.db.transaction(async (tx) => {
    const locked = await lockPayment(tx, request.paymentId);
    if (!locked) throw new Failure("NOT_FOUND");
    const known = await findRefund(tx, refundId);
    if (!known) return false;
    if (neverSent(known)) await reserveAgain(tx, deps, locked.payment, known);
    else await recordTakeOver(tx, "create_refund", refundId);
    return true;
  });
}

async function owned(db: Database, request: RefundRequest): Promise<StoredPayment> {
  const payment = await findPayment(db, request.paymentId);
  const own = payment?.merchantId === request.merchantId && payment.environment === request.environment;
  if (!payment || !own || !payment.state.visible) throw new Failure("NOT_FOUND");
  return payment;
}

/**
 * Phase 2: from here on the amount is taken, whatever else runs at once.
 * @returns undefined: the payment has changed since it was read, and nothing was written.
 * @throws Failure NOT_REFUNDABLE, AMOUNT_TOO_LARGE, by the payment as it was read.
 */
async function reserveFresh(
  sql: Sql,
  deps: RefundDeps,
  request: RefundRequest,
  payment: StoredPayment,
  refundId: string,
  account: Account,
): Promise<HeldRefund | undefined> {
  const reservation = reservable(payment.state, request.amount);
  if (reservation.kind === "refused") throw new Failure(reservation.reason);
  const { amount } = reservation;
  const sentAfter = deps.connectors.get(payment.connector).processorTime();
  const operation = firstTry(newId("operation"), "create_refund", payment.id, sentAfter, { refundId });
  const refund = newRefund(payment, account, refundId, amount, request.reason);
  const events = deps.outbox.rows([refundRequested(refund)]);
  const isTaken = await insertReservation(sql, payment.state, refund, operation, deps.patienceSeconds, events);
  if (!isTaken) return undefined;
  const state = { ...payment.state, refundedAmount: payment.state.refundedAmount + amount };
  return { refund, operation, payment: { ...payment, state, status: statusOf(state) } };
}

/** The same under the payment's lock: when it changes faster than it is read, and for an id that an earlier run may have had. */
async function reserveLocked(
  deps: RefundDeps,
  request: RefundRequest,
  refundId: string,
  account: Account,
): Promise<HeldRefund> {
  return await deps.db.transaction(async (tx) => {
    const locked = await lockPayment(tx, request.paymentId);
    if (!locked) throw new Failure("NOT_FOUND");
    const fresh = await reserveFresh(tx, deps, request, locked.payment, refundId, account);
    if (!fresh) throw new Error("a locked payment changed");
    return fresh;
  });
}

/** @throws Failure NOT_REFUNDABLE, AMOUNT_TOO_LARGE: what it had taken was given back and is gone. */
async function reserveAgain(tx: Tx, deps: RefundDeps, payment: StoredPayment, known: StoredRefund): Promise<void> {
  const reservation = reservable(payment.state, known.amount);
  if (reservation.kind === "refused") throw new Failure(reservation.reason);
  const { id, connectorRef, scheduled } = payment;
  const state = { ...payment.state, refundedAmount: payment.state.refundedAmount + reservation.amount };
  const checkAfterSeconds = scheduled ? deps.patienceSeconds : undefined;
  await savePayment(tx, { id, connectorRef, state, checkAfterSeconds }, []);
  await appendMovements(tx, payment, [{ kind: "refund_reserved", cause: known.id, amount: known.amount }]);
  await saveRefund(tx, { ...known, status: "pending", failureCode: "", failureMessage: "", acknowledged: false });
  await renewOperation(tx, "create_refund", known.id, deps.patienceSeconds);
}

/** For the audit log: who asked for it. Merchants hear of the refund by payment.refunded. */
function refundRequested({ id, paymentId, merchantId, environment, amount, currency, status }: StoredRefund) {
  const attributes = { payment_id: paymentId, amount: String(amount), currency };
  return { type: "refund.requested", merchantId, environment, objectId: id, status, at: clockNow(), attributes };
}

function newRefund(payment: StoredPayment, account: Account, id: string, amount: bigint, reason: string): StoredRefund {
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
