// An operator retries or resolves a parked operation. Phases of a resolution: 1 read · 2 ask the processor, whose
// answer takes precedence · 3 move the money and record the operator and the proof, in one transaction.
import { type Database, isDuplicate, type Tx } from "#platform/database/database.ts";
import type { Announcement } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import { type Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import {
  type Connector,
  isKnown,
  type ProcessorAccount,
  type ProcessorAnswer,
  type RefundReport,
} from "../connectors/connector.ts";
import { appendHistory, findOperationRecord, type OperationRecord, unparkOperation } from "../store/operator-queue.ts";
import { adoptIntent, findPayment, lockPayment, recordRenewal } from "../store/payments.ts";
import { findRefund } from "../store/refunds/refunds.ts";
import { renewalOf } from "../store/renewals.ts";
import { checkFundsNow, findFunds } from "../store/suspense.ts";
import { endUnmadePayment } from "./cancel-intent.ts";
import { askAboutResponse, endResponse, isResponse } from "./disputes/resolve-response.ts";
import { findCaptured, findIntent } from "./make-at-processor.ts";
import { settleRefund } from "./settle-payment.ts";
import { findFundsRefund } from "./unexpected-funds/refund-funds.ts";
import type { VerifyDeps } from "./verify-intent.ts";

interface OperatorResolution {
  readonly operationId: string;
  readonly operator: string;
  readonly proof: string;
  /** The processor's object that it made; undefined: it was never made. */
  readonly connectorRef: string | undefined;
}

// Failure code of a refund that an operator declared never made.
const resolvedCode = "resolved_by_operator";

/** @throws Failure NOT_FOUND, INVALID_BODY (not parked). */
export async function retryOperation(
  { db, outbox }: Pick<VerifyDeps, "db" | "outbox">,
  decision: { operationId: string; operator: string; note: string },
): Promise<void> {
  const operation = await parkedOperation(db, decision.operationId);
  await db.transaction(async (tx) => {
    if (!(await unparkOperation(tx, decision.operationId, "started"))) throw notParked();
    await appendHistory(tx, decision.operationId, "retried", decision.note, decision.operator);
    await outbox.append(tx, [announcement("operation.retried", operation, { operator: decision.operator })]);
  });
  outbox.wake();
}

/** @throws Failure NOT_FOUND, INVALID_BODY (not parked, the processor contradicts, or the reference is taken). */
export async function resolveOperation(deps: VerifyDeps, decision: OperatorResolution): Promise<void> {
  const operation = await parkedOperation(deps.db, decision.operationId);
  const answer = await askProcessor(deps, operation);
  const happened = decision.connectorRef !== undefined;
  if (!happened && isKnown(answer)) {
    throw invalidField("resolution", "the processor reports that it happened; retry the operation to settle it");
  }
  if (happened && answer.kind === "not_found" && operation.kind !== "give_back")
    throw invalidField("resolution", "the processor proves that it never happened");
  try {
    await deps.db.transaction(async (tx) => {
      // The payment is locked first, as by every settlement.
      await lockPayment(tx, operation.paymentId);
      if (!(await unparkOperation(tx, operation.id, "done"))) throw notParked();
      await appendHistory(
        tx,
        operation.id,
        "resolved",
        `${happened ? `happened as ${decision.connectorRef}` : "never happened"}: ${decision.proof}`,
        decision.operator,
      );
      const resolution = happened ? "happened" : "never_happened";
      await deps.outbox.append(tx, [
        announcement("operation.resolved", operation, { operator: decision.operator, resolution }),
      ]);
      // The processor's report decides how much was refunded; this only ends the operation.
      if (operation.kind === "give_back") return await checkFundsNow(tx, operation.reference);
      if (isResponse(operation)) return await endResponse(tx, operation, happened);
      if (operation.kind === "create_refund") await endRefund(tx, deps, operation, decision.connectorRef);
      else await endIntent(tx, deps, operation, decision.connectorRef);
    });
  } catch (error) {
    if (isDuplicate(error)) throw invalidField("connector_ref", "belongs to another object of ours");
    throw error;
  }
  deps.log.warn({ operation_id: operation.id, happened }, "operation resolved by an operator");
  deps.outbox.wake();
}

async function parkedOperation(db: Database, id: string): Promise<OperationRecord> {
  const operation = requireFound(await findOperationRecord(db, id));
  if (operation.state !== "parked") throw notParked();
  return operation;
}

/** For the audit log; the proof is only in the operation's history. */
function announcement(type: string, operation: OperationRecord, facts: Readonly<Record<string, string>>): Announcement {
  const { merchantId, environment, paymentId, refundId } = operation;
  const of = { payment_id: paymentId, ...(refundId !== "" && { refund_id: refundId }) };
  return {
    type,
    merchantId,
    environment,
    objectId: operation.id,
    status: "",
    at: clockNow(),
    attributes: { ...facts, ...of },
  };
}

function notParked(): Failure {
  return invalidField("operation_id", "is not parked");
}

async function askProcessor(deps: VerifyDeps, operation: OperationRecord): Promise<ProcessorAnswer<unknown>> {
  const account = await deps.accounts.byId(operation.connectorAccountId);
  const connector = deps.connectors.get(operation.connector);
  const payment = await findPayment(deps.db, operation.paymentId);
  if (!payment) throw new Error("an operation without its payment");
  const { reference } = operation;
  if (isResponse(operation)) return await askAboutResponse(deps, connector, account, operation);
  if (operation.kind === "give_back") {
    const funds = await findFunds(deps.db, reference);
    if (!funds) throw new Error("a refund of unexpected funds without their row");
    return await findFundsRefund(connector, account, { intentRef: funds.connectorRef, reference });
  }
  if (operation.kind === "capture") return await findCaptured(connector, account, payment.connectorRef);
  if (operation.kind === "cancel") return await findCanceled(connector, account, payment.connectorRef);
  return operation.kind === "create_refund"
    ? await connector.findRefund(account, { intentRef: payment.connectorRef, reference })
    : await findIntent(deps.db, connector, account, {
        reference: payment.id,
        renewal: renewalOf(operation),
        surface: payment.surface,
      });
}

/** Not found: the intent is not canceled. */
async function findCanceled(
  connector: Connector,
  account: ProcessorAccount,
  intentRef: string,
): Promise<ProcessorAnswer<unknown>> {
  const answer = await connector.retrieveIntent(account, intentRef);
  if (!isKnown(answer) || answer.value.pageEndedAt !== undefined) return answer;
  if (answer.value.facts.some(({ kind }) => kind === "intent_canceled")) return answer;
  return { kind: "not_found", at: connector.processorTime(), cause: new Error("the intent is not canceled") };
}

async function endRefund(
  tx: Tx,
  deps: VerifyDeps,
  operation: OperationRecord,
  connectorRef: string | undefined,
): Promise<void> {
  const refund = await findRefund(tx, operation.refundId);
  if (!refund) throw new Error("a refund's operation without its refund");
  const happened = connectorRef !== undefined;
  const report: RefundReport = {
    ref: connectorRef ?? "",
    reference: refund.id,
    amount: refund.amount,
    status: happened ? "succeeded" : "failed",
    reason: refund.reason,
    failureCode: happened ? "" : resolvedCode,
    failureMessage: happened ? "" : "an operator found that the processor never made it",
    createdAt: refund.createdAt,
  };
  await settleRefund(tx, deps, operation.paymentId, report);
}

/** Adopts an existing intent, which the reconcile job then verifies. */
async function endIntent(
  tx: Tx,
  deps: VerifyDeps,
  operation: OperationRecord,
  connectorRef: string | undefined,
): Promise<void> {
  if (operation.kind === "renew_intent") {
    const { paymentId: id } = operation;
    if (connectorRef === undefined) return;
    // Its render is unknown: the buyer's next request renews it again.
    await recordRenewal(tx, { id, renewal: renewalOf(operation), connectorRef }, undefined);
    return;
  }
  if (connectorRef !== undefined) await adoptIntent(tx, operation.paymentId, connectorRef);
  // A capture or cancellation that never happened leaves the payment as it is.
  else if (operation.kind === "create_intent") await endUnmadePayment(tx, deps, operation.paymentId);
}
