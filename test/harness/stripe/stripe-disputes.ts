// Disputes and files at the fake Stripe: reading one, files for evidence, sending evidence, closing. Their errors have
// no code, as at Stripe.
import type { Call, Routes } from "./stripe-call.ts";
import type { FormObject } from "./stripe-form.ts";
import type { FakeDispute, Json } from "./stripe-records.ts";
import { refuseRequest } from "./stripe-refusals.ts";

const filesBytesMax = 4_500_000; // of the evidence of one dispute, https://docs.stripe.com/disputes/api

export const disputeRoutes: Routes = {
  "GET /v1/disputes/{id}": (call) => withCharge(call, disputeOf(call)),
  "POST /v1/disputes/{id}": submitEvidence,
  "POST /v1/disputes/{id}/close": closeDispute,
  "POST /v1/files": createFile,
};

function disputeOf({ account, id }: Call): FakeDispute {
  return account.disputes.get(id) ?? refuseRequest(404, { code: "resource_missing" });
}

function withCharge({ account, params }: Call, dispute: FakeDispute): Json {
  const isExpanded = Object.values((params.expand as FormObject | undefined) ?? {}).includes("charge");
  return isExpanded ? { ...dispute, charge: account.charges.get(dispute.charge) ?? null } : dispute;
}

function submitEvidence(call: Call): Json {
  const { account, params } = call;
  const dispute = disputeOf(call);
  if (!needsResponse(dispute) || dispute.evidence_details.past_due) {
    refuseRequest(400, { message: "This dispute is already closed" });
  }
  const evidence = params.evidence as FormObject;
  const files = Object.values(evidence).flatMap((value) => account.files.get(String(value)) ?? []);
  const bytes = files.reduce((sum, file) => sum + Number(file.size), 0);
  if (bytes > filesBytesMax) refuseRequest(400, { message: "The combined size of the files is too large" });
  if (Object.values(evidence).some((value) => /^file_/.test(String(value)) && !account.files.has(String(value)))) {
    refuseRequest(400, { code: "resource_missing", param: "evidence" });
  }
  dispute.evidence = { ...evidence };
  dispute.metadata = { ...(dispute.metadata as Json), ...(params.metadata as Json) };
  if (params.submit !== "true") return withCharge(call, dispute);
  dispute.evidence_details.has_evidence = true;
  dispute.evidence_details.submission_count += 1;
  account.moveDispute(dispute.id, dispute.status.replace("needs_response", "under_review"));
  return withCharge(call, dispute);
}

function closeDispute(call: Call): Json {
  const dispute = disputeOf(call);
  if (dispute.status !== "needs_response") refuseRequest(400, { message: "This dispute is already closed" });
  call.account.moveDispute(dispute.id, "lost");
  return withCharge(call, dispute);
}

function needsResponse({ status }: FakeDispute): boolean {
  return status === "needs_response" || status === "warning_needs_response";
}

function createFile({ account, params }: Call): Json {
  const text = String(params.file ?? "");
  if (text === "") refuseRequest(400, { param: "file" });
  const file = {
    object: "file",
    created: account.now(),
    purpose: params.purpose,
    id: account.newId("file"),
    size: text.length,
  };
  account.files.set(file.id, { ...file, bytes: text });
  return file;
}
