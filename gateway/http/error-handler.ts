// Converts every error of a handler, the validator or Fastify to the envelope of docs/contract.md §2.
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "#platform/telemetry/log.ts";
import { asFailure, Failure } from "#platform/values/failure.ts";
import { ApiError, detailsMax, type ErrorAnswer, errorAnswer, errorTable } from "../failures.ts";
import { invalidMessage, specificMessage } from "./error-message.ts";
import { queryViolations, violationsOf } from "./schema-violations.ts";

/** @param paths of all operations, for an unknown route */
export function errorHandler(log: Log, paths: () => readonly string[]) {
  return async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    // The caller disconnected within its body: this is no fault of ours.
    const isGone = request.raw.destroyed && !request.raw.complete;
    const thrown = isGone ? new ApiError("invalid_body") : asApiError(error);
    const answer = withSpecifics(request, errorAnswer(thrown, request.routeOptions.config.messages), paths);
    if (answer.status >= 500) {
      const { code } = answer.body.error;
      const fields = { err: error, code, route: request.routeOptions.url, request_id: request.call.requestId };
      if (code === "internal_error") log.error(fields, "request failed");
      else log.warn(fields, "request failed");
    }
    return sendError(reply, isOutcomeUnknown(request, answer) ? conflict : answer);
  };
}

/** Adds the message for this request, and the query's violations: the validator stops at the first invalid part. */
function withSpecifics(request: FastifyRequest, answer: ErrorAnswer, paths: () => readonly string[]): ErrorAnswer {
  const { error } = answer.body;
  if (error.code !== "invalid_body") {
    return { ...answer, body: { error: { ...error, message: specificMessage(request, answer.body, paths) } } };
  }
  const own = error.details ?? [];
  const ofQuery = queryViolations(request);
  const details = [...ofQuery, ...own].slice(0, detailsMax);
  const isOwn = error.message !== errorTable.invalid_body.message;
  const message = isOwn ? error.message : invalidMessage(request, ofQuery, own);
  return { ...answer, body: { error: { ...error, message, ...(details.length > 0 && { details }) } } };
}

const conflict = errorAnswer(new Failure("IDEMPOTENCY_CONFLICT", { retryAfterMs: 1_000 }));

/**
 * With a key, an earlier request may have moved money whose state cannot be read now: 503 would be wrong
 * (docs/contract.md §2).
 */
function isOutcomeUnknown(request: FastifyRequest, { body }: ErrorAnswer): boolean {
  const isUnderKey = request.routeOptions.config.movesMoney && request.headers["idempotency-key"] !== undefined;
  return isUnderKey === true && body.error.code === "service_unavailable";
}

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
    /** The response's error code, for the log; empty for a success. */
    errorCode: string;
  }
}

function asApiError(error: FastifyError | ApiError): unknown {
  if (error instanceof ApiError) return error;
  if (error.validation) {
    // A malformed id is answered like an unknown one.
    if (error.validationContext === "params") return new ApiError("not_found");
    // `withQueryViolations` adds the query's own.
    const isQuery = error.validationContext === "querystring";
    return new ApiError("invalid_body", { violations: isQuery ? [] : violationsOf(error.validation) });
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
