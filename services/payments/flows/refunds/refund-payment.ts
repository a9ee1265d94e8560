// Refunds a payment. Phases, each one transaction or one network call, each safe to rerun: 1 claim the idempotency key
// · 2 reserve the amount · 3 refund at the processor · 4 settle and store the answer (3 and 4: drive-refund.ts).
// Without an answer the refund stays pending, is returned as such, and the reconcile job completes it.
import { create } from "@bufbuild/protobuf";
import { type GroupedSql, isDuplicate } from "#platform/database/database.ts";
import { type IdempotencyKeys, type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type RefundPaymentResponse, RefundPaymentResponseSchema } from "#proto/payments/v1/payments_pb.ts";
import { toRefund } from "../../messages.ts";
import { refundMisfit } from "../../rules/payment-method.ts";
import { decideRefund } from "../../rules/refund.ts";
import { firstTry, recordTakeOver } from "../../store/operations.ts";
import type { StoredPayment } from "../../store/payments.ts";
import { insertReservations, renewReservation } from "../../store/refunds/refund-reservations.ts";
import { findRefund, type StoredRefund } from "../../store/refunds/refunds.ts";
import { sealKey } from "../recovery/sealed-key.ts";
import { type ArchiveDeps, requireOwnPayment } from "../restore-archived.ts";
import { applyReservation, lockBooks } from "../settle-payment.ts";
import { type DriveDeps, driveRefund, neverSent, type ReservedRefund } from "./drive-refund.ts";

export interface RefundDeps extends DriveDeps {
  readonly archive: ArchiveDeps["archive"];
  readonly keys: IdempotencyKeys;
  /** Seals the key that travels with the event. */
  readonly vault: Vault;
}

interface RefundInput {
  /** Minor units; undefined: all that is left. */
  readonly amount: bigint | undefined;
  /** Limit of all refunds of the payment together; absent: the captured amount. */
  readonly refundedAtMost?: bigint | undefined;
  readonly reason: string;
}

export interface RefundRequest extends RefundInput {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly paymentId: string;
  readonly idempotency: IdempotencyScope | undefined;
}

/** @throws Failure NOT_FOUND, NOT_REFUNDABLE, AMOUNT_TOO_LARGE, FEATURE_DISABLED, CONNECTOR_ERROR, IDEMPOTENCY_…. */
export async function refundPayment(deps: RefundDeps, request: RefundRequest): Promise<RefundPaymentResponse> {
  const { idempotency } = request;
  return await withIdempotency(
    deps.keys,
    RefundPaymentResponseSchema,
    idempotency,
    newId("refund"),
    async ({ id, isResumed, finish }) => {
      crashPoint("refund-payment.1-claimed");
      const payment = await requireOwnPayment(deps, request, request.paymentId);
      const image = idempotency && sealKey(deps.vault, id, idempotency);
      const fresh = await reserveRefund(deps, payment, { ...request, id, image }, isResumed);
      crashPoint("refund-payment.2-reserved");
      return await driveRefund(deps, id, fresh, async (tx, settled, refund) => {
        const answer = { refund: toRefund(refund), paymentStatus: settled.status, replayed: false };
        const response = create(RefundPaymentResponseSchema, answer);
        await finish?.(tx, response);
        return response;
      });
    },
  );
}

interface NewRefund extends RefundInput {
  readonly id: string;
  /** Its sealed idempotency key; undefined: it has none. */
  readonly image: string | undefined;
}

/**
 * Phase 2. Tries with the payment as it was read, and again under its lock if it has changed. An id that an earlier run
 * reserved goes straight to its refund, without checking again what was allowed then.
 * @param isResumed an earlier run may have had the id. @returns undefined: there is a refund to resume.
 * @throws Failure NOT_REFUNDABLE, AMOUNT_TOO_LARGE, FEATURE_DISABLED, INVALID_BODY.
 */
export async function reserveRefund(
  deps: DriveDeps,
  payment: StoredPayment,
  input: NewRefund,
  isResumed: boolean,
): Promise<ReservedRefund | undefined> {
  if (isResumed && (await resumeReservation(deps, payment.id, input))) return undefined;
  const account = await deps.accounts.byId(payment.connectorAccountId);
  if (!account.refundsEnabled) throw new Failure("FEATURE_DISABLED");
  const amount = input.amount ?? payment.state.capturedAmount - payment.state.refundedAmount;
  const connector = deps.connectors.get(payment.connector);
  const problem = connector.refusesAmount(amount, payment.currency);
  if (problem !== undefined) throw invalidField("amount", problem);
  const terms = connector.methods.find(({ type }) => type === (payment.state.method?.type ?? "card"));
  const misfit = refundMisfit(terms, amount, payment.state.capturedAmount);
  if (misfit === "not_refundable") throw new Failure("NOT_REFUNDABLE");
  if (misfit === "only_whole") throw invalidField("amount", "must be the captured amount, as the method demands");
  try {
    const asRead = isResumed ? undefined : await insertReservation(deps.db, deps, payment, input);
    if (asRead) return asRead;
    return await deps.db.transaction(async (tx) => {
      const locked = await lockBooks(tx, payment.id);
      const reserved = await insertReservation(tx, deps, locked.payment, input);
      if (!reserved) throw new Error("a locked payment changed");
      return reserved;
    });
  } catch (error) {
    // Another run has taken over the idempotency key and reserved this refund.
    if (isDuplicate(error) && (await resumeReservation(deps, payment.id, input))) return undefined;
    throw error;
  }
}

/**
 * Reserves the amount against every concurrent run.
 * @returns undefined: the payment has changed since it was read, and nothing was written.
 * @throws Failure NOT_REFUNDABLE, AMOUNT_TOO_LARGE, by the payment as it was read.
 */
async function insertReservation(
  sql: GroupedSql,
  deps: DriveDeps,
  payment: StoredPayment,
  { id, amount: requested, refundedAtMost, reason, image }: NewRefund,
): Promise<ReservedRefund | undefined> {
  const decision = decideRefund(payment.state, requested, refundedAtMost);
  if (decision.kind === "refused") throw new Failure(decision.reason);
  const { amount } = decision;
  const sentAfter = deps.connectors.get(payment.connector).processorTime();
  const operation = firstTry(newId("operation"), "create_refund", payment.id, sentAfter, { refundId: id });
  const { id: paymentId, merchantId, environment, currency, connector, version } = payment;
  const refund: StoredRefund = {
    ...{ id, paymentId, merchantId, environment, currency, connector, amount, reason },
    ...{ status: "pending", connectorRef: "", failureCode: "", failureMessage: "" },
    ...{ acknowledged: false, unasked: false, createdAt: clockNow() },
  };
  const { reserved, events: moved } = applyReservation(payment, amount);
  const events = deps.outbox.toRows([refundRequested(refund, image), ...moved]);
  const row = { version, refund, operation, tryAfterSeconds: deps.reconcileAfterSeconds, events };
  const isReserved = await sql.batched(insertReservations, row);
  return isReserved ? { refund, operation, payment: reserved } : undefined;
}

/**
 * Continues with a refund that an earlier run has reserved; if it certainly was never made, reserves its amount again.
 * @returns false: no such refund.
 * @throws Failure NOT_REFUNDABLE, AMOUNT_TOO_LARGE: the released amount is no longer left.
 */
async function resumeReservation(
  { db, outbox, reconcileAfterSeconds }: DriveDeps,
  paymentId: string,
  { id: refundId, refundedAtMost }: NewRefund,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    const { payment } = await lockBooks(tx, paymentId);
    const known = await findRefund(tx, refundId);
    if (!known) return false;
    if (!neverSent(known)) {
      await recordTakeOver(tx, "create_refund", refundId);
      return true;
    }
    const decision = decideRefund(payment.state, known.amount, refundedAtMost);
    if (decision.kind === "refused") throw new Failure(decision.reason);
    const { reserved, events } = applyReservation(payment, known.amount);
    await renewReservation(tx, reserved, known, reconcileAfterSeconds, outbox.toRows(events));
    return true;
  });
}

/** For the audit log and a rebuild; merchants get payment.refunded. */
function refundRequested(refund: StoredRefund, image: string | undefined) {
  const { id, paymentId, merchantId, environment, amount, currency, status } = refund;
  const attributes = { payment_id: paymentId, amount: String(amount), currency, ...(image && { image }) };
  return { type: "refund.requested", merchantId, environment, objectId: id, status, at: clockNow(), attributes };
}
