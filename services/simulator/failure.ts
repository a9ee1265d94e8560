// Failures of the API, in one shape.

type FailureType = "invalid_request" | "card_error" | "idempotency_error" | "rate_limit" | "api_error";

/** Becomes `{"error": {...}}`. The message is safe to show. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly type: FailureType;
  readonly code: string;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    type: FailureType,
    code: string,
    message: string,
    extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.status = status;
    this.type = type;
    this.code = code;
    this.extra = extra;
  }

  get body() {
    return { error: { type: this.type, code: this.code, message: this.message, ...this.extra } };
  }
}

export function badField(field: string, message: string): ApiFailure {
  return new ApiFailure(400, "invalid_request", "parameter_invalid", `${field} ${message}`, { field });
}

export function notFound(what: string): ApiFailure {
  return new ApiFailure(404, "invalid_request", "resource_missing", `No such ${what}.`);
}

export function outageFailure(): ApiFailure {
  return new ApiFailure(503, "api_error", "processor_unavailable", "The processor is not available. Try again later.");
}

export function internalFailure(): ApiFailure {
  return new ApiFailure(500, "api_error", "internal_error", "Something went wrong on our side.");
}
