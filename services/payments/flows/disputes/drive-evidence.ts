// Brings a reserved submission of evidence forward, for the request that reserved it and for the reconcile job. Phases:
// 1 upload each file · 2 submit the evidence, once · 3 settle in one transaction. Only a report moves the dispute.
import assert from "node:assert/strict";
import type { Database, Tx } from "#platform/database/database.ts";
import type { IdempotencyKeys } from "#platform/database/idempotency.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import { type DisputeReport, isKnown, type ProcessorAccount } from "../../connectors/connector.ts";
import type { EvidenceUpload } from "../../connectors/order.ts";
import { type EvidenceContent, evidenceFiles } from "../../rules/evidence.ts";
import {
  findEvidence,
  recordFailed,
  recordSubmitted,
  type StoredEvidence,
} from "../../store/disputes/dispute-evidence.ts";
import { filesOf, piecesOf, recordUploaded, type StoredFile } from "../../store/disputes/dispute-files.ts";
import { findDispute, type OwnDispute } from "../../store/disputes/disputes.ts";
import {
  closeOperation,
  findOperation,
  lockUntouched,
  type Operation,
  processorKey,
  recordDoubt,
} from "../../store/operations.ts";
import { findPayment, lockPayment, type StoredPayment } from "../../store/payments.ts";
import { type CommandResult, failureOf, isNeverMade, makeEvidence } from "../make-at-processor.ts";
import { settleDispute } from "../settle-payment.ts";
import type { VerifyDeps } from "../verify-intent.ts";

export type DriveDeps = VerifyDeps;
export interface EvidenceDeps extends DriveDeps {
  readonly keys: IdempotencyKeys;
}

/** True for a submission that certainly was not made; the same request may retry it. */
export function neverSent({ state, failureCode }: StoredEvidence): boolean {
  return state === "failed" && isNeverMade(failureCode);
}

export interface ReservedEvidence {
  readonly evidence: StoredEvidence;
  readonly dispute: OwnDispute;
  readonly payment: StoredPayment;
  readonly operation: Operation;
}

/**
 * @param fresh as its request has just reserved it, untried; undefined: it may have been tried before
 * @param record stores and returns the answer; runs in the settling transaction
 * @throws Failure CONNECTOR_ERROR (not sent), DISPUTE_NOT_ANSWERABLE or INVALID_BODY (the processor refused).
 */
export async function driveEvidence<T>(
  deps: DriveDeps,
  evidenceId: string,
  fresh: ReservedEvidence | undefined,
  record: (tx: Tx) => Promise<T>,
): Promise<T> {
  const reserved = fresh ?? (await findReserved(deps.db, evidenceId));
  const { evidence, payment, operation } = reserved;
  if (evidence.state === "failed") throw refusalOf(evidence.failureCode, evidence.failureMessage);
  if (evidence.state === "submitted") return await deps.db.transaction(record);
  const answer = await sendEvidence(deps, reserved);
  crashPoint("submit-evidence.4-sent");
  if (answer.kind === "unknown" || answer.kind === "not_found") return await deps.db.transaction(record);
  const result = await deps.db.transaction(async (tx) => {
    // The payment is locked first, as by every settlement.
    await lockPayment(tx, payment.id);
    // If another run has tried meanwhile, our unsent try proves nothing.
    if (answer.kind === "not_sent" && !(await lockUntouched(tx, operation.id))) return { value: await record(tx) };
    await closeOperation(tx, "submit_evidence", evidenceId);
    if (!isKnown(answer)) {
      const { failureCode, failureMessage } = failureOf(answer);
      await recordFailed(tx, evidenceId, failureCode, failureMessage);
      const now = await findEvidence(tx, evidenceId);
      return now?.state === "submitted" ? { value: await record(tx) } : undefined;
    }
    await recordSubmitted(tx, evidenceId);
    await settleDispute(tx, deps, payment.id, answer.value);
    return { value: await record(tx) };
  });
  crashPoint("submit-evidence.5-settled");
  deps.outbox.wake();
  if (result) return result.value;
  assert(!isKnown(answer), "evidence that the processor has was submitted");
  const { failureCode, failureMessage } = failureOf(answer);
  throw refusalOf(failureCode, failureMessage);
}

async function findReserved(db: Database, id: string): Promise<ReservedEvidence> {
  const evidence = await findEvidence(db, id);
  const dispute = evidence && (await findDispute(db, evidence.disputeId));
  const payment = dispute && (await findPayment(db, dispute.paymentId));
  const operation = await findOperation(db, "submit_evidence", id);
  if (!evidence || !dispute || !payment || !operation) throw new Error("evidence without its dispute or operation");
  return { evidence, dispute, payment, operation };
}

async function sendEvidence(deps: DriveDeps, reserved: ReservedEvidence): Promise<CommandResult<DisputeReport>> {
  const { evidence, dispute, payment, operation } = reserved;
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const files = await filesOf(deps.db, dispute.id);
  for (const file of files) {
    const isAttached = Object.values(evidence.files).includes(file.id);
    if (!isAttached || file.connectorRef !== "") continue;
    const refusal = await uploadFile(deps, account, payment, operation, file);
    if (refusal) return refusal;
  }
  crashPoint("submit-evidence.3-uploaded");
  const stored = await filesOf(deps.db, dispute.id);
  const order = {
    disputeRef: dispute.connectorRef,
    reference: evidence.id,
    texts: evidence.texts,
    files: refsOf(evidence.files, stored),
    uploads: stored
      .filter(({ id }) => Object.values(evidence.files).includes(id))
      .map((file) => uploadOf(deps.db, file)),
  };
  const connector = deps.connectors.get(payment.connector);
  return await makeEvidence({ db: deps.db, connector, account, operation }, order);
}

/**
 * Uploads a file and records the processor's id, so no retry uploads it again. Each try has its own key: an error
 * stored under one key would be repeated for a day, and a second file does no harm. @returns why it failed
 */
async function uploadFile(
  deps: DriveDeps,
  account: ProcessorAccount,
  payment: StoredPayment,
  operation: Operation,
  file: StoredFile,
): Promise<CommandResult<DisputeReport> | undefined> {
  const { id } = file;
  const upload = uploadOf(deps.db, file);
  const connector = deps.connectors.get(payment.connector);
  const key = `${processorKey(operation)}:${operation.tries}:${id}`;
  const answer = await connector.uploadFile(account, upload, key);
  if (isKnown(answer)) {
    await recordUploaded(deps.db, id, answer.value);
    return undefined;
  }
  if (answer.kind === "unknown") await recordDoubt(deps.db, operation.id, String(answer.cause));
  return answer;
}

function uploadOf(db: Database, { id, type, size }: StoredFile): EvidenceUpload {
  if (size === undefined) throw new Error("a file of evidence is incomplete");
  return { name: id, type, size, pieces: () => piecesOf(db, id) };
}

function refsOf(files: EvidenceContent["files"], stored: readonly StoredFile[]): EvidenceContent["files"] {
  const refs: { -readonly [N in keyof EvidenceContent["files"]]: EvidenceContent["files"][N] } = {};
  for (const name of evidenceFiles) {
    const id = files[name];
    if (id === undefined) continue;
    const file = stored.find((one) => one.id === id);
    if (!file?.connectorRef) throw new Error("a file of evidence is not at the processor");
    refs[name] = file.connectorRef;
  }
  return refs;
}

/** The error for evidence that was not submitted: a final refusal is the caller's to change. */
function refusalOf(code: string, message: string): Failure {
  const cause = new Error(message);
  if (isNeverMade(code)) return new Failure("CONNECTOR_ERROR", { cause });
  if (code === "not_answerable") return new Failure("DISPUTE_NOT_ANSWERABLE", { cause });
  return invalidField("", "is not accepted by the processor as evidence");
}
