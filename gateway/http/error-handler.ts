// Makes every refusal and every fault an envelope (docs/contract.md §2), whoever throws it: a handler, the validator,
// Fastify, the HTTP parser.
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "#platform/telemetry/log.ts";
import { asFailure, Failure, type Violation } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/members.ts";
import { ApiError, detailsMax, type ErrorAnswer, errorAnswer } from "../failures.ts";
import { displayFormats, displayProblem } from "./display-text.ts";
import { fieldName } from "./json-body.ts";
import { unknownProblem } from "./unknown-names.ts";

/** Answers an error and, if it is ours to mend, logs it with its cause. */
export function errorHandler(log: Log) {
  return async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    // The caller hung up in the middle of its body: nobody reads the answer, and nothing is wrong here.
    const isGone = request.raw.destroyed && !request.raw.complete;
    const thrown = isGone ? new ApiError("invalid_body") : asApiError(error);
    const answer = errorAnswer(thrown, request.routeOptions.config.messages);
    if (answer.status >= 500) {
      const { code } = answer.body.error;
      const fields = { err: error, code, route: request.routeOptions.url, request_id: request.call.requestId };
      if (code === "internal_error") log.error(fields, "request failed");
      else log.warn(fields, "request failed");
    }
    return sendError(reply, isUnknown(request, answer) ? conflict : answer);
  };
}

const conflict = errorAnswer(new Failure("IDEMPOTENCY_CONFLICT", { retryAfterMs: 1_000 }));

/**
 * What became of the money under a key cannot be read now: an earlier request may have moved it, so this is no refusal
 * (docs/contract.md §2).
 */
function isUnknown(request: FastifyRequest, { body }: ErrorAnswer): boolean {
  const isUnderKey = request.routeOptions.config.movesMoney && request.headers["idempotency-key"] !== undefined;
  return isUnderKey === true && body.error.code === "service_unavailable";
}

/** Sends the envelope. */
export function sendError(reply: FastifyReply, answer: ErrorAnswer): FastifyReply {
  reply.request.errorCode = answer.body.error.code;
  return reply
    .code(answer.status)
    .headers(answer.headers)
    .type("application/json; charset=utf-8")
    .serializer(JSON.stringify)
    .send(answer.body);
}

declare module "fastify" {
  interface FastifyRequest {
    /** The public code of the answer; empty for a success. For the log. */
    errorCode: string;
  }
}

/** Fastify's own errors in our words; all others stay. */
function asApiError(error: FastifyError | ApiError): unknown {
  if (error instanceof ApiError) return error;
  if (error.validation) {
    // An id of the wrong form is the id of nothing.
    if (error.validationContext === "params") return new ApiError("not_found");
    return new ApiError("invalid_body", { violations: violationsOf(error.validation) });
  }
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new ApiError("payload_too_large");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new ApiError("unsupported_media_type");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new ApiError("invalid_body", {
        violations: [{ field: "Content-Length", problem: "must match the body" }],
      });
    case "FST_ERR_BAD_URL":
    case "FST_ERR_MAX_PARAM_LENGTH":
      return new ApiError("not_found");
    default:
      return error.statusCode !== undefined && error.statusCode < 500 && error.code?.startsWith("FST_")
        ? new ApiError("invalid_body")
        : asFailure(error);
  }
}

type SchemaError = NonNullable<FastifyError["validation"]>[number];

/** The validator's errors, one for each field, in the caller's names and without values. */
function violationsOf(errors: readonly SchemaError[]): Violation[] {
  const byField = new Map<string, Violation>();
  for (const error of errors) {
    const violation = violationOf(error);
    if (violation && !byField.has(violation.field)) byField.set(violation.field, violation);
    if (byField.size === detailsMax) break;
  }
  return [...byField.values()];
}

function violationOf(error: SchemaError): Violation | undefined {
  const path = error.instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const { params } = error;
  if (error.keyword === "additionalProperties") {
    const name = String(params.additionalProperty);
    const known = Object.keys(membersOf(membersOf(membersOf(error).parentSchema).properties));
    return { field: fieldName([...path, name]), problem: unknownProblem(name, known) };
  }
  if (error.keyword === "required") {
    return { field: fieldName([...path, String(params.missingProperty)]), problem: "is required" };
  }
  // The error of the name itself comes before this one.
  if (error.keyword === "propertyNames") return undefined;
  const problem = problemOf(error);
  // An entry that should have members is named as one that has.
  if (error.keyword === "type" && params.type === "object" && /^\d+$/.test(path.at(-1) ?? "")) {
    return { field: `${fieldName(path.slice(0, -1))}[${path.at(-1)}]`, problem };
  }
  return { field: fieldName(path), problem: "propertyName" in error ? `names ${problem}` : problem };
}

function problemOf(error: SchemaError): string {
  const { keyword, params, message } = error;
  switch (keyword) {
    case "type":
      return `must be ${withArticle([params.type].flat().map(String))}`;
    case "enum":
      return `must be one of ${[params.allowedValues].flat().map(String).join(", ")}`;
    case "minLength":
      return params.limit === 1 ? "must not be empty" : `must have at least ${params.limit} characters`;
    case "maxLength":
      return `must have at most ${params.limit} characters`;
    case "minimum":
      return `must be at least ${params.limit}`;
    case "maximum":
      return `must be at most ${params.limit}`;
    case "minItems":
      return `must have at least ${params.limit} entries`;
    case "maxItems":
    case "maxProperties":
      return `must have at most ${params.limit} entries`;
    case "pattern":
      return `must look like ${exampleOf(error)}`;
    case "format":
      return String(params.format) in displayFormats ? displayProblem : `must be a valid ${params.format}`;
    default:
      return message ?? "is not valid";
  }
}

/** Every pattern of ours stands beside an example (test/contract/openapi.test.ts), since nobody reads patterns. */
function exampleOf(error: SchemaError): string {
  const { examples } = membersOf(membersOf(error).parentSchema);
  return String([examples].flat()[0]);
}

function withArticle(types: readonly string[]): string {
  return types
    .map((type) => (type === "null" ? "null" : /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`))
    .join(" or ");
}
