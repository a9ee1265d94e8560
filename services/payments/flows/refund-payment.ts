// Refunds a payment. Phases, each one transaction or one network call, each safe to run again: 1 claim the idempotency key ·
// 2 reserve the amount under the payment's lock, with the operation row · 3 ask the processor · 4 settle and store the answer.
// No answer is not a failure: the refund stays pending, is answered as such, and the reconcile job brings it to its end.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { crashPoint } from "#platform/crash-point.ts";
import type { Database, Tx } from "#platform/database.ts";
import { asFailure, Failure } from "#platform/failure.ts";
import { newId } from "#platform/id.ts";
import type { IdempotencyKeys, IdempotencyScope } from "#platform/idempotency.ts";
import type { Outbox } from "#platform/outbox.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type RefundPaymentResponse, RefundPaymentResponseSchema } from "#proto/payments/v1/payments_pb.ts";
import type { Account } from "../connectors/connector.ts";
import type { Connectors } from "../connectors/registry.ts";
import { reserve } from "../rules/refund.ts";
import { appendMovements } from "../store/journal.ts";
import {
  firstTry,
  insertRefundOperation,
  type Operation,
  recordTakeOver,
  reopenOperation,
} from "../store/operations.ts";
import { findPayment, lockPayment, type StoredPayment, savePayment } from "../store/payments.ts";
import { findRefund, insertRefund, type StoredRefund, saveRefund } from "../store/refunds.ts";
import { refundMessage } from "../wire.ts";
import type { Accounts } from "./ask-processor.ts";
import { driveRefund, neverSent } from "./drive-refund.ts";

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
  if (!scope) return await refund(deps, request, newId("refund"), async () => {});
  const claim = await deps.keys.claim(scope, newId("refund"));
  if (claim.kind === "replay") {
    if (claim.answer.kind === "refusal") throw new Failure(claim.answer.reason);
    return { ...fromBinary(RefundPaymentResponseSchema, claim.answer.bytes), replayed: true };
  }
  crashPoint("refund-payment.1-claimed");
  const { objectId, lockId } = claim;
  try {
    return await refund(deps, request, objectId, (tx, response) => {
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
  finish: (tx: Tx, response: RefundPaymentResponse) => Promise<void>,
): Promise<RefundPaymentResponse> {
  const payment = await owned(deps.db, request);
  const account = await deps.accounts.byId(payment.connectorAccountId);
  if (!account.refundsEnabled) throw new Failure("FEATURE_DISABLED");
  const operation = await reserveRefund(deps, request, refundId, account);
  crashPoint("refund-payment.2-reserved");
  return await driveRefund(deps, refundId, operation, async (tx, settled, stored) => {
    const response = create(RefundPaymentResponseSchema, {
      refund: refundMessage(stored),
      paymentStatus: settled.status,
      replayed: false,
    });
    await finish(tx, response);
    return response;
  });
}

async function owned(db: Database, request: RefundRequest): Promise<StoredPayment> {
  const payment = await findPayment(db, request.paymentId);
  const own = payment?.merchantId === request.merchantId && payment.environment === request.environment;
  if (!payment || !own || !payment.state.visible) throw new Failure("NOT_FOUND");
  return payment;
}

/**
 * Phase 2: from here on the amount is taken, whatever else runs at once. An earlier run with this id is gone on with; one that
 * surely never reached the processor takes its amount again.
 */
async function reserveRefund(
  deps: RefundDeps,
  request: RefundRequest,
  refundId: string,
  account: Account,
): Promise<Operation | undefined> {
  return await deps.db.transaction(async (tx) => {
    const locked = await lockPayment(tx, request.paymentId);
    if (!locked) throw new Failure("NOT_FOUND");
    const { payment } = locked;
    const known = await findRefund(tx, refundId);
    if (known && !neverSent(known)) {
      await recordTakeOver(tx, "create_refund", refundId);
      return undefined;
    }
    const reservation = reserve(payment.state, known?.amount ?? request.amount);
    if (reservation.kind === "refused") throw new Failure(reservation.reason);
    const { amount } = reservation;
    const state = { ...payment.state, refundedAmount: payment.state.refundedAmount + amount };
    const { id, connectorRef } = payment;
    await savePayment(tx, { id, connectorRef, state, checkAfterSeconds: deps.patienceSeconds }, []);
    await appendMovements(tx, payment, [{ kind: "refund_reserved", cause: refundId, amount }]);
    if (known) {
      await saveRefund(tx, { ...known, status: "pending", failureCode: "", failureMessage: "", acknowledged: false });
      await reopenOperation(tx, "create_refund", refundId, deps.patienceSeconds);
      return undefined;
    }
    const operation = firstTry(newId("operation"), "create_refund", payment.id, refundId);
    await insertRefund(tx, newRefund(payment, account, refundId, amount, request.reason));
    await insertRefundOperation(tx, operation, deps.patienceSeconds);
    return operation;
  });
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
    createdAt: new Date(),
  };
}
