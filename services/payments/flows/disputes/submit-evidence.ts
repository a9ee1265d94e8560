// Answers a dispute with evidence. Phases, each one transaction or one network call, each safe to run again: 1 claim
// the idempotency key · 2 reserve the submission (reserve-evidence.ts) · 3 hold its files ready at the processor · 4
// send it · 5 settle and store the answer (drive-evidence.ts). No answer is not a failure: the evidence stays pending,
// is answered as such, and the reconcile job brings it to its end.
import { create } from "@bufbuild/protobuf";
import { type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { type SubmitEvidenceResponse, SubmitEvidenceResponseSchema } from "#proto/payments/v1/disputes_pb.ts";
import { findDisputeRecord } from "../../lists/disputes.ts";
import { toDisputeRecord } from "../../messages.ts";
import { findOwnDispute } from "../../store/disputes/disputes.ts";
import type { Owner } from "../../store/payment-records.ts";
import { driveEvidence, type EvidenceDeps } from "./drive-evidence.ts";
import { reserveEvidence, type WantedEvidence } from "./reserve-evidence.ts";

export interface EvidenceRequest extends Owner, Omit<WantedEvidence, "id"> {
  readonly disputeId: string;
  readonly idempotency: IdempotencyScope | undefined;
}

/** @throws Failure NOT_FOUND, INVALID_BODY, DISPUTE_NOT_ANSWERABLE, CONNECTOR_ERROR, IDEMPOTENCY_…. */
export async function submitEvidence(deps: EvidenceDeps, request: EvidenceRequest): Promise<SubmitEvidenceResponse> {
  const { disputeId, texts, files, idempotency } = request;
  return await withIdempotency(
    deps.keys,
    SubmitEvidenceResponseSchema,
    idempotency,
    newId("evidence"),
    async ({ id, isResumed, finish }) => {
      crashPoint("submit-evidence.1-claimed");
      const dispute = await findOwnDispute(deps.db, request, disputeId);
      if (!dispute) throw new Failure("NOT_FOUND");
      const fresh = await reserveEvidence(deps, dispute, { id, texts, files }, isResumed);
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
