// A Failure with a reason of the catalogue (failure.v1) is the only way for a flow to reject or give up. Its cause
// stays in the logs; RPC carries the reason as an error detail.
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { FailureSchema, Reason } from "#proto/failure/v1/failure_pb.ts";
import { errorCode } from "./unchecked.ts";

export type FailureReason = Exclude<keyof typeof Reason, "UNSPECIFIED">;

interface Entry {
  readonly code: Code;
  /** True for a defect or an outage; false for a caller's error. */
  readonly fault: boolean;
}

/** Every reason with its RPC status. A reason without a row does not compile. */
const catalogue: { readonly [R in FailureReason]: Entry } = {
  INVALID_BODY: { code: Code.InvalidArgument, fault: false },
  UNAUTHORIZED: { code: Code.Unauthenticated, fault: false },
  PAYMENT_BLOCKED: { code: Code.FailedPrecondition, fault: false },
  FORBIDDEN: { code: Code.PermissionDenied, fault: false },
  FEATURE_DISABLED: { code: Code.FailedPrecondition, fault: false },
  NOT_FOUND: { code: Code.NotFound, fault: false },
  IDEMPOTENCY_CONFLICT: { code: Code.Aborted, fault: false },
  IDEMPOTENCY_KEY_REUSE: { code: Code.FailedPrecondition, fault: false },
  SESSION_EXPIRED: { code: Code.FailedPrecondition, fault: false },
  NO_CONNECTOR: { code: Code.FailedPrecondition, fault: false },
  NOT_CAPTURABLE: { code: Code.FailedPrecondition, fault: false },
  NOT_CANCELABLE: { code: Code.FailedPrecondition, fault: false },
  NOT_REFUNDABLE: { code: Code.FailedPrecondition, fault: false },
  AMOUNT_TOO_LARGE: { code: Code.FailedPrecondition, fault: false },
  CONNECTOR_NOT_ELIGIBLE: { code: Code.FailedPrecondition, fault: false },
  TOO_MANY_KEYS: { code: Code.FailedPrecondition, fault: false },
  DISPUTE_NOT_ANSWERABLE: { code: Code.FailedPrecondition, fault: false },
  TOO_MANY_FILES: { code: Code.FailedPrecondition, fault: false },
  CONNECTOR_ERROR: { code: Code.Unavailable, fault: true },
  SERVICE_UNAVAILABLE: { code: Code.Unavailable, fault: true },
  INTERNAL_ERROR: { code: Code.Internal, fault: true },
  CALLER_UNKNOWN: { code: Code.Unauthenticated, fault: true },
  CALLER_REFUSED: { code: Code.PermissionDenied, fault: true },
  ERASURE_BLOCKED: { code: Code.FailedPrecondition, fault: false },
  TOO_MANY_CALLS: { code: Code.ResourceExhausted, fault: false },
};

export interface Violation {
  readonly field: string;
  readonly problem: string;
}

/** Field name of a list entry as callers see it (docs/contract.md §2): `scopes[0]`, `line_items[3]`. */
export function entryName(list: string, index: number): string {
  return `${list}[${index}]`;
}

interface FailureOptions {
  /** For the caller's developer, after the reason in the error's message; no secret. */
  readonly explanation?: string;
  readonly cause?: unknown;
  readonly violations?: readonly Violation[];
  readonly retryAfterMs?: number;
  /** The refusal was decided earlier and stored under the caller's idempotency key. */
  readonly replayed?: boolean;
  /** A processor may have done the work already. */
  readonly begun?: boolean;
}

/** Only the first violations are returned (docs/contract.md §2). */
const violationsMax = 20;

export class Failure extends Error {
  override name = "Failure";
  readonly reason: FailureReason;
  readonly violations: readonly Violation[];
  readonly retryAfterMs: number;
  readonly replayed: boolean;
  readonly begun: boolean;

  constructor(reason: FailureReason, options: FailureOptions = {}) {
    super(
      options.explanation ? `${reason}: ${options.explanation}` : reason,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.reason = reason;
    this.violations = (options.violations ?? []).slice(0, violationsMax);
    this.retryAfterMs = options.retryAfterMs ?? 0;
    this.replayed = options.replayed ?? false;
    this.begun = options.begun ?? false;
  }

  /** True for defects and outages, which are logged as errors. */
  get fault(): boolean {
    return catalogue[this.reason].fault;
  }
}

/** An INVALID_BODY failure about one field. */
export function invalidField(field: string, problem: string): Failure {
  return new Failure("INVALID_BODY", { violations: [{ field, problem }] });
}

/** @throws Failure NOT_FOUND for null and undefined */
export function requireFound<T>(found: T | null | undefined): T {
  if (found === null || found === undefined) throw new Failure("NOT_FOUND");
  return found;
}

/** Converts any error: network and database errors become SERVICE_UNAVAILABLE, all others INTERNAL_ERROR. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof ConnectError) return fromConnectError(error);
  const outage = isOutage(error);
  return new Failure(outage ? "SERVICE_UNAVAILABLE" : "INTERNAL_ERROR", {
    cause: error,
    ...(outage ? { retryAfterMs: 1_000 } : {}),
  });
}

/** @param begun a command was sent to a processor before the failure */
export function toConnectError(failure: Failure, begun = failure.begun): ConnectError {
  const detail = create(FailureSchema, {
    reason: Reason[failure.reason],
    fieldViolations: failure.violations.map(({ field, problem }) => ({ field, problem })),
    retryAfterMs: failure.retryAfterMs,
    replayed: failure.replayed,
    begun,
  });
  const error = new ConnectError(failure.message, catalogue[failure.reason].code, undefined, [
    { desc: FailureSchema, value: detail },
  ]);
  error.cause = failure.cause;
  return error;
}

function fromConnectError(error: ConnectError): Failure {
  const [detail] = error.findDetails(FailureSchema);
  if (detail) {
    return new Failure(reasonName(detail.reason), {
      cause: error,
      violations: detail.fieldViolations.map((v) => ({ field: v.field, problem: v.problem })),
      retryAfterMs: detail.retryAfterMs,
      replayed: detail.replayed,
      begun: detail.begun,
    });
  }
  const away = [Code.Unavailable, Code.DeadlineExceeded, Code.Canceled, Code.ResourceExhausted, Code.Aborted];
  return away.includes(error.code)
    ? new Failure("SERVICE_UNAVAILABLE", { cause: error, retryAfterMs: 1_000 })
    : new Failure("INTERNAL_ERROR", { cause: error });
}

function isReason(name: string): name is FailureReason {
  return name in catalogue;
}

/** An unknown number comes from a newer release and counts as a defect. */
function reasonName(value: number): FailureReason {
  const [name] = Object.entries(Reason).find(([, number]) => number === value) ?? [];
  return name !== undefined && isReason(name) ? name : "INTERNAL_ERROR";
}

// Node's socket errors, and SQLSTATE classes 08 (connection), 53 (resources), 57 (operator intervention), 40
// (rollback), 55P03 (lock not available) and 25006 (read-only after a failover). A rejected certificate counts too:
// nothing was sent to the server.
const outageCode =
  /^(E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN)|(08|53|57|40)\w{3}|55P03|25006)$/;
const outageMessage =
  /^(timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|Client was closed)/;

function isOutage(error: unknown): boolean {
  for (let e = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if (outageCode.test(errorCode(e))) return true;
    if (outageMessage.test(e.message)) return true;
    if (certificateRefusal(e)) return true;
    if (e instanceof AggregateError && e.errors.some(isOutage)) return true;
  }
  return false;
}

// A readable error for a server certificate that this process rejects, instead of a handshake error.

/** `code` is the client's, for example CERT_HAS_EXPIRED. */
export class CertificateRefused extends Error {
  override name = "CertificateRefused";
  readonly code: string;

  /** @param server the server's setting or URL @param authority the CA file, or undefined for Node's own list */
  constructor(server: string, authority: string | undefined, { code, what }: Refusal, cause: unknown) {
    const by = authority === undefined ? "Node's own list" : authority;
    super(`${server} leads to a server whose certificate ${what}; trusted CA: ${by} (${code})`, { cause });
    this.code = code;
  }
}

interface Refusal {
  readonly code: string;
  readonly what: string;
}

// OpenSSL's and Node's codes for an invalid certificate.
const known: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired, or its CA's has",
  CERT_NOT_YET_VALID: "is not valid yet, or its CA's is not: compare the clocks",
  CERT_REVOKED: "is revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for another name",
};
const unvouched =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE)|CERT_(UNTRUSTED|REJECTED|SIGNATURE_FAILURE)|INVALID_CA|INVALID_PURPOSE)$/;
const depthMax = 5;

/** Why the certificate was rejected; undefined for any other error. Each client wraps the error differently. */
export function certificateRefusal(error: unknown, depth = 0): Refusal | undefined {
  if (!(error instanceof Error) || depth > depthMax) return undefined;
  const code = errorCode(error);
  const what = known[code] ?? (unvouched.test(code) ? "is not signed by a trusted CA" : undefined);
  if (what !== undefined) return { code, what };
  const chained = "chainedError" in error ? error.chainedError : undefined;
  return certificateRefusal(error.cause, depth + 1) ?? certificateRefusal(chained, depth + 1);
}
