// Disputes as public JSON: within a payment, alone with evidence, and evidence files (docs/contract.md §5).
import { type Static, Type } from "typebox";
import type { DisputeFile, DisputeRecord, Evidence } from "#proto/payments/v1/disputes_pb.ts";
import type { Dispute } from "#proto/payments/v1/payments_pb.ts";
import { displayText, notBlank } from "../http/display-text.ts";
import { strict } from "../operation.ts";
import {
  amountSchema,
  currencySchema,
  idSchema,
  jsonComponent,
  optionalField,
  textSchema,
  timeSchema,
  timeText,
} from "./parts/field.ts";
import { presentMessage } from "./parts/present.ts";

// Payments trims texts and refuses empty ones; the pattern documents it.
const text = (maxLength: number, description: string, example: string) =>
  Type.Optional(
    Type.String({
      format: displayText,
      minLength: 1,
      maxLength,
      pattern: notBlank,
      description,
      examples: [example],
    }),
  );
const file = (description: string) => Type.Optional(idSchema("file", description));
const [line, address, long] = [500, 2_000, 20_000];

const texts = {
  product_description: text(long, "Description of the product or service.", "One lemon tree, 120 cm, in a pot."),
  customer_name: text(line, "The customer's name.", "Zoë Miller"),
  customer_email_address: text(line, "The customer's e-mail address.", "buyer@example.com"),
  customer_purchase_ip: text(line, "The IP address that the customer bought from.", "203.0.113.7"),
  billing_address: text(address, "The customer's billing address.", "1 Lemon Lane, 10115 Berlin, DE"),
  service_date: text(line, "Date of the service, as free text.", "2025-11-03"),
  shipping_carrier: text(line, "The carrier.", "DHL"),
  shipping_tracking_number: text(line, "The carrier's tracking number.", "00340434161094042557"),
  shipping_date: text(line, "Shipping date, as free text.", "2025-11-04"),
  shipping_address: text(address, "The shipping address.", "1 Lemon Lane, 10115 Berlin, DE"),
  refund_policy: text(
    long,
    "The refund policy, and how it was shown to the customer before the purchase.",
    "Within 30 days, as the order page states above its button.",
  ),
  refund_refusal_explanation: text(
    long,
    "Why the customer is not entitled to a refund.",
    "The tree was never returned.",
  ),
  cancellation_policy: text(
    long,
    "The cancellation policy, and how it was shown to the customer before the purchase.",
    "At any time to the end of the month, as the order page states above its button.",
  ),
  cancellation_rebuttal: text(long, "Why the subscription was not canceled.", "It was not canceled before November 1."),
  duplicate_charge_explanation: text(
    long,
    "How this charge differs from the one that it appears to duplicate.",
    "Two orders, 1042 and 1043, of one tree each.",
  ),
  access_activity_log: text(
    long,
    "Log lines that show the customer's use of the product or service.",
    "2025-11-03T09:12:44Z 203.0.113.7 signed in",
  ),
  uncategorized_text: text(
    long,
    "Other evidence. In the sandbox `winning_evidence` wins the dispute and `losing_evidence` loses it.",
    "winning_evidence",
  ),
};
const files = {
  receipt_file: file("The customer's receipt."),
  customer_communication_file: file("Communication with the customer."),
  customer_signature_file: file("The customer's signature."),
  shipping_documentation_file: file("Proof that it was shipped to the customer."),
  service_documentation_file: file("Proof that the service was provided."),
  refund_policy_file: file("The refund policy as shown to the customer."),
  cancellation_policy_file: file("The cancellation policy as shown to the customer."),
  uncategorized_file: file("Other evidence."),
};

const evidenceFields = {
  ...Object.fromEntries(
    Object.keys(texts).map((name) => [name, Type.Optional(Type.String({ description: "As sent." }))]),
  ),
  ...Object.fromEntries(Object.keys(files).map((name) => [name, Type.Optional(idSchema("file", "As sent."))])),
};

export const NewEvidence = jsonComponent(
  "NewEvidence",
  Type.Object({ ...texts, ...files }, { minProperties: 1, ...strict }),
);

export function splitEvidence(body: Static<typeof NewEvidence>) {
  const entries = Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return {
    texts: Object.fromEntries(entries.filter(([name]) => name in texts)),
    files: Object.fromEntries(entries.filter(([name]) => name in files)),
  };
}

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
