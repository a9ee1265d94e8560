// The one table of public error codes (docs/contract.md §2): HTTP status, exact message, and what a caller should know.
// Answers, the OpenAPI document and the docs page read it. It has a row for every reason of the internal catalogue: a
// new reason does not compile until it has one.
import { asFailure, type Failure, type FailureReason, type Violation } from "#platform/values/failure.ts";

/** Codes that the gateway itself gives; no service knows them. */
type GatewayCode = "method_not_allowed" | "payload_too_large" | "unsupported_media_type" | "rate_limited";

/** Reasons between our own processes that no caller of the public API can be the cause of. */
type InternalReason = "CALLER_UNKNOWN" | "CALLER_REFUSED";

/** A public error code. */
export type ErrorCode = Lowercase<Exclude<FailureReason, InternalReason>> | GatewayCode;

interface Row {
  readonly status: number;
  readonly message: string;
  /** For the docs: when it happens and what to do. Plain text. */
  readonly docs: string;
  /** True: the same request may be sent again (docs/contract.md §2). */
  readonly retry?: true;
  /** Retry-After in seconds, when the cause says nothing else. */
  readonly retryAfterSeconds?: number;
}

/** Every code. */
export const errorTable: { readonly [C in ErrorCode]: Row } = {
  invalid_body: {
    status: 400,
    message: "invalid request body",
    docs: "The body, a query parameter or the Idempotency-Key header breaks a rule. error.details names the first 20 fields and what is wrong with each; it never repeats a value. Correct the request before sending it again.",
  },
  unauthorized: {
    status: 401,
    message: "unauthorized",
    docs: "The API key is missing, malformed, unknown, expired or revoked. Send Authorization: Bearer <API key>.",
  },
  payment_blocked: {
    status: 402,
    message: "payment blocked by risk screening",
    docs: "Risk screening refused the checkout session or the payment. Nothing was created at the processor.",
  },
  forbidden: {
    status: 403,
    message: "api key lacks the required scope",
    docs: "The key is valid, but lacks the scope that the operation needs, or would give another key more than it has: a scope that it lacks, other addresses, or a later expiry (message: an api key gives no more than it has), or is limited to other addresses than the one that it is used from (message: this api key is limited to other addresses than 203.0.113.7), or the merchant is not active (message: merchant is not active): a suspended one may read, refund, cancel payments and answer disputes, a closed one may read.",
  },
  feature_disabled: {
    status: 403,
    message: "refunds are disabled",
    docs: "Refunds are switched off for this merchant.",
  },
  not_found: {
    status: 404,
    message: "not found",
    docs: "No such object for this caller. Objects of other merchants and of the other environment, and checkout sessions addressed with a wrong or missing session secret, look exactly the same as unknown ids.",
  },
  method_not_allowed: {
    status: 405,
    message: "method not allowed",
    docs: "The path exists, but not with this method. The Allow header lists the methods it has.",
  },
  idempotency_conflict: {
    status: 409,
    message: "a request with this idempotency key is in progress",
    docs: "The first request with this Idempotency-Key has not ended yet, or what became of its payment, refund, capture, cancellation or answer to a dispute cannot be read now. Wait for Retry-After and send the same request again: it answers with the first one's result. A payment or refund without a key goes on under its Request-Id: send that as its Idempotency-Key.",
    retry: true,
    retryAfterSeconds: 1,
  },
  session_expired: {
    status: 410,
    message: "checkout session has expired",
    docs: "The checkout session has expired or was canceled, and the processor says that it was not paid. Create another one.",
  },
  payload_too_large: {
    status: 413,
    message: "request body is too large",
    docs: "A request body may have at most 64 KiB, a file for evidence 5 MiB.",
  },
  unsupported_media_type: {
    status: 415,
    message: "content type must be application/json",
    docs: "Send JSON in UTF-8 with Content-Type: application/json, without Content-Encoding. A file for evidence is sent as what it is. The message names what is wrong: the types that are taken, the charset, or the content encoding.",
  },
  no_connector: {
    status: 422,
    message: "no active connector",
    docs: "The merchant has no active primary connector in this environment.",
  },
  not_refundable: {
    status: 422,
    message: "payment is not refundable",
    docs: "The payment is not in a state that can be refunded: not captured, already refunded in full, or under an open or lost dispute.",
  },
  not_capturable: {
    status: 422,
    message: "payment cannot be captured",
    docs: "The payment is not authorized, is captured already, its authorization was canceled or has expired, or a capture of another amount or a cancellation is under way.",
  },
  not_cancelable: {
    status: 422,
    message: "payment cannot be canceled",
    docs: "Something of the payment is captured or being captured (refund it then), the processor works on it, or it has failed for good.",
  },
  amount_too_large: {
    status: 422,
    message: "amount exceeds refundable balance",
    docs: "The refund is larger than what is left of the payment after its pending and succeeded refunds, or the capture is larger than what is authorized (message: amount exceeds the authorized amount).",
  },
  idempotency_key_reuse: {
    status: 422,
    message: "idempotency key reused with a different request",
    docs: "This Idempotency-Key was used with another method, path or body. Use a new key for a new request.",
  },
  connector_not_eligible: {
    status: 422,
    message: "connector is not eligible",
    docs: "The connector is inactive, cannot be primary, or does not allow the surface.",
  },
  too_many_keys: {
    status: 422,
    message: "too many active api keys",
    docs: "The merchant has 50 active API keys in this environment. Revoke one that is not needed, or roll one with expires_in 0.",
  },
  dispute_not_answerable: {
    status: 422,
    message: "dispute cannot be answered",
    docs: "The dispute is decided, under review or past its date, as the processor says, or evidence is being sent already. What becomes of it is in its status.",
  },
  too_many_files: {
    status: 422,
    message: "too many files",
    docs: "A dispute has at most 20 files.",
  },
  rate_limited: {
    status: 429,
    message: "too many requests",
    docs: "The limit of this key, of all keys of the merchant in this environment, of this session or of this address is used up. Wait for Retry-After. RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset tell the state of the limit.",
    retry: true,
    retryAfterSeconds: 1,
  },
  internal_error: {
    status: 500,
    message: "internal error",
    docs: "A defect of the service. Tell us the Request-Id. With an Idempotency-Key the request may be sent again safely.",
  },
  connector_error: {
    status: 502,
    message: "connector request failed",
    docs: "The processor could not be asked, or refused the order. A payment or a refund is answered so only if surely nothing was sent; one that the processor may have taken is a 201 that says pending. Creating a session moves no money; confirm and expire leave the session as it was. With the same Idempotency-Key nothing is done twice.",
    retry: true,
  },
  service_unavailable: {
    status: 503,
    message: "service unavailable",
    docs: "An internal dependency is away or sheds load, or too much is sent at once. Wait for Retry-After and send the same request again.",
    retry: true,
    retryAfterSeconds: 1,
  },
};

// FORBIDDEN of a service is about the merchant's state; scopes are checked in the gateway.
const merchantNotActive = "merchant is not active";

/** The body of every answer that is not a success. */
export interface Envelope {
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: readonly Violation[] };
}

/** What the caller is told. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Envelope;
}

/** A refusal of the gateway itself. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly code: ErrorCode;
  readonly violations: readonly Violation[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    options: { message?: string; violations?: readonly Violation[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(options.message ?? errorTable[code].message);
    this.code = code;
    this.violations = options.violations ?? [];
    this.headers = options.headers ?? {};
  }
}

/** A write of a merchant that may only read. */
export function merchantMayNotWrite(): ApiError {
  return new ApiError("forbidden", { message: merchantNotActive });
}

/** The public code of an internal reason. */
function codeOf(reason: FailureReason): ErrorCode {
  // A wrong token between our own processes is a fault of ours.
  if (reason === "CALLER_UNKNOWN" || reason === "CALLER_REFUSED") return "internal_error";
  // The gateway turns a wrong API key into an ApiError; UNAUTHORIZED from any other call is a defect.
  if (reason === "UNAUTHORIZED") return "internal_error";
  return reason.toLowerCase() as Lowercase<typeof reason>;
}

/** What an operation says of a code, where the table's message is about another one. */
export type Messages = { readonly [C in ErrorCode]?: string };

/** Whatever was thrown, as an answer. Causes never leave the process. */
export function errorAnswer(error: unknown, messages: Messages = {}): ErrorAnswer {
  if (error instanceof ApiError) return sendFailure(error.code, error.message, error.violations, error.headers);
  const failure: Failure = asFailure(error);
  const code = codeOf(failure.reason);
  const message = failure.reason === "FORBIDDEN" ? merchantNotActive : (messages[code] ?? errorTable[code].message);
  const headers = {
    ...(failure.retryAfterMs > 0 && { "retry-after": String(Math.ceil(failure.retryAfterMs / 1_000)) }),
    ...(failure.replayed && { "idempotent-replayed": "true" }),
  };
  return sendFailure(code, message, failure.violations, headers);
}

function sendFailure(
  code: ErrorCode,
  message: string,
  violations: readonly Violation[],
  extra: Readonly<Record<string, string>>,
): ErrorAnswer {
  const row = errorTable[code];
  const headers: Record<string, string> = {};
  if (row.retryAfterSeconds !== undefined) headers["retry-after"] = String(row.retryAfterSeconds);
  if (code === "unauthorized") headers["www-authenticate"] = "Bearer";
  // A retry time makes sense only where the same request may be sent again.
  for (const [name, value] of Object.entries(extra)) if (name !== "retry-after" || row.retry) headers[name] = value;
  const details = code === "invalid_body" && violations.length > 0 ? { details: violations.slice(0, detailsMax) } : {};
  return { status: row.status, headers, body: { error: { code, message, ...details } } };
}

/** docs/contract.md §2: the first 20 are told. */
export const detailsMax = 20;
