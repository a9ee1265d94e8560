// Disputes as public JSON: within a payment, alone with evidence, and evidence files (docs/contract.md §5).
import { type Static, Type } from "typebox";
import type { DisputeFile, DisputeRecord, Evidence } from "#proto/payments/v1/disputes_pb.ts";
import type { Dispute } from "#proto/payments/v1/payments_pb.ts";
import { evidenceFields } from "./evidence.ts";
import {
  amountSchema,
  component,
  currencySchema,
  idSchema,
  optionalField,
  textSchema,
  timeSchema,
  timeText,
} from "./parts/field.ts";
import { present } from "./parts/present.ts";

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

export const DisputeJson = component("Dispute", Type.Object(record));

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

export const DisputeOwn = component(
  "DisputeRecord",
  Type.Object({
    ...own,
    evidence: component("DisputeEvidence", Type.Object({ ...evidenceState, ...evidenceFields })),
  }),
);

export const DisputeItem = component(
  "DisputeItem",
  Type.Object({ ...own, evidence: component("DisputeEvidenceState", Type.Object(evidenceState)) }),
);

export const DisputeFileJson = component(
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
  return present(DisputeJson, dispute, {
    outcome: ["won", "lost"].includes(dispute.status) ? dispute.status : undefined,
  });
}

/** A dispute by itself. */
export function presentDisputeOwn(answer: DisputeRecord | undefined): Static<typeof DisputeOwn> {
  const { texts = {}, files = {} } = answer?.evidence ?? {};
  return { ...ownOf(answer), evidence: { ...stateOf(answer?.evidence), ...texts, ...files } };
}

/** A dispute in a list. */
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
  return present(DisputeFileJson, file, { sha256: file && Buffer.from(file.sha256).toString("hex") });
}
