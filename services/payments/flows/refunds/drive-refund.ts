// Brings a reserved refund forward: asks the processor for it and settles by the answer. Used by the request that
// reserved it and by the reconcile job. Phases: 1 make it at the processor, once · 2 settle in one transaction.
import type { Database, Tx } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure, invalid } from "#platform/values/failure.ts";
import { isKnown, type RefundOrder, type RefundReport } from "../../connectors/connector.ts";
import type { Connectors } from "../../connectors/registry.ts";
import { notProcessedCode } from "../../rules/payment-transition.ts";
import { findOperation, lockUntouched, type Operation } from "../../store/operations.ts";
import { findPayment, lockPayment, type StoredPayment } from "../../store/payments.ts";
import { findRefund, type StoredRefund } from "../../store/refunds/refunds.ts";
import type { Accounts } from "../accounts/ask-processor.ts";
import { type CommandResult, makeRefund } from "../make-at-processor.ts";
import { settleRefund } from "../settle-payment.ts";

export interface DriveDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  /** When the reconcile job next asks about a payment that is not settled; seconds. */
  readonly reconcileAfterSeconds: number;
  readonly accounts: Accounts;
  readonly connectors: Connectors;
}

// Why a refund failed that never came to be at the processor; a retry of the same request may take it up again.
const notSentCode = "not_sent";

/** True for a refund that surely was not made. */
export function neverSent(refund: StoredRefund): boolean {
  const isOurs = refund.failureCode === notSentCode || refund.failureCode === notProcessedCode;
  return refund.status === "failed" && refund.connectorRef === "" && isOurs;
}

/** A refund with all that belongs to it. */
export interface HeldRefund {
  readonly refund: StoredRefund;
  readonly payment: StoredPayment;
  readonly operation: Operation;
}

/**
 * @param fresh as the request that reserved it holds it, untried; undefined: it may have been tried before.
 * @param record runs in the settling transaction with the payment and the refund as they are then; its value is
 * answered.
 * @throws Failure CONNECTOR_ERROR, NOT_REFUNDABLE or AMOUNT_TOO_LARGE when the processor refused: the amount is given
 * back.
 */
export async function driveRefund<T>(
  deps: DriveDeps,
  refundId: string,
  fresh: HeldRefund | undefined,
  record: (tx: Tx, payment: StoredPayment, refund: StoredRefund) => Promise<T>,
): Promise<T> {
  const refund = fresh?.refund ?? (await knownRefund(deps.db, refundId));
  if (refund.acknowledged) return await finishAcknowledged(deps, refund, record);
  const { payment, operation } = fresh ?? (await heldRefund(deps.db, refund));
  const answer = await askProcessor(deps, payment, refund, operation);
  crashPoint("refund-payment.3-made");
  if (answer.kind === "unknown" || answer.kind === "not_found") {
    return await deps.db.transaction((tx) => record(tx, payment, refund));
  }
  const report = reportOf(refund, answer);
  const result = await deps.db.transactionTogether(payment.id, async (tx) => {
    if (answer.kind === "not_sent" && !(await isUntouched(tx, payment.id, operation))) {
      // Somebody else has tried meanwhile, so that nothing came of our own try proves nothing.
      return { value: await record(tx, payment, refund) };
    }
    const settled = await settleRefund(tx, deps, payment.id, report);
    const stored = settled.refunds.find((one) => one.id === refundId);
    if (!stored) throw new Error("the refund is gone");
    return neverCameToBe(stored) ? undefined : { value: await record(tx, settled.payment, stored) };
  });
  crashPoint("refund-payment.4-settled");
  deps.outbox.wake();
  if (result) return result.value;
  throw refusalOf(report.failureCode, report.failureMessage);
}

async function knownRefund(db: Database, refundId: string): Promise<StoredRefund> {
  const refund = await findRefund(db, refundId);
  if (!refund) throw new Failure("NOT_FOUND");
  return refund;
}

/** One that a processor told of after a restore has no operation: it is acknowledged, so that nobody sends it. */
async function heldRefund(db: Database, refund: StoredRefund): Promise<HeldRefund> {
  const payment = await findPayment(db, refund.paymentId);
  const operation = await findOperation(db, "create_refund", refund.id);
  if (!payment || !operation) throw new Error("a refund without its payment or operation");
  return { refund, payment, operation };
}

/** True when nobody but us has tried the operation. The payment is locked first, as by everybody who settles. */
async function isUntouched(tx: Tx, paymentId: string, operation: Operation): Promise<boolean> {
  await lockPayment(tx, paymentId);
  return await lockUntouched(tx, operation.id);
}

async function askProcessor(
  deps: DriveDeps,
  payment: StoredPayment,
  refund: StoredRefund,
  operation: Operation,
): Promise<CommandResult<RefundReport>> {
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const order: RefundOrder = {
    intentRef: payment.connectorRef,
    reference: refund.id,
    amount: refund.amount,
    currency: payment.currency,
    reason: refund.reason,
  };
  return await makeRefund(deps.db, deps.connectors.get(payment.connector), account, order, operation);
}

/** The processor has answered before us, by its webhook or to an earlier run: only the answer is left to record. */
async function finishAcknowledged<T>(
  deps: DriveDeps,
  refund: StoredRefund,
  record: (tx: Tx, payment: StoredPayment, refund: StoredRefund) => Promise<T>,
): Promise<T> {
  if (neverCameToBe(refund)) {
    throw refusalOf(refund.failureCode, refund.failureMessage);
  }
  return await deps.db.transaction(async (tx) => {
    const payment = await findPayment(tx, refund.paymentId);
    if (!payment) throw new Error("a refund without its payment");
    return await record(tx, payment, refund);
  });
}

/**
 * True for a refund that the processor refused to make. One that was made and failed there afterwards is a refund all
 * the same: its caller is told so, since an error would invite the same request again and again.
 */
function neverCameToBe(refund: StoredRefund): boolean {
  return refund.status === "failed" && refund.connectorRef === "";
}

/** A refusal, and what surely did not happen, end the refund: its amount is given back. */
function reportOf(
  refund: StoredRefund,
  answer: Exclude<CommandResult<RefundReport>, { kind: "unknown" | "not_found" }>,
): RefundReport {
  if (isKnown(answer)) return answer.value;
  const [code, message] = reasonOf(answer);
  return {
    ref: "",
    reference: refund.id,
    amount: refund.amount,
    status: "failed",
    reason: refund.reason,
    failureCode: code,
    failureMessage: message,
    createdAt: refund.createdAt,
  };
}

/** Code and words of a refund that was not made. */
function reasonOf(answer: Extract<CommandResult<RefundReport>, { kind: "declined" | "not_sent" | "never_made" }>) {
  if (answer.kind === "declined") return [answer.code, answer.message] as const;
  if (answer.kind === "not_sent") return [notSentCode, "the processor could not be reached"] as const;
  return [notProcessedCode, "the processor never made it"] as const;
}

/**
 * What the caller of a refund that was not made is told: what the processor refuses for good is the caller's to change.
 */
function refusalOf(code: string, message: string): Failure {
  const cause = new Error(message);
  if (code === notSentCode || code === notProcessedCode) return new Failure("CONNECTOR_ERROR", { cause });
  if (code === "amount_too_large") return new Failure("AMOUNT_TOO_LARGE", { cause });
  if (code === "amount_not_accepted") return invalid("amount", "is not taken by the processor in this currency");
  return new Failure("NOT_REFUNDABLE", { cause });
}
