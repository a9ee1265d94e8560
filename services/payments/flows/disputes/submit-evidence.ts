// Submits evidence against a dispute. Phases, each one transaction or network calls, each safe to rerun: 1 claim the
// idempotency key · 2 reserve the submission · 3 upload its files · 4 submit at the processor · 5 settle and store the
// answer (3 to 5: drive-evidence.ts). Without an answer it stays pending, and the reconcile job completes it.
import { create } from "@bufbuild/protobuf";
import type { Tx } from "#platform/database/database.ts";
import { type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { type SubmitEvidenceResponse, SubmitEvidenceResponseSchema } from "#proto/payments/v1/disputes_pb.ts";
import { findDisputeRecord } from "../../lists/disputes.ts";
import { toDisputeRecord } from "../../messages.ts";
import { isAnswerable, judgeEvidence, trimTexts } from "../../rules/evidence.ts";
import {
  findEvidence,
  hasPendingEvidence,
  insertEvidence,
  reopenEvidence,
} from "../../store/disputes/dispute-evidence.ts";
import { filesOf, useFiles } from "../../store/disputes/dispute-files.ts";
import { findDispute, findOwnDispute, type OwnDispute } from "../../store/disputes/disputes.ts";
import { openOperation, recordTakeOver, renewOperation } from "../../store/operations.ts";
import type { Owner } from "../../store/payment-records.ts";
import type { StoredPayment } from "../../store/payments.ts";
import { lockBooks } from "../settle-payment.ts";
import {
  type DriveDeps,
  driveEvidence,
  type EvidenceDeps,
  neverSent,
  type ReservedEvidence,
} from "./drive-evidence.ts";

interface EvidenceRequest extends Owner {
  readonly disputeId: string;
  readonly texts: Readonly<Record<string, string>>;
  /** Ids of files. */
  readonly files: Readonly<Record<string, string>>;
  readonly idempotency: IdempotencyScope | undefined;
}

/** @throws Failure NOT_FOUND, INVALID_BODY, DISPUTE_NOT_ANSWERABLE, CONNECTOR_ERROR, IDEMPOTENCY_…. */
export async function submitEvidence(deps: EvidenceDeps, request: EvidenceRequest): Promise<SubmitEvidenceResponse> {
  const { disputeId, idempotency } = request;
  return await withIdempotency(
    deps.keys,
    SubmitEvidenceResponseSchema,
    idempotency,
    newId("evidence"),
    async ({ id, isResumed, finish }) => {
      crashPoint("submit-evidence.1-claimed");
      const dispute = requireFound(await findOwnDispute(deps.db, request, disputeId));
      const fresh = await reserveEvidence(deps, dispute, id, request, isResumed);
      crashPoint("submit-evidence.2-reserved");
      return await driveEvidence(deps, id, fresh, async (tx) => {
        const record = await findDisputeRecord(tx, request, disputeId);
        if (!record) throw new Error("the dispute is gone");
        const response = create(SubmitEvidenceResponseSchema, { dispute: toDisputeRecord(record), replayed: false });
        await finish?.(tx, response);
        return response;
      });
    },
  );
}

/**
 * Phase 2: from here on the dispute is being answered. An id that an earlier run reserved goes straight to its
 * submission. @returns undefined: there is a submission to resume
 * @throws Failure INVALID_BODY, DISPUTE_NOT_ANSWERABLE.
 */
async function reserveEvidence(
  deps: DriveDeps,
  dispute: OwnDispute,
  id: string,
  { texts: given, files }: EvidenceRequest,
  isResumed: boolean,
): Promise<ReservedEvidence | undefined> {
  return await deps.db.transaction(async (tx) => {
    const { payment } = await lockBooks(tx, dispute.paymentId);
    if (isResumed && (await resumeEvidence(tx, deps, dispute.id, id))) return undefined;
    const texts = trimTexts(given);
    const known = await filesOf(tx, dispute.id);
    const violations = judgeEvidence(texts, files, new Set(known.map((file) => file.id)));
    if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
    await assertAnswerable(tx, dispute.id);
    await insertEvidence(tx, { id, disputeId: dispute.id, texts, files });
    await useFiles(tx, Object.values(files), id);
    const sentAfter = deps.connectors.get(payment.connector).processorTime();
    const input = { id: newId("operation"), paymentId: payment.id, reference: id, sentAfter };
    const operation = await openOperation(tx, "submit_evidence", input, deps.reconcileAfterSeconds);
    await deps.outbox.append(tx, [evidenceRequested(payment, dispute.id)]);
    const evidence = await findEvidence(tx, id);
    if (!evidence) throw new Error("evidence was not written");
    return { evidence, dispute, payment, operation: { ...operation, tried: false } };
  });
}

/**
 * Continues with a submission that an earlier run has reserved; one that certainly was never sent is sent again.
 * @returns false: no such submission. @throws Failure DISPUTE_NOT_ANSWERABLE: the dispute was answered otherwise.
 */
async function resumeEvidence(tx: Tx, deps: DriveDeps, disputeId: string, evidenceId: string): Promise<boolean> {
  const known = await findEvidence(tx, evidenceId);
  if (!known) return false;
  if (!neverSent(known)) {
    await recordTakeOver(tx, "submit_evidence", evidenceId);
    return true;
  }
  await assertAnswerable(tx, disputeId);
  await reopenEvidence(tx, evidenceId);
  await renewOperation(tx, "submit_evidence", evidenceId, deps.reconcileAfterSeconds);
  return true;
}

async function assertAnswerable(tx: Tx, disputeId: string): Promise<void> {
  const dispute = await findDispute(tx, disputeId);
  const isOpen = dispute && isAnswerable(dispute.status) && !(await hasPendingEvidence(tx, disputeId));
  if (!isOpen) throw new Failure("DISPUTE_NOT_ANSWERABLE");
}

/** For the audit log, without the evidence itself. */
function evidenceRequested({ id, merchantId, environment }: StoredPayment, disputeId: string) {
  const type = "dispute_response.evidence_requested";
  const attributes = { payment_id: id };
  return { type, merchantId, environment, objectId: disputeId, status: "", at: clockNow(), attributes };
}
