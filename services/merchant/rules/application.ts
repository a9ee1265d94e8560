// The onboarding application (docs/contract.md §8): its state machine, and the fields required before submission.
import { isEmail } from "#platform/values/email.ts";
import type { Violation } from "#platform/values/failure.ts";
import { homeViolations } from "./profile.ts";

export type ApplicationStatus = "draft" | "submitted" | "approved" | "rejected";
export type ApplicationCommand = "submit" | "approve" | "reject";

export interface ApplicationFields {
  readonly applicantEmail: string;
  readonly legalName: string;
  readonly tradingName: string;
  readonly countryCode: string;
  readonly currencyCode: string;
}

/** `unchanged`: the command was executed before. */
type Decision =
  | { readonly kind: "moved"; readonly to: ApplicationStatus }
  | { readonly kind: "unchanged" }
  | { readonly kind: "refused"; readonly problem: string };

const unchanged: Decision = { kind: "unchanged" };
const refused = (problem: string): Decision => ({ kind: "refused", problem });

const table: { readonly [C in ApplicationCommand]: { readonly [S in ApplicationStatus]: Decision } } = {
  submit: {
    draft: { kind: "moved", to: "submitted" },
    submitted: unchanged,
    approved: unchanged,
    rejected: unchanged,
  },
  approve: {
    draft: refused("must be submitted first"),
    submitted: { kind: "moved", to: "approved" },
    approved: unchanged,
    rejected: refused("was rejected"),
  },
  reject: {
    draft: refused("must be submitted first"),
    submitted: { kind: "moved", to: "rejected" },
    approved: refused("was approved"),
    rejected: unchanged,
  },
};

/** Days until an unsubmitted draft expires (docs/contract.md §8). */
export const draftDays = 30;
const dayMs = 86_400_000;

/** An expired draft may still be stored. */
export function isExpired({ status, createdAt }: { status: ApplicationStatus; createdAt: Date }, now: Date): boolean {
  return status === "draft" && now.getTime() - createdAt.getTime() >= draftDays * dayMs;
}

export function decideApplication(status: ApplicationStatus, command: ApplicationCommand): Decision {
  return table[command][status];
}

export function missingFields(fields: ApplicationFields): Violation[] {
  return entriesOf(fields).flatMap(([field, value]) =>
    value.trim() === "" ? [{ field, problem: "is required" }] : [],
  );
}

/** Violations of filled fields; a draft may leave any field empty. */
export function fieldViolations(fields: ApplicationFields): Violation[] {
  const found: Violation[] = [];
  if (fields.applicantEmail !== "" && !isEmail(fields.applicantEmail)) {
    found.push({ field: "applicant_email", problem: "must be an e-mail address" });
  }
  const home = { country: fields.countryCode, currency: fields.currencyCode };
  const wrong = homeViolations(home, { country: "country_code", currency: "currency_code" });
  const filled = new Set(entriesOf(fields).flatMap(([field, value]) => (value === "" ? [] : [field])));
  return [...found, ...wrong.filter((violation) => filled.has(violation.field))];
}

function entriesOf(fields: ApplicationFields): [string, string][] {
  return [
    ["applicant_email", fields.applicantEmail],
    ["legal_name", fields.legalName],
    ["trading_name", fields.tradingName],
    ["country_code", fields.countryCode],
    ["currency_code", fields.currencyCode],
  ];
}
