// Evidence against a dispute: its texts and files, the disputes that take it, and its public status (docs/contract.md
// §5). Pure.
import type { DisputeStatus } from "./dispute.ts";

/** Longest text by public name, characters. */
export const evidenceTexts = {
  product_description: 20_000,
  customer_name: 500,
  customer_email_address: 500,
  customer_purchase_ip: 500,
  billing_address: 2_000,
  service_date: 500,
  shipping_carrier: 500,
  shipping_tracking_number: 500,
  shipping_date: 500,
  shipping_address: 2_000,
  refund_policy: 20_000,
  refund_refusal_explanation: 20_000,
  cancellation_policy: 20_000,
  cancellation_rebuttal: 20_000,
  duplicate_charge_explanation: 20_000,
  access_activity_log: 20_000,
  uncategorized_text: 20_000,
} as const;
export type EvidenceText = keyof typeof evidenceTexts;

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
export type EvidenceFile = (typeof evidenceFiles)[number];

export interface EvidenceContent {
  readonly texts: { readonly [N in EvidenceText]?: string };
  /** Ids of files. */
  readonly files: { readonly [N in EvidenceFile]?: string };
}

interface EvidenceProblem {
  readonly field: string;
  readonly problem: string;
}

/** The problems of submitted evidence. @param known ids of the dispute's files */
export function judgeEvidence(
  texts: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
  known: ReadonlySet<string>,
): readonly EvidenceProblem[] {
  const problems: EvidenceProblem[] = [];
  const limits: Readonly<Record<string, number>> = evidenceTexts;
  for (const [field, text] of Object.entries(texts)) {
    const max = Object.hasOwn(limits, field) ? limits[field] : undefined;
    if (max === undefined) problems.push({ field, problem: "is not known" });
    else if (isBlank(text)) problems.push({ field, problem: "must not be blank" });
    else if (Array.from(text).length > max) problems.push({ field, problem: `must have at most ${max} characters` });
  }
  for (const [field, id] of Object.entries(files)) {
    if (!evidenceFiles.some((name) => name === field)) problems.push({ field, problem: "is not known" });
    else if (!known.has(id)) problems.push({ field, problem: "must be the id of a file of this dispute" });
  }
  if (Object.keys(texts).length + Object.keys(files).length === 0) {
    problems.push({ field: "", problem: "must have at least one text or file" });
  }
  return problems;
}

// A letter, digit, symbol or punctuation mark: text that a reader at the bank can see.
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

function isBlank(text: string): boolean {
  return !visible.test(text);
}

export function trimTexts(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.trim()]));
}

/** True for a dispute that, by the last report, waits for its merchant's answer. */
export function isAnswerable(status: DisputeStatus): boolean {
  return status === "needs_response" || status === "warning_needs_response";
}

export type EvidenceState = "pending" | "submitted" | "failed";

/** The public status: evidence that never reached the processor was not submitted. */
export function evidenceStatus(state: EvidenceState | undefined): "not_submitted" | "pending" | "submitted" {
  return state === undefined || state === "failed" ? "not_submitted" : state;
}

/** Most files of one dispute. */
export const filesMax = 20;
