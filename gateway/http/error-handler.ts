// Makes every refusal and every fault an envelope (docs/contract.md §2), whoever throws it: a handler, the validator,
// Fastify, the HTTP parser.
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "#platform/telemetry/log.ts";
import { asFailure, Failure } from "#platform/values/failure.ts";
import { ApiError, detailsMax, type ErrorAnswer, errorAnswer } from "../failures.ts";
import { queryViolations, violationsOf } from "./schema-violations.ts";

/** Answers an error and, if it is ours to mend, logs it with its cause. */
export function errorHandler(log: Log) {
  return async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    // The caller hung up in the middle of its body: nobody reads the answer, and nothing is wrong here.
    const isGone = request.raw.destroyed && !request.raw.complete;
    const thrown = isGone ? new ApiError("invalid_body") : asApiError(error);
    const answer = withQuery(request, errorAnswer(thrown, request.routeOptions.config.messages));
    if (answer.status >= 500) {
      const { code } = answer.body.error;
      const fields = { err: error, code, route: request.routeOptions.url, request_id: request.call.requestId };
      if (code === "internal_error") log.error(fields, "request failed");
      else log.warn(fields, "request failed");
    }
    return sendError(reply, isUnknown(request, answer) ? conflict : answer);
  };
}

/** What is wrong with the query too: the validator ends at the first part of a request that is wrong. */
function withQuery(request: FastifyRequest, answer: ErrorAnswer): ErrorAnswer {
  const { error } = answer.body;
  if (error.code !== "invalid_body") return answer;
  const details = [...queryViolations(request), ...(error.details ?? [])].slice(0, detailsMax);
  return details.length === 0 ? answer : { ...answer, body: { error: { ...error, details } } };
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
    // The query's are all told with whatever else is wrong.
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
