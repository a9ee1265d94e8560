// Error classes. An error contains the API's message, but never a key, a secret or a value that was sent.
import type { ErrorCode } from "./gen/contract.ts";
import { membersOf } from "./members.ts";

export interface FieldProblem {
  /** Path such as `metadata.order`; empty for the body as a whole. */
  field: string;
  problem: string;
}

export interface ErrorFacts {
  code: ErrorCode;
  status?: number | undefined;
  requestId?: string | undefined;
  details?: readonly FieldProblem[];
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

/** Base class of all errors of failed calls. Mistakes of the calling code are a TypeError. */
export class TollboothError extends Error {
  override readonly name: string = "TollboothError";
  /** The API's code, or `connection_failed`, `timed_out`, `unexpected_answer`, `signature_invalid`. */
  readonly code: ErrorCode;
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** Id of the request in Tollbooth's logs. Quote it to support. */
  readonly requestId: string | undefined;
  /** The invalid fields of `invalid_body`. */
  readonly details: readonly FieldProblem[];
  /** From Retry-After. */
  readonly retryAfterSeconds: number | undefined;
  /** Number of attempts. */
  attempts = 1;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.details = facts.details ?? [];
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

/** The request is invalid (400, 405, 413, 415 and the like): correct it; `details` lists the fields. */
export class InvalidRequestError extends TollboothError {
  override readonly name = "InvalidRequestError";
}
/** The API key is missing, wrong, expired or revoked (401). */
export class AuthenticationError extends TollboothError {
  override readonly name = "AuthenticationError";
}
/** The key lacks the scope, or a feature is disabled for the merchant (403). */
export class PermissionDeniedError extends TollboothError {
  override readonly name = "PermissionDeniedError";
}
/** The object does not exist for this key (404). */
export class NotFoundError extends TollboothError {
  override readonly name = "NotFoundError";
}
/** The idempotency key is used by a request in progress (409), or was used for a different request (422). */
export class ConflictError extends TollboothError {
  override readonly name = "ConflictError";
}
/** The request is valid but the current state does not allow it (402, 410, 422), e.g. `amount_too_large`. */
export class RefusedError extends TollboothError {
  override readonly name = "RefusedError";
}
/** Too many requests (429). */
export class RateLimitError extends TollboothError {
  override readonly name = "RateLimitError";
}
/** The card processor could not be reached (502): no money has moved. */
export class ConnectorError extends TollboothError {
  override readonly name = "ConnectorError";
}
/** Tollbooth failed (500, 503 and other 5xx). */
export class ServiceError extends TollboothError {
  override readonly name = "ServiceError";
}
/** No complete response: it is unknown whether the request was carried out. */
export class ConnectionFailedError extends TollboothError {
  override readonly name: string = "ConnectionFailedError";
}
/** The time limit was reached. */
export class TimedOutError extends ConnectionFailedError {
  override readonly name = "TimedOutError";
}
/** The response is not Tollbooth's: a redirect, not JSON, or too large. */
export class UnexpectedAnswerError extends TollboothError {
  override readonly name = "UnexpectedAnswerError";
}
/** The webhook could not be verified; the message has the cause, without the secret. */
export class SignatureVerificationError extends TollboothError {
  override readonly name = "SignatureVerificationError";
}

/**
 * Converts an error response.
 * @param body parsed, with or without the API's envelope
 * @param apiKey is removed from the error: a debugging proxy, for example, may echo it
 */
export function errorOf(status: number, headers: Headers, body: unknown, apiKey?: string): TollboothError {
  const redact = (text: string) => withoutSecrets(text, apiKey);
  const id = headers.get("request-id");
  const requestId = id === null ? undefined : redact(id);
  const envelope = membersOf(membersOf(body).error);
  const retryAfterSeconds = secondsOf(headers.get("retry-after"));
  if (typeof envelope.code !== "string" || typeof envelope.message !== "string") {
    const what = `the response is not Tollbooth's: HTTP ${status} without its error envelope`;
    const isDown = status >= 500 || status === 429;
    const facts = { code: "unexpected_answer", status, requestId, retryAfterSeconds };
    return isDown ? new ServiceError(what, facts) : new UnexpectedAnswerError(what, facts);
  }
  const [code, message] = [redact(envelope.code), redact(envelope.message)];
  const details = detailsOf(envelope.details, redact);
  const fields = details.map(({ field, problem }) => `${field || "the body"} ${problem}`).join("; ");
  const context = [code, status, requestId].filter((item) => item !== undefined).join(", ");
  const Kind = kindOf(code, status);
  return new Kind(`${fields || message} (${context})`, { code, status, requestId, details, retryAfterSeconds });
}

type ErrorKind = new (message: string, facts: ErrorFacts) => TollboothError;

function kindOf(code: string, status: number): ErrorKind {
  if (code.startsWith("idempotency_")) return ConflictError;
  if (status >= 500) return status === 502 ? ConnectorError : ServiceError;
  const byStatus: Readonly<Record<number, ErrorKind>> = {
    401: AuthenticationError,
    402: RefusedError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    410: RefusedError,
    422: RefusedError,
    429: RateLimitError,
  };
  return byStatus[status] ?? InvalidRequestError;
}

// API keys, signing secrets and session secrets of any owner.
const secrets = /(?:sk_(?:test|live)|whsec|cs_secret)_[\w-]+/g;

function withoutSecrets(text: string, apiKey: string | undefined): string {
  const other = apiKey === undefined ? text : text.replaceAll(apiKey, "[secret]");
  return other.replaceAll(secrets, "[secret]");
}

function detailsOf(value: unknown, redact: (text: string) => string): FieldProblem[] {
  if (!Array.isArray(value)) return [];
  const textOf = (item: unknown) => (typeof item === "string" ? redact(item) : "");
  return value.map((each) => {
    const { field, problem } = membersOf(each);
    return { field: textOf(field), problem: textOf(problem) };
  });
}

/** Seconds of a Retry-After; a date is relative to the system clock. */
function secondsOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}
