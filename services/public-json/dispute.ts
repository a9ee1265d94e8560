// Disputes as public JSON: within a payment, alone with evidence, and evidence files (docs/contract.md §5).
import { type Static, Type } from "typebox";
import type { DisputeFile, DisputeRecord, Evidence } from "#proto/payments/v1/disputes_pb.ts";
import type { Dispute } from "#proto/payments/v1/payments_pb.ts";
import {
  amountSchema,
  currencySchema,
  idSchema,
  jsonComponent,
  optionalField,
  textSchema,
  timeSchema,
  timeText,
} from "./field.ts";
import { presentMessage } from "./present.ts";

/** Names of the texts and files that evidence may have; gateway/json/evidence.ts describes each. */
export const evidenceTexts = [
  "product_description",
  "customer_name",
  "customer_email_address",
  "customer_purchase_ip",
  "billing_address",
  "service_date",
  "shipping_carrier",
  "shipping_tracking_number",
  "shipping_date",
  "shipping_address",
  "refund_policy",
  "refund_refusal_explanation",
  "cancellation_policy",
  "cancellation_rebuttal",
  "duplicate_charge_explanation",
  "access_activity_log",
  "uncategorized_text",
] as const;
export const evidenceFiles = [
  "receipt_file",
  "customer_communication_file",
  "customer_signature_file",
  "shipping_documentation_file",
  "service_documentation_file",
  "refund_policy_file",
  "cancellation_policy_file",
  "uncategorized_file",
] as const;

const evidenceFields = {
  ...Object.fromEntries(evidenceTexts.map((name) => [name, Type.Optional(Type.String({ description: "As sent." }))])),
  ...Object.fromEntries(evidenceFiles.map((name) => [name, Type.Optional(idSchema("file", "As sent."))])),
};

export const disputeStatuses = [
  ...(["warning_needs_response", "warning_under_review", "warning_closed"] as const),
  ...(["needs_response", "under_review", "won", "lost"] as const),
] as const;

const record = {
  id: idSchema("dispute"),
  connector_dispute_id: Type.Optional(textSchema("The dispute's id at the processor.")),
  reason: Type.Optional(textSchema("The processor's reason.", "fraudulent")),
  status: textSchema(
    "`warning_needs_response`, `warning_under_review`, `warning_closed`, `needs_response`, `under_review`, `won` or `lost`.",
    "needs_response",
  ),
  amount: amountSchema("Minor units."),
  opened_at: Type.Optional(timeSchema("When it was opened.")),
  evidence_due_at: Type.Optional(
    timeSchema("Deadline for evidence; absent if none is accepted or the date is unknown."),
  ),
  outcome: Type.Optional(textSchema("`won` or `lost`; absent until decided.", "won")),
};

export const DisputeJson = jsonComponent("Dispute", Type.Object(record));

const evidenceState = {
  status: textSchema(
    "`not_submitted`: no evidence was sent; `pending`: sent, but the processor has not yet acknowledged it; `submitted`.",
    "submitted",
  ),
  submitted_at: Type.Optional(timeSchema("When the processor acknowledged the evidence.")),
};
const own = {
  ...record,
  payment_id: idSchema("payment"),
  currency: currencySchema,
  acceptance: Type.Optional(
    textSchema("`pending`: the processor has not yet confirmed the acceptance; `accepted`.", "accepted"),
  ),
};

export const DisputeOwn = jsonComponent(
  "DisputeRecord",
  Type.Object({
    ...own,
    evidence: jsonComponent("DisputeEvidence", Type.Object({ ...evidenceState, ...evidenceFields })),
  }),
);

export const DisputeItem = jsonComponent(
  "DisputeItem",
  Type.Object({ ...own, evidence: jsonComponent("DisputeEvidenceState", Type.Object(evidenceState)) }),
);

export const DisputeFileJson = jsonComponent(
  "DisputeFile",
  Type.Object({
    id: idSchema("file"),
    dispute_id: idSchema("dispute"),
    type: textSchema(
      "Type detected from the bytes: `application/pdf`, `image/jpeg` or `image/png`.",
      "application/pdf",
    ),
    size: Type.Integer({ description: "Bytes.", examples: [48_213] }),
    sha256: textSchema(
      "SHA-256 of the file, hexadecimal.",
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ),
    created_at: timeSchema("When the file was uploaded."),
  }),
);

export function presentDispute(dispute: Dispute): Static<typeof DisputeJson> {
  return presentMessage(DisputeJson, dispute, {
    outcome: ["won", "lost"].includes(dispute.status) ? dispute.status : undefined,
  });
}

export function presentDisputeOwn(answer: DisputeRecord | undefined): Static<typeof DisputeOwn> {
  const { texts = {}, files = {} } = answer?.evidence ?? {};
  return { ...ownOf(answer), evidence: { ...stateOf(answer?.evidence), ...texts, ...files } };
}

export function presentDisputeItem(answer: DisputeRecord): Static<typeof DisputeItem> {
  return { ...ownOf(answer), evidence: stateOf(answer.evidence) };
}

function ownOf(answer: DisputeRecord | undefined) {
  if (!answer?.dispute) throw new Error("the dispute is missing");
  const { dispute, paymentId, currency, acceptance } = answer;
  return { ...presentDispute(dispute), payment_id: paymentId, currency, ...optionalField("acceptance", acceptance) };
}

function stateOf(evidence: Evidence | undefined) {
  if (!evidence) throw new Error("the evidence is missing");
  return { status: evidence.status, ...optionalField("submitted_at", timeText(evidence.submittedAt)) };
}

export function presentDisputeFile(file: DisputeFile | undefined): Static<typeof DisputeFileJson> {
  return presentMessage(DisputeFileJson, file, { sha256: file && Buffer.from(file.sha256).toString("hex") });
}
