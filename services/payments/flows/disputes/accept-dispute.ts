// Concedes a dispute. Phases, each one transaction or one network call, each safe to rerun: 1 claim the idempotency key
// · 2 record it with its operation · 3 concede at the processor · 4 settle and store the answer. Conceding may be
// repeated safely: without an answer the reconcile job repeats it.
import { create } from "@bufbuild/protobuf";
import type { Tx } from "#platform/database/database.ts";
import { type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { type AcceptDisputeResponse, AcceptDisputeResponseSchema } from "#proto/payments/v1/disputes_pb.ts";
import {
  type Connector,
  type DisputeReport,
  isKnown,
  type ProcessorAccount,
  type ProcessorAnswer,
} from "../../connectors/connector.ts";
import { noteBegun } from "../../connectors/processor-time.ts";
import { findDisputeRecord } from "../../lists/disputes.ts";
import { toDisputeRecord } from "../../messages.ts";
import { isAnswerable } from "../../rules/evidence.ts";
import { findDispute, findOwnDispute, type OwnDispute, saveAcceptance } from "../../store/disputes/disputes.ts";
import {
  closeOperation,
  findOperation,
  lockUntouched,
  type Operation,
  openOperation,
  recordDoubt,
} from "../../store/operations.ts";
import type { Owner } from "../../store/payment-records.ts";
import { findPayment, lockPayment } from "../../store/payments.ts";
import { settleDispute } from "../settle-payment.ts";
import type { DriveDeps, EvidenceDeps } from "./drive-evidence.ts";

interface AcceptRequest extends Owner {
  readonly disputeId: string;
  readonly idempotency: IdempotencyScope | undefined;
}

/** @throws Failure NOT_FOUND, DISPUTE_NOT_ANSWERABLE, CONNECTOR_ERROR (not sent), IDEMPOTENCY_…. */
export async function acceptDispute(deps: EvidenceDeps, request: AcceptRequest): Promise<AcceptDisputeResponse> {
  const { disputeId, idempotency } = request;
  return await withIdempotency(deps.keys, AcceptDisputeResponseSchema, idempotency, disputeId, async ({ finish }) => {
    crashPoint("accept-dispute.1-claimed");
    const record = async (tx: Tx) => {
      const found = await findDisputeRecord(tx, request, disputeId);
      if (!found) throw new Error("the dispute is gone");
      const response = create(AcceptDisputeResponseSchema, { dispute: toDisputeRecord(found), replayed: false });
      await finish?.(tx, response);
      return response;
    };
    const dispute = requireFound(await findOwnDispute(deps.db, request, disputeId));
    if (dispute.acceptance === "accepted") return await deps.db.transaction(record);
    const operation = await recordAcceptance(deps, dispute);
    crashPoint("accept-dispute.2-noted");
    return await driveAcceptance(deps, dispute, operation, record);
  });
}

/** For the reconcile job. @returns the answer, for the history. */
export async function driveAcceptanceAgain(deps: DriveDeps, disputeId: string): Promise<string> {
  const dispute = await findDispute(deps.db, disputeId);
  const operation = await findOperation(deps.db, "accept_dispute", disputeId);
  if (!dispute || !operation) throw new Failure("NOT_FOUND");
  return await driveAcceptance(deps, dispute, operation, async (tx) => {
    const { status, acceptance } = (await findDispute(tx, disputeId)) ?? dispute;
    return acceptance === "pending" ? "no answer" : `the dispute is ${status}`;
  });
}

/** Phase 2; resumes a pending one. @throws Failure DISPUTE_NOT_ANSWERABLE. */
async function recordAcceptance(deps: DriveDeps, { id, paymentId }: OwnDispute): Promise<Operation> {
  return await deps.db.transaction(async (tx) => {
    const locked = await lockPayment(tx, paymentId);
    const dispute = await findDispute(tx, id);
    if (!locked || !dispute) throw new Failure("NOT_FOUND");
    const { payment } = locked;
    const isNew = dispute.acceptance === "";
    if (isNew && !isAnswerable(dispute.status)) throw new Failure("DISPUTE_NOT_ANSWERABLE");
    const sentAfter = deps.connectors.get(payment.connector).processorTime();
    const input = { id: newId("operation"), paymentId, reference: id, sentAfter };
    const operation = await openOperation(tx, "accept_dispute", input, deps.reconcileAfterSeconds);
    if (!isNew) return operation;
    await saveAcceptance(tx, id, "pending");
    const { merchantId, environment } = payment;
    const of = { type: "dispute_response.acceptance_requested", merchantId, environment, objectId: id };
    await deps.outbox.append(tx, [{ ...of, status: "", at: clockNow(), attributes: { payment_id: paymentId } }]);
    return operation;
  });
}

async function driveAcceptance<T>(
  deps: DriveDeps,
  dispute: OwnDispute,
  operation: Operation,
  record: (tx: Tx) => Promise<T>,
): Promise<T> {
  const payment = await findPayment(deps.db, dispute.paymentId);
  if (!payment) throw new Error("a dispute without its payment");
  const account = await deps.accounts.byId(payment.connectorAccountId);
  noteBegun();
  const answer = await concede(deps, deps.connectors.get(payment.connector), account, dispute, operation);
  crashPoint("accept-dispute.3-asked");
  if (answer.kind === "unknown" || answer.kind === "not_found") return await deps.db.transaction(record);
  const result = await deps.db.transaction(async (tx) => {
    await lockPayment(tx, payment.id);
    // If another run has tried meanwhile, our unsent try proves nothing.
    if (answer.kind === "not_sent" && !(await lockUntouched(tx, operation.id))) return { value: await record(tx) };
    await closeOperation(tx, "accept_dispute", dispute.id);
    const now = await findDispute(tx, dispute.id);
    if (!isKnown(answer)) {
      if (now?.acceptance === "accepted") return { value: await record(tx) };
      await saveAcceptance(tx, dispute.id, "");
      return undefined;
    }
    await saveAcceptance(tx, dispute.id, "accepted");
    await settleDispute(tx, deps, payment.id, answer.value);
    return { value: await record(tx) };
  });
  crashPoint("accept-dispute.4-settled");
  deps.outbox.wake();
  if (result) return result.value;
  if (answer.kind === "declined") throw new Failure("DISPUTE_NOT_ANSWERABLE", { cause: new Error(answer.message) });
  throw new Failure("CONNECTOR_ERROR", { cause: "cause" in answer ? answer.cause : undefined });
}

/** Concedes at the processor; without an answer, the status of the dispute may show that it was conceded. */
async function concede(
  deps: DriveDeps,
  connector: Connector,
  account: ProcessorAccount,
  { connectorRef }: OwnDispute,
  operation: Operation,
): Promise<ProcessorAnswer<DisputeReport>> {
  const answer = await connector.acceptDispute(account, connectorRef);
  if (answer.kind !== "unknown") return answer;
  await recordDoubt(deps.db, operation.id, String(answer.cause));
  const now = await connector.retrieveDispute(account, connectorRef);
  return isKnown(now) && now.value.status === "lost" ? now : answer;
}
