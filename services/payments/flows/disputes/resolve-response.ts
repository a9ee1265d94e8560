// Resolves an answer to a dispute (evidence or conceding) that is in doubt, by an operator's decision. The processor is
// asked first; only its report moves the dispute.
import type { Tx } from "#platform/database/database.ts";
import { type Connector, isKnown, type ProcessorAccount, type ProcessorAnswer } from "../../connectors/connector.ts";
import { findEvidence, recordFailed, recordSubmitted } from "../../store/disputes/dispute-evidence.ts";
import { findDispute, saveAcceptance } from "../../store/disputes/disputes.ts";
import type { OperationRecord } from "../../store/operator-queue.ts";
import { findEvidenceAt } from "../make-at-processor.ts";
import type { VerifyDeps } from "../verify-intent.ts";

const resolvedCode = "resolved_by_operator";

/** True for an operation that answers a dispute. */
export function isResponse({ kind }: Pick<OperationRecord, "kind">): boolean {
  return kind === "submit_evidence" || kind === "accept_dispute";
}

/** Asks whether the processor has the answer. */
export async function askAboutResponse(
  { db }: Pick<VerifyDeps, "db">,
  connector: Connector,
  account: ProcessorAccount,
  { kind, reference }: OperationRecord,
): Promise<ProcessorAnswer<unknown>> {
  const evidence = kind === "submit_evidence" ? await findEvidence(db, reference) : undefined;
  const dispute = await findDispute(db, evidence?.disputeId ?? reference);
  if (!dispute) throw new Error("an answer without its dispute");
  if (evidence) return await findEvidenceAt(connector, account, { disputeRef: dispute.connectorRef, reference });
  const answer = await connector.retrieveDispute(account, dispute.connectorRef);
  if (!isKnown(answer) || answer.value.status === "lost") return answer;
  return { kind: "unknown", cause: new Error(`the dispute is ${answer.value.status} at the processor`) };
}

/** Ends it by the operator's decision, under the payment's lock. */
export async function endResponse(tx: Tx, { kind, reference }: OperationRecord, happened: boolean): Promise<void> {
  if (kind === "accept_dispute") return await saveAcceptance(tx, reference, happened ? "accepted" : "");
  if (happened) await recordSubmitted(tx, reference);
  else await recordFailed(tx, reference, resolvedCode, "an operator found that the processor never received it");
}
