// Reserves a submission of evidence: from here on the dispute is being answered, whatever else runs at once, and an
// operation brings the submission to its end.
import type { Tx } from "#platform/database/database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { isAnswerable, judgeEvidence, trimTexts } from "../../rules/evidence.ts";
import {
  findEvidence,
  hasPendingEvidence,
  insertEvidence,
  reopenEvidence,
} from "../../store/disputes/dispute-evidence.ts";
import { filesOf, useFiles } from "../../store/disputes/dispute-files.ts";
import { findDispute, type OwnDispute } from "../../store/disputes/disputes.ts";
import { openOperation, recordTakeOver, renewOperation } from "../../store/operations.ts";
import { lockPayment, type StoredPayment } from "../../store/payments.ts";
import { type DriveDeps, type HeldEvidence, neverSent } from "./drive-evidence.ts";

export interface WantedEvidence {
  readonly id: string;
  readonly texts: Readonly<Record<string, string>>;
  /** Ids of files. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * An id that an earlier run had goes straight to its submission.
 * @returns undefined: there is one to go on with.
 * @throws Failure INVALID_BODY, DISPUTE_NOT_ANSWERABLE.
 */
export async function reserveEvidence(
  deps: DriveDeps,
  dispute: OwnDispute,
  wanted: WantedEvidence,
  isResumed: boolean,
): Promise<HeldEvidence | undefined> {
  return await deps.db.transaction(async (tx) => {
    const payment = await lockedPayment(tx, dispute.paymentId);
    if (isResumed && (await takeUp(tx, deps, dispute.id, wanted.id))) return undefined;
    const { id, files } = wanted;
    const texts = trimTexts(wanted.texts);
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
 * An earlier run has reserved this submission. One that surely was never sent is sent after all.
 * @returns false: there is none.
 * @throws Failure DISPUTE_NOT_ANSWERABLE: meanwhile it is answered otherwise.
 */
async function takeUp(tx: Tx, deps: DriveDeps, disputeId: string, evidenceId: string): Promise<boolean> {
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

async function lockedPayment(tx: Tx, id: string): Promise<StoredPayment> {
  const locked = await lockPayment(tx, id);
  if (!locked) throw new Failure("NOT_FOUND");
  return locked.payment;
}

/** For the audit log: who answered. Nothing of what was written is in it. */
function evidenceRequested({ id, merchantId, environment }: StoredPayment, disputeId: string) {
  const type = "dispute_response.evidence_requested";
  const attributes = { payment_id: id };
  return { type, merchantId, environment, objectId: disputeId, status: "", at: clockNow(), attributes };
}
