// Validates a risk rule: the subject, limit, window and entries of each kind. Pure.
import ipaddr from "ipaddr.js";
import { isBuyerEmail } from "#platform/values/email.ts";
import type { Violation } from "#platform/values/failure.ts";
import { currencyExponent } from "#platform/values/money.ts";
import type { RiskRule } from "./risk.ts";

type Content = Pick<RiskRule, "kind" | "subject" | "limit" | "windowSeconds" | "entries">;

const subjects: { readonly [K in Exclude<RiskRule["kind"], "amount_cap">]: readonly string[] } = {
  velocity: ["email", "address", "card_fingerprint"],
  block_list: ["email", "domain", "address", "card_fingerprint"],
  card_testing: ["address"],
};

export function ruleViolations(rule: Content): Violation[] {
  const found: Violation[] = [];
  const check = (fits: boolean, field: string, problem: string) => {
    if (!fits) found.push({ field, problem });
  };
  const { kind, subject, limit, windowSeconds, entries } = rule;
  if (kind === "amount_cap") {
    check(currencyExponent(subject) !== undefined, "subject", "must be an ISO 4217 currency code");
  } else {
    check(subjects[kind].includes(subject), "subject", `must be one of ${subjects[kind].join(", ")}`);
  }
  const counts = kind === "velocity" || kind === "card_testing";
  check(counts ? windowSeconds > 0 : windowSeconds === 0, "window_seconds", counts ? "is required" : "must be 0");
  check(
    kind === "block_list" ? limit === 0 : limit > 0,
    "limit",
    kind === "block_list" ? "must be 0" : "must be above 0",
  );
  check(kind === "block_list" || entries.length === 0, "entries", "must be empty");
  entries.forEach((entry, i) => {
    if (kind === "block_list")
      check(isEntry(subject, entry), `entries[${i}]`, entryProblems[subject] ?? "does not fit");
  });
  return found;
}

/** The form of an entry for comparisons. */
export function normalizeEntry(subject: string, entry: string): string {
  const text = entry.trim();
  if (subject === "domain") return text.toLowerCase().replace(/^[@.]+/, "");
  return subject === "email" ? text.toLowerCase() : text;
}

const entryProblems: Readonly<Record<string, string>> = {
  email: "must be an e-mail address",
  domain: "must be a domain, such as example.com",
  address: "must be an IP address or a CIDR",
  card_fingerprint: "must be printable ASCII",
};

function isEntry(subject: string, entry: string): boolean {
  if (subject === "email") return isBuyerEmail(entry);
  if (subject === "domain")
    return /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(entry);
  if (subject === "address") return entry.includes("/") ? ipaddr.isValidCIDR(entry) : ipaddr.isValid(entry);
  return /^[\x21-\x7e]+$/.test(entry);
}
