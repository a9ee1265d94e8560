// Brings a reserved submission of evidence forward. Used by the request that reserved it and by the reconcile job.
// Phases: 1 hold each file ready at the processor · 2 send the evidence there, once · 3 settle in one transaction. How
// the dispute moves is the processor's report to say.
import type { Database, Tx } from "#platform/database/database.ts";
import type { IdempotencyKeys } from "#platform/database/idempotency.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure, invalid } from "#platform/values/failure.ts";
import { type DisputeReport, isKnown, type ProcessorAccount } from "../../connectors/connector.ts";
import { type EvidenceContent, evidenceFiles } from "../../rules/evidence.ts";
import { notProcessedCode } from "../../rules/payment-transition.ts";
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
import { type CommandResult, makeEvidence } from "../make-at-processor.ts";
import { settleDispute } from "../settle-payment.ts";
import type { VerifyDeps } from "../verify-intent.ts";

export type DriveDeps = VerifyDeps;
export interface EvidenceDeps extends DriveDeps {
  readonly keys: IdempotencyKeys;
}

// Why evidence failed that never came to be at the processor; a retry of the same request may take it up again.
const notSentCode = "not_sent";

/** True for a submission that surely was not made. */
export function neverSent({ state, failureCode }: StoredEvidence): boolean {
  return state === "failed" && (failureCode === notSentCode || failureCode === notProcessedCode);
}

/** A submission with all that belongs to it. */
export interface HeldEvidence {
  readonly evidence: StoredEvidence;
  readonly dispute: OwnDispute;
  readonly payment: StoredPayment;
  readonly operation: Operation;
}

/**
 * @param fresh as the request that reserved it holds it, untried; undefined: it may have been tried before.
 * @param record runs in the settling transaction; its value is answered.
 * @throws Failure CONNECTOR_ERROR (surely not sent), DISPUTE_NOT_ANSWERABLE or INVALID_BODY (the processor refused).
 */
export async function driveEvidence<T>(
  deps: DriveDeps,
  evidenceId: string,
  fresh: HeldEvidence | undefined,
  record: (tx: Tx) => Promise<T>,
): Promise<T> {
  const held = fresh ?? (await heldEvidence(deps.db, evidenceId));
  const { evidence, payment, operation } = held;
  if (evidence.state === "failed") throw refusalOf(evidence.failureCode, evidence.failureMessage);
  if (evidence.state === "submitted") return await deps.db.transaction(record);
  const answer = await sendEvidence(deps, held);
  crashPoint("submit-evidence.4-sent");
  if (answer.kind === "unknown" || answer.kind === "not_found") return await deps.db.transaction(record);
  const result = await deps.db.transaction(async (tx) => {
    // The payment first, as everybody who settles.
    await lockPayment(tx, payment.id);
    if (answer.kind === "not_sent" && !(await lockUntouched(tx, operation.id))) {
      // Somebody else has tried meanwhile, so that nothing came of our own try proves nothing.
      return { value: await record(tx) };
    }
    await closeOperation(tx, "submit_evidence", evidenceId);
    if (!isKnown(answer)) {
      await recordFailed(tx, evidenceId, ...reasonOf(answer));
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
  if (isKnown(answer)) throw new Error("known evidence came to nothing");
  throw refusalOf(...reasonOf(answer));
}

async function heldEvidence(db: Database, id: string): Promise<HeldEvidence> {
  const evidence = await findEvidence(db, id);
  const dispute = evidence && (await findDispute(db, evidence.disputeId));
  const payment = dispute && (await findPayment(db, dispute.paymentId));
  const operation = await findOperation(db, "submit_evidence", id);
  if (!evidence || !dispute || !payment || !operation) throw new Error("evidence without its dispute or operation");
  return { evidence, dispute, payment, operation };
}

async function sendEvidence(deps: DriveDeps, held: HeldEvidence): Promise<CommandResult<DisputeReport>> {
  const { evidence, dispute, payment, operation } = held;
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const files = await filesOf(deps.db, dispute.id);
  for (const file of files) {
    const isAttached = Object.values(evidence.files).includes(file.id);
    if (!isAttached || file.connectorRef !== "") continue;
    const refusal = await uploadFile(deps, account, payment, operation, file);
    if (refusal) return refusal;
  }
  crashPoint("submit-evidence.3-uploaded");
  const order = {
    disputeRef: dispute.connectorRef,
    reference: evidence.id,
    texts: evidence.texts,
    files: refsOf(evidence.files, await filesOf(deps.db, dispute.id)),
  };
  return await makeEvidence(deps.db, deps.connectors.get(payment.connector), account, order, operation);
}

/**
 * The id that the processor gives the file is kept, so that no repeat sends it again. Each try has a key of its own: a
 * fault that the processor stored under one key would come again for a day, and a second file is one that nobody uses.
 * @returns why it has none
 */
async function uploadFile(
  deps: DriveDeps,
  account: ProcessorAccount,
  payment: StoredPayment,
  operation: Operation,
  file: StoredFile,
): Promise<CommandResult<DisputeReport> | undefined> {
  const { id, type, size } = file;
  if (size === undefined) throw new Error("a file of evidence is not whole");
  const upload = { name: id, type, size, pieces: () => piecesOf(deps.db, id) };
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

/** Code and words of evidence that was not sent. */
function reasonOf(
  answer: Extract<CommandResult<DisputeReport>, { kind: "declined" | "not_sent" | "never_made" }>,
): readonly [code: string, message: string] {
  if (answer.kind === "declined") return [answer.code, answer.message];
  if (answer.kind === "not_sent") return [notSentCode, "the processor could not be reached"];
  return [notProcessedCode, "the processor never got it"];
}

/** What the caller is told: what the processor refuses for good is the caller's to change. */
function refusalOf(code: string, message: string): Failure {
  const cause = new Error(message);
  if (code === notSentCode || code === notProcessedCode) return new Failure("CONNECTOR_ERROR", { cause });
  if (code === "not_answerable") return new Failure("DISPUTE_NOT_ANSWERABLE", { cause });
  return invalid("", "is not taken by the processor as evidence");
}
