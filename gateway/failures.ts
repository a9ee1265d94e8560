// The table of public error codes (docs/contract.md §2): HTTP status, exact message and documentation. Responses, the
// OpenAPI document and /docs use it. A new internal reason does not compile without a row.
import { asFailure, type Failure, type FailureReason, type Violation } from "#platform/values/failure.ts";

/** Codes of the gateway itself; no service uses them. */
type GatewayCode = "method_not_allowed" | "payload_too_large" | "unsupported_media_type" | "rate_limited";

/** Reasons between our own processes, which no public caller can cause. */
type InternalReason = "CALLER_UNKNOWN" | "CALLER_REFUSED" | "TOO_MANY_CALLS";

export type ErrorCode = Lowercase<Exclude<FailureReason, InternalReason>> | GatewayCode;

interface Row {
  readonly status: number;
  readonly message: string;
  /** Plain text for the docs. */
  readonly cause: string;
  readonly fix: string;
  /** True: the same request may be sent again (docs/contract.md §2). */
  readonly retry?: true;
  /** Default Retry-After in seconds. */
  readonly retryAfterSeconds?: number;
}

export const errorTable: { readonly [C in ErrorCode]: Row } = {
  invalid_body: {
    status: 400,
    message: "invalid request body",
    cause:
      "The body, a query parameter or a header is invalid; the message names which. error.details lists up to 20 fields with the problem of each; it never contains a value that was sent.",
    fix: "Correct the fields in error.details before you send the request again.",
  },
  unauthorized: {
    status: 401,
    message: "this api key is unknown, expired or revoked",
    cause: "The API key is missing, malformed, unknown, expired or revoked.",
    fix: "Send the header Authorization: Bearer <API key> once, with the whole key: sk_test_… for the sandbox, sk_live_… for live. Create or roll keys in the console, under API keys.",
  },
  payment_blocked: {
    status: 402,
    message: "payment blocked by risk screening",
    cause: "Risk screening refused the checkout session or the payment. Nothing was created at the processor.",
    fix: "Do not repeat it. Ask the operator of your Tollbooth which rule blocked it, with the Request-Id.",
  },
  forbidden: {
    status: 403,
    message: "this api key lacks the required scope",
    cause:
      'The key is valid but may not do this; the message gives the cause. "this api key lacks the scope payments:write": the operation needs that scope. "an api key gives no more than it has": the new key would have a scope, an address or an expiry beyond the calling key\'s. "this api key is limited to other addresses than 203.0.113.7": the request came from an address that the key does not allow. "merchant is not active": a suspended merchant may read, order reports, refund, cancel payments and answer disputes; a closed merchant may only read.',
    fix: "Use a key with the scope, or allow the address for this key. A suspended merchant asks its operator.",
  },
  feature_disabled: {
    status: 403,
    message: "refunds are disabled",
    cause: "Refunds are switched off for this merchant.",
    fix: "Ask the operator of your Tollbooth to switch them on.",
  },
  not_found: {
    status: 404,
    message: "not found",
    cause:
      "No route has this path, or the object does not exist or is not visible to this caller; the message names which. Objects of other merchants or of the other environment, and checkout sessions with a wrong or missing session secret, get the same response.",
    fix: "Compare the path with the API reference. For an id, check that the key belongs to the same merchant and environment: an object of the sandbox needs a sk_test_ key.",
  },
  method_not_allowed: {
    status: 405,
    message: "method not allowed",
    cause: "The path exists, but not with this method.",
    fix: "Use one of the methods that the Allow header lists.",
  },
  idempotency_conflict: {
    status: 409,
    message: "a request with this idempotency key is in progress",
    cause:
      "The first request with this Idempotency-Key is still in progress, or the result of its payment, refund, capture, cancellation or dispute response cannot be read now.",
    fix: "Wait for Retry-After and send the same request again to get the first request's result. A payment or refund that was sent without a key continues under its Request-Id: send that as the Idempotency-Key.",
    retry: true,
    retryAfterSeconds: 1,
  },
  session_expired: {
    status: 410,
    message: "checkout session has expired",
    cause: "The checkout session has expired or was canceled, and the processor confirms that it was not paid.",
    fix: "Create a new session.",
  },
  payload_too_large: {
    status: 413,
    message: "request body is too large",
    cause: "The limit is 64 KiB for a request body and 5 MiB for an evidence file.",
    fix: "Send less: shorter texts, fewer line items, a smaller file.",
  },
  unsupported_media_type: {
    status: 415,
    message: "content type must be application/json",
    cause: "The content type, charset or content encoding is not supported; the message names which.",
    fix: "Send JSON in UTF-8 with Content-Type: application/json and without Content-Encoding. Send an evidence file with its own type.",
  },
  no_connector: {
    status: 422,
    message: "no active connector",
    cause: "The merchant has no active primary connector in this environment.",
    fix: "Ask the operator of your Tollbooth to add one, or choose an active one as primary.",
  },
  not_refundable: {
    status: 422,
    message: "payment is not refundable",
    cause:
      "The payment cannot be refunded: it is not captured, is already refunded in full, or has an open or lost dispute.",
    fix: "Read the payment: cancel one that is not captured, and answer a dispute instead.",
  },
  erasure_blocked: {
    status: 422,
    message: "a payment of this buyer has an open dispute",
    cause: "Personal data is not erased while a dispute of the buyer is open, since the answer to it needs the data.",
    fix: "Send the request again when the dispute is decided. Another payment of the buyer can be erased by its id.",
  },
  not_capturable: {
    status: 422,
    message: "payment cannot be captured",
    cause:
      "The payment is not authorized or is already captured, its authorization was canceled or has expired, or a cancellation or a capture of another amount is in progress.",
    fix: "Read the payment. If its authorization is gone, create a new session.",
  },
  not_cancelable: {
    status: 422,
    message: "payment cannot be canceled",
    cause:
      "The payment is fully or partly captured or a capture is in progress, the processor is still processing it, or it has failed.",
    fix: "Refund a captured payment instead. Wait while it is processing.",
  },
  amount_too_large: {
    status: 422,
    message: "amount exceeds refundable balance",
    cause:
      "The refund exceeds the balance that remains after pending and succeeded refunds, or the capture exceeds the authorized amount (message: amount exceeds the authorized amount).",
    fix: "Send at most what is left, or no amount for all of that.",
  },
  idempotency_key_reuse: {
    status: 422,
    message: "idempotency key reused with a different request",
    cause: "This Idempotency-Key was used with another method, path or body.",
    fix: "Use a new key for a new request, and repeat the old one unchanged.",
  },
  connector_not_eligible: {
    status: 422,
    message: "connector is not eligible",
    cause: "The connector is inactive, cannot be primary, or does not allow the surface.",
    fix: "Choose another connector, or a surface of its allowed_surfaces.",
  },
  too_many_keys: {
    status: 422,
    message: "too many active api keys",
    cause: "The merchant already has 50 active API keys in this environment.",
    fix: "Revoke a key that is not needed, or roll one with expires_in 0.",
  },
  dispute_not_answerable: {
    status: 422,
    message: "dispute cannot be answered",
    cause:
      "According to the processor the dispute is decided, under review or past its due date, or evidence is already being sent.",
    fix: "Check the dispute's status. Evidence is sent once, so nothing can be added.",
  },
  too_many_files: {
    status: 422,
    message: "too many files",
    cause: "A dispute has at most 20 files.",
    fix: "Send the files that are there, or merge documents into one PDF.",
  },
  rate_limited: {
    status: 429,
    message: "too many requests",
    cause:
      "The limit of this key, of all the merchant's keys in this environment, of this session or of this address is reached. RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset show the state of the limit.",
    fix: "Wait for Retry-After and send the same request again.",
    retry: true,
    retryAfterSeconds: 1,
  },
  internal_error: {
    status: 500,
    message: "internal error",
    cause: "The service has a defect.",
    fix: "Send the Request-Id to support. With an Idempotency-Key it is safe to send the request again.",
  },
  connector_error: {
    status: 502,
    message: "connector request failed",
    cause:
      "The processor could not be reached or rejected the request. A payment or refund gets this error only if nothing reached the processor; if it may have arrived, the response is 201 with status pending. Creating a session moves no money; confirm and expire leave the session unchanged.",
    fix: "Send the same request again, with the same Idempotency-Key.",
    retry: true,
  },
  service_unavailable: {
    status: 503,
    message: "service unavailable",
    cause: "An internal dependency is unavailable or overloaded, or too many request bodies are being sent at once.",
    fix: "Wait for Retry-After and send the same request again.",
    retry: true,
    retryAfterSeconds: 1,
  },
};

/** Link header (RFC 8288) of every error: the code's section of /docs. */
export function helpLink(code: ErrorCode): string {
  return `</docs/api/errors#${code}>; rel="help"`;
}

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
  if (reason === "CALLER_UNKNOWN" || reason === "CALLER_REFUSED" || reason === "TOO_MANY_CALLS")
    return "internal_error";
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
  const headers: Record<string, string> = { link: helpLink(code) };
  if (row.retryAfterSeconds !== undefined) headers["retry-after"] = String(row.retryAfterSeconds);
  if (code === "unauthorized") headers["www-authenticate"] = "Bearer";
  // Retry-After is sent only where the same request may be sent again.
  for (const [name, value] of Object.entries(extra)) if (name !== "retry-after" || row.retry) headers[name] = value;
  const details = code === "invalid_body" && violations.length > 0 ? { details: violations.slice(0, detailsMax) } : {};
  return { status: row.status, headers, body: { error: { code, message, ...details } } };
}

/** docs/contract.md §2. */
export const detailsMax = 20;
