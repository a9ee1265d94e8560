// The table of public error codes (docs/contract.md §2): HTTP status, exact message and documentation. Responses, the
// OpenAPI document and /docs use it. A new internal reason does not compile without a row.
import { asFailure, type Failure, type FailureReason, type Violation } from "#platform/values/failure.ts";

/** Codes of the gateway itself; no service uses them. */
type GatewayCode = "method_not_allowed" | "payload_too_large" | "unsupported_media_type" | "rate_limited";

/** Reasons between our own processes, which no public caller can cause. */
type InternalReason = "CALLER_UNKNOWN" | "CALLER_REFUSED";

export type ErrorCode = Lowercase<Exclude<FailureReason, InternalReason>> | GatewayCode;

interface Row {
  readonly status: number;
  readonly message: string;
  /** Plain text for the docs: cause and remedy. */
  readonly docs: string;
  /** True: the same request may be sent again (docs/contract.md §2). */
  readonly retry?: true;
  /** Default Retry-After in seconds. */
  readonly retryAfterSeconds?: number;
}

export const errorTable: { readonly [C in ErrorCode]: Row } = {
  invalid_body: {
    status: 400,
    message: "invalid request body",
    docs: "The body, a query parameter or the Idempotency-Key header is invalid. error.details lists up to 20 fields with the problem of each; it never contains a value that was sent. Correct the request before you send it again.",
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
    docs: 'The key is valid but may not do this; the message gives the cause. Default: the key lacks the scope that the operation needs. "an api key gives no more than it has": the new key would have a scope, an address or an expiry beyond the calling key\'s. "this api key is limited to other addresses than 203.0.113.7": the request came from an address that the key does not allow. "merchant is not active": a suspended merchant may read, refund, cancel payments and answer disputes; a closed merchant may only read.',
  },
  feature_disabled: {
    status: 403,
    message: "refunds are disabled",
    docs: "Refunds are switched off for this merchant.",
  },
  not_found: {
    status: 404,
    message: "not found",
    docs: "The object does not exist or is not visible to this caller. Objects of other merchants or of the other environment, and checkout sessions with a wrong or missing session secret, get the same response.",
  },
  method_not_allowed: {
    status: 405,
    message: "method not allowed",
    docs: "The path exists, but not with this method. The Allow header lists the methods it has.",
  },
  idempotency_conflict: {
    status: 409,
    message: "a request with this idempotency key is in progress",
    docs: "The first request with this Idempotency-Key is still in progress, or the result of its payment, refund, capture, cancellation or dispute response cannot be read now. Wait for Retry-After and send the same request again to get the first request's result. A payment or refund that was sent without a key continues under its Request-Id: send that as the Idempotency-Key.",
    retry: true,
    retryAfterSeconds: 1,
  },
  session_expired: {
    status: 410,
    message: "checkout session has expired",
    docs: "The checkout session has expired or was canceled, and the processor confirms that it was not paid. Create a new session.",
  },
  payload_too_large: {
    status: 413,
    message: "request body is too large",
    docs: "The limit is 64 KiB for a request body and 5 MiB for an evidence file.",
  },
  unsupported_media_type: {
    status: 415,
    message: "content type must be application/json",
    docs: "Send JSON in UTF-8 with Content-Type: application/json and without Content-Encoding. Send an evidence file with its own type. The message names the problem: content type, charset or content encoding.",
  },
  no_connector: {
    status: 422,
    message: "no active connector",
    docs: "The merchant has no active primary connector in this environment.",
  },
  not_refundable: {
    status: 422,
    message: "payment is not refundable",
    docs: "The payment cannot be refunded: it is not captured, is already refunded in full, or has an open or lost dispute.",
  },
  not_capturable: {
    status: 422,
    message: "payment cannot be captured",
    docs: "The payment is not authorized or is already captured, its authorization was canceled or has expired, or a cancellation or a capture of another amount is in progress.",
  },
  not_cancelable: {
    status: 422,
    message: "payment cannot be canceled",
    docs: "The payment is fully or partly captured or a capture is in progress (refund it instead), the processor is still processing it, or it has failed.",
  },
  amount_too_large: {
    status: 422,
    message: "amount exceeds refundable balance",
    docs: "The refund exceeds the balance that remains after pending and succeeded refunds, or the capture exceeds the authorized amount (message: amount exceeds the authorized amount).",
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
    docs: "The merchant already has 50 active API keys in this environment. Revoke a key that is not needed, or roll one with expires_in 0.",
  },
  dispute_not_answerable: {
    status: 422,
    message: "dispute cannot be answered",
    docs: "According to the processor the dispute is decided, under review or past its due date, or evidence is already being sent. Check the dispute's status.",
  },
  too_many_files: {
    status: 422,
    message: "too many files",
    docs: "A dispute has at most 20 files.",
  },
  rate_limited: {
    status: 429,
    message: "too many requests",
    docs: "The limit of this key, of all the merchant's keys in this environment, of this session or of this address is reached. Wait for Retry-After. RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset show the state of the limit.",
    retry: true,
    retryAfterSeconds: 1,
  },
  internal_error: {
    status: 500,
    message: "internal error",
    docs: "The service has a defect. Send the Request-Id to support. With an Idempotency-Key it is safe to send the request again.",
  },
  connector_error: {
    status: 502,
    message: "connector request failed",
    docs: "The processor could not be reached or rejected the request. A payment or refund gets this error only if nothing reached the processor; if it may have arrived, the response is 201 with status pending. Creating a session moves no money; confirm and expire leave the session unchanged. With the same Idempotency-Key it is safe to send the request again.",
    retry: true,
  },
  service_unavailable: {
    status: 503,
    message: "service unavailable",
    docs: "An internal dependency is unavailable or overloaded, or too many request bodies are being sent at once. Wait for Retry-After and send the same request again.",
    retry: true,
    retryAfterSeconds: 1,
  },
};

// A service's FORBIDDEN means the merchant's state; the gateway checks scopes.
const merchantNotActive = "merchant is not active";

/** The body of every answer that is not a success. */
export interface Envelope {
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly details?: readonly Violation[] };
}

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Envelope;
}

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

/** The error for a write by a merchant that may only read. */
export function merchantMayNotWrite(): ApiError {
  return new ApiError("forbidden", { message: merchantNotActive });
}

function codeOf(reason: FailureReason): ErrorCode {
  // A wrong token between our own processes is an internal fault.
  if (reason === "CALLER_UNKNOWN" || reason === "CALLER_REFUSED") return "internal_error";
  // The gateway turns a wrong API key into an ApiError; UNAUTHORIZED from any other call is a defect.
  if (reason === "UNAUTHORIZED") return "internal_error";
  return reason.toLowerCase() as Lowercase<typeof reason>;
}

/** An operation's own messages, which replace those of the table. */
export type Messages = { readonly [C in ErrorCode]?: string };

/** Converts any error to a response; it never contains the cause. */
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
  // Retry-After is sent only where the same request may be sent again.
  for (const [name, value] of Object.entries(extra)) if (name !== "retry-after" || row.retry) headers[name] = value;
  const details = code === "invalid_body" && violations.length > 0 ? { details: violations.slice(0, detailsMax) } : {};
  return { status: row.status, headers, body: { error: { code, message, ...details } } };
}

/** docs/contract.md §2. */
export const detailsMax = 20;
