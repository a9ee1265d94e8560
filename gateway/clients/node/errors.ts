// What can go wrong, by class. An error tells what the API told, and never a key, a secret or a value that was sent.
import type { ErrorCode } from "./gen/contract.ts";
import { membersOf } from "./members.ts";

/** A field that is wrong, with the form that is wanted. */
export interface FieldProblem {
  /** Its path in your own names, such as `metadata.order`; empty: the body as a whole. */
  field: string;
  problem: string;
}

/** What is known besides the message. */
export interface ErrorFacts {
  code: ErrorCode;
  status?: number | undefined;
  requestId?: string | undefined;
  details?: readonly FieldProblem[];
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

/** Everything that this library throws when a call fails; mistakes of the calling code are a TypeError. */
export class TollboothError extends Error {
  override readonly name: string = "TollboothError";
  /** What to act on: the API's code, or `connection_failed`, `timed_out`, `unexpected_answer`, `signature_invalid`. */
  readonly code: ErrorCode;
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** Names the request in Tollbooth's logs; tell it to support. */
  readonly requestId: string | undefined;
  /** The wrong fields, of `invalid_body`. */
  readonly details: readonly FieldProblem[];
  /** How long to wait before the same request makes sense again, where that was told. */
  readonly retryAfterSeconds: number | undefined;
  /** How often the request was sent. */
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

/** The request breaks a rule (400, 405, 413, 415 and the like): mend it; `details` names the fields. */
export class InvalidRequestError extends TollboothError {
  override readonly name = "InvalidRequestError";
}
/** The API key is missing, wrong, expired or revoked (401). */
export class AuthenticationError extends TollboothError {
  override readonly name = "AuthenticationError";
}
/** The key lacks the scope, or something is switched off for the merchant (403). */
export class PermissionDeniedError extends TollboothError {
  override readonly name = "PermissionDeniedError";
}
/** There is no such object for this key (404). */
export class NotFoundError extends TollboothError {
  override readonly name = "NotFoundError";
}
/** The idempotency key is in use by a request that goes on (409), or was used for another one (422). */
export class ConflictError extends TollboothError {
  override readonly name = "ConflictError";
}
/** A valid request that the state of things refuses (402, 410, 422): too much to refund, a blocked payment … */
export class RefusedError extends TollboothError {
  override readonly name = "RefusedError";
}
/** Too many requests (429). */
export class RateLimitError extends TollboothError {
  override readonly name = "RateLimitError";
}
/** The card processor could not be asked (502): no money has moved. */
export class ConnectorError extends TollboothError {
  override readonly name = "ConnectorError";
}
/** Tollbooth itself is in trouble (500, 503 and other 5xx). */
export class ServiceError extends TollboothError {
  override readonly name = "ServiceError";
}
/** No whole answer came: whether the request was carried out is unknown. */
export class ConnectionFailedError extends TollboothError {
  override readonly name: string = "ConnectionFailedError";
}
/** The time was over. */
export class TimedOutError extends ConnectionFailedError {
  override readonly name = "TimedOutError";
}
/** What answered does not speak as Tollbooth does: a redirect, no JSON, too much of it. */
export class UnexpectedAnswerError extends TollboothError {
  override readonly name = "UnexpectedAnswerError";
}
/** A webhook that is not to be believed; the message says why, without the secret. */
export class SignatureVerificationError extends TollboothError {
  override readonly name = "SignatureVerificationError";
}

/**
 * The error that an answer stands for.
 * @param body as parsed; anything but the API's envelope is an unexpected one
 * @param apiKey that was sent: a server that tells it back, as a debugging proxy may, puts it into no error
 */
export function errorOf(status: number, headers: Headers, body: unknown, apiKey?: string): TollboothError {
  const redact = (text: string) => withoutSecrets(text, apiKey);
  const id = headers.get("request-id");
  const requestId = id === null ? undefined : redact(id);
  const envelope = membersOf(membersOf(body).error);
  const retryAfterSeconds = secondsOf(headers.get("retry-after"));
  if (typeof envelope.code !== "string" || typeof envelope.message !== "string") {
    const what = `what answered was not Tollbooth: HTTP ${status} without its error envelope`;
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

// Keys, signing secrets and sessions' secrets, whosever they are.
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

/** Seconds of a Retry-After; a date is read by the machine's clock. */
function secondsOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}
