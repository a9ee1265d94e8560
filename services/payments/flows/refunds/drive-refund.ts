// Brings a reserved refund forward, for the request that reserved it and for the reconcile job. Phases: 3 refund at the
// processor, once (make-at-processor.ts) · 4 settle in one transaction (settle-payment.ts).
import type { Database, Tx } from "#platform/database/database.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import { isKnown, type RefundReport } from "../../connectors/connector.ts";
import type { RefundOrder } from "../../connectors/order.ts";
import { findOperation, lockUntouched, type Operation } from "../../store/operations.ts";
import { findPayment, lockPayment, type StoredPayment } from "../../store/payments.ts";
import { findRefund, type StoredRefund } from "../../store/refunds/refunds.ts";
import { failureOf, isNeverMade, makeRefund, type UnmadeAnswer } from "../make-at-processor.ts";
import { settleRefund } from "../settle-payment.ts";
import type { VerifyDeps } from "../verify-intent.ts";

export type DriveDeps = Pick<VerifyDeps, "db" | "outbox" | "reconcileAfterSeconds" | "accounts" | "connectors">;

/** True for a refund that certainly was not made; the same request may reserve it again. */
export function neverSent(refund: StoredRefund): boolean {
  return isRefused(refund) && isNeverMade(refund.failureCode);
}

export interface ReservedRefund {
  readonly refund: StoredRefund;
  readonly payment: StoredPayment;
  readonly operation: Operation;
}

/** Stores and returns the answer; runs in the settling transaction. */
type RecordRefund<T> = (tx: Tx, payment: StoredPayment, refund: StoredRefund) => Promise<T>;

/**
 * @param fresh as its request has just reserved it, untried; undefined: it may have been tried before
 * @throws Failure CONNECTOR_ERROR, NOT_REFUNDABLE or AMOUNT_TOO_LARGE if it was not made: its amount is released.
 */
export async function driveRefund<T>(
  deps: DriveDeps,
  refundId: string,
  fresh: ReservedRefund | undefined,
  record: RecordRefund<T>,
): Promise<T> {
  const refund = requireFound(fresh?.refund ?? (await findRefund(deps.db, refundId)));
  if (refund.acknowledged) return await finishAcknowledged(deps, refund, record);
  const { payment, operation } = fresh ?? (await findReserved(deps.db, refund));
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const order: RefundOrder = {
    intentRef: payment.connectorRef,
    reference: refund.id,
    amount: refund.amount,
    currency: payment.currency,
    reason: refund.reason,
  };
  const connector = deps.connectors.get(payment.connector);
  const answer = await makeRefund({ db: deps.db, connector, account, operation }, order);
  crashPoint("refund-payment.3-made");
  if (answer.kind === "unknown" || answer.kind === "not_found") {
    return await deps.db.transaction((tx) => record(tx, payment, refund));
  }
  const report = isKnown(answer) ? answer.value : unmadeReport(refund, answer);
  const result = await deps.db.transaction(async (tx) => {
    // The payment is locked first, as by every settlement.
    const isUnsent = answer.kind === "not_sent";
    if (isUnsent) await lockPayment(tx, payment.id);
    // If another run has tried meanwhile, our unsent try proves nothing.
    if (isUnsent && !(await lockUntouched(tx, operation.id))) return { value: await record(tx, payment, refund) };
    const settled = await settleRefund(tx, deps, payment.id, report);
    const stored = settled.refunds.find((one) => one.id === refundId);
    if (!stored) throw new Error("the refund is gone");
    return isRefused(stored) ? undefined : { value: await record(tx, settled.payment, stored) };
  });
  crashPoint("refund-payment.4-settled");
  deps.outbox.wake();
  if (result) return result.value;
  throw refusalOf(report.failureCode, report.failureMessage);
}

/** A refund that was imported after a restore has no operation: it is acknowledged, so no run sends it. */
async function findReserved(db: Database, refund: StoredRefund): Promise<ReservedRefund> {
  const payment = await findPayment(db, refund.paymentId);
  const operation = await findOperation(db, "create_refund", refund.id);
  if (!payment || !operation) throw new Error("a refund without its payment or operation");
  return { refund, payment, operation };
}

/** The processor answered before us, by its webhook or to an earlier run: only our answer is left to record. */
async function finishAcknowledged<T>(deps: DriveDeps, refund: StoredRefund, record: RecordRefund<T>): Promise<T> {
  if (isRefused(refund)) throw refusalOf(refund.failureCode, refund.failureMessage);
  return await deps.db.transaction(async (tx) => {
    const payment = await findPayment(tx, refund.paymentId);
    if (!payment) throw new Error("a refund without its payment");
    return await record(tx, payment, refund);
  });
}

/**
 * True for a refund that the processor did not make. A refund that was made and failed later is returned as a refund:
 * an error would invite the same request again.
 */
function isRefused(refund: StoredRefund): boolean {
  return refund.status === "failed" && refund.connectorRef === "";
}

function unmadeReport({ id, amount, reason, createdAt }: StoredRefund, answer: UnmadeAnswer): RefundReport {
  return { ref: "", reference: id, amount, status: "failed", reason, createdAt, ...failureOf(answer) };
}

/** The error for a refund that was not made: a final refusal is the caller's to change. */
function refusalOf(code: string, message: string): Failure {
  const cause = new Error(message);
  if (isNeverMade(code)) return new Failure("CONNECTOR_ERROR", { cause });
  if (code === "amount_too_large") return new Failure("AMOUNT_TOO_LARGE", { cause });
  if (code === "amount_not_accepted")
    return invalidField("amount", "is not accepted by the processor in this currency");
  return new Failure("NOT_REFUNDABLE", { cause });
}
