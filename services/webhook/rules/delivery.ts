// The delivery state machine (docs/contract.md §9): 2xx delivers; anything else is retried until the attempts or the
// time are used up.
import { ageMaxMs, pauseMs, type Schedule } from "./schedule.ts";

/** Reasons for an attempt without a usable answer; the texts appear in the merchant's last_error. */
export const attemptErrors = {
  dns_not_found: "the host name does not exist",
  dns_timeout: "the host name could not be resolved in time",
  dns_failed: "the host name could not be resolved",
  blocked_address: "the host resolves to an address that is not allowed",
  connect_refused: "the connection was refused",
  connect_timeout: "the connection could not be made in time",
  connect_failed: "the connection could not be made",
  tls_expired: "the TLS certificate is not valid at this time",
  tls_self_signed: "the TLS certificate is self-signed",
  tls_untrusted: "the TLS certificate is not from a trusted authority",
  tls_name_mismatch: "the TLS certificate is for another host name",
  tls_timeout: "the TLS handshake did not end in time",
  tls_failed: "the TLS handshake failed",
  reset: "the connection was closed before an answer arrived",
  answer_timeout: "no answer arrived in time",
  headers_too_large: "the answer's headers are too large",
  bad_http: "the answer is not valid HTTP",
} as const;

export type AttemptError = keyof typeof attemptErrors;

export type Outcome =
  | { readonly kind: "answered"; readonly statusCode: number; readonly retryAfterMs: number }
  | { readonly kind: "unanswered"; readonly error: AttemptError }
  /** The egress proxy is unavailable, which does not count as an attempt. */
  | { readonly kind: "not_made" };

export type Verdict =
  | { readonly kind: "delivered"; readonly statusCode: number }
  | { readonly kind: "retry"; readonly pauseMs: number; readonly statusCode: number; readonly lastError: string }
  | { readonly kind: "failed"; readonly statusCode: number; readonly lastError: string }
  | { readonly kind: "postponed"; readonly pauseMs: number };

/** Failed attempts after which a delivery has failed for an hour by the schedule, and its merchant is notified. */
export const failingTries = 7;

/** Whether the verdict is announced, for notifications. */
export function isTrouble(verdict: Verdict, triesBefore: number): boolean {
  return verdict.kind === "failed" || (verdict.kind === "retry" && triesBefore + 1 === failingTries);
}

interface DeliveryProgress {
  /** Failed attempts since the schedule began, without this one. */
  readonly tries: number;
  /** Time since the schedule began, milliseconds. */
  readonly ageMs: number;
}

// An egress proxy is usually back within minutes.
const postponedMs = 10_000;

/** @param random 0 to 1, decides the jitter */
export function judgeOutcome(outcome: Outcome, tried: DeliveryProgress, schedule: Schedule, random: number): Verdict {
  if (outcome.kind === "not_made") return { kind: "postponed", pauseMs: postponedMs };
  if (outcome.kind === "answered" && isAcknowledged(outcome.statusCode)) {
    return { kind: "delivered", statusCode: outcome.statusCode };
  }
  const statusCode = outcome.kind === "answered" ? outcome.statusCode : 0;
  const lastError = errorText(outcome);
  const tries = tried.tries + 1;
  if (tries >= schedule.attemptsMax || tried.ageMs >= ageMaxMs(schedule)) {
    return { kind: "failed", statusCode, lastError };
  }
  const requestedMs = outcome.kind === "answered" ? outcome.retryAfterMs : 0;
  return { kind: "retry", pauseMs: pauseMs(schedule, tries, random, requestedMs), statusCode, lastError };
}

/** docs/contract.md §9: only 2xx acknowledges. */
export function isAcknowledged(statusCode: number): boolean {
  return statusCode >= 200 && statusCode <= 299;
}

/** Code of a failed attempt: `http_503`, `redirect`, `tls_expired`; empty if it did not fail. */
export function errorCode(outcome: Outcome): string {
  if (outcome.kind === "not_made") return "";
  if (outcome.kind === "unanswered") return outcome.error;
  if (isAcknowledged(outcome.statusCode)) return "";
  return isRedirect(outcome.statusCode) ? "redirect" : `http_${outcome.statusCode}`;
}

function errorText(outcome: Exclude<Outcome, { kind: "not_made" }>): string {
  const code = errorCode(outcome);
  if (outcome.kind === "unanswered") return `${code}: ${attemptErrors[outcome.error]}`;
  if (isRedirect(outcome.statusCode))
    return `${code}: the endpoint answered ${outcome.statusCode}; redirects are not followed`;
  return `${code}: the endpoint answered ${outcome.statusCode}`;
}

function isRedirect(statusCode: number): boolean {
  return statusCode >= 300 && statusCode <= 399;
}
