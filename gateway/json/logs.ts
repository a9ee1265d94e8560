// The log of API requests and the audit log as public JSON (docs/contract.md §8).
import { type Static, Type } from "typebox";
import type { ApiRequest, AuditEntry } from "#proto/merchant/v1/audit_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import {
  component,
  environmentText,
  idSchema,
  optionalField,
  textSchema,
  timeSchema,
  timeTextOf,
} from "./parts/field.ts";

export const ApiRequestJson = component(
  "ApiRequest",
  Type.Object({
    id: idSchema("request", "The answer's `Request-Id`."),
    at: timeSchema("When it came in."),
    method: textSchema("HTTP method.", "POST"),
    path: textSchema("Its path, without the query.", "/v1/payments"),
    status: Type.Integer({ description: "HTTP status.", examples: [201] }),
    error_code: Type.Optional(textSchema("Of the error, if it was one.", "invalid_body")),
    duration_ms: Type.Number({ description: "Milliseconds to the end of the answer.", examples: [18.2] }),
    api_key_id: Type.Optional(idSchema("apiKey", "The key; absent without a valid one.")),
  }),
);

export const AuditEntryJson = component(
  "AuditEntry",
  Type.Object({
    id: idSchema("event", "`evt_…`."),
    at: timeSchema("When it was done."),
    environment: Type.Optional(textSchema("`sandbox` or `live`; absent: both.", "sandbox")),
    actor: Type.Optional(
      textSchema(
        "`ak_…` of the API key, or `operator`; absent: the service by itself.",
        "ak_01jd3v9q6k8m2n4p6r8t0v2x4z",
      ),
    ),
    action: textSchema(
      "What was done, e.g. `api_key.created`, `endpoint.deleted`, `refund.requested`.",
      "api_key.created",
    ),
    object_id: Type.Optional(textSchema("What it was done to.", "ak_01jd3v9q6k8m2n4p6r8t0v2x4z")),
    status: Type.Optional(textSchema("The object's status after it.", "active")),
    request_id: Type.Optional(textSchema("The request that did it.", "req_01jd3v9q6k8m2n4p6r8t0v2x4z")),
    details: Type.Record(Type.String(), Type.String(), {
      description: "Further facts, e.g. `payment_id` and `amount` of a refund. Never a secret.",
      examples: [{ payment_id: "pay_01jd3v9q6k8m2n4p6r8t0v2x4z", amount: "500" }],
    }),
  }),
);

export function presentApiRequest(request: ApiRequest): Static<typeof ApiRequestJson> {
  return {
    id: request.requestId,
    at: timeTextOf(request.at),
    method: request.method,
    path: request.path,
    status: request.status,
    ...optionalField("error_code", request.errorCode),
    duration_ms: request.durationMs,
    ...optionalField("api_key_id", request.apiKeyId),
  };
}

// Who of the operator's people it was is no merchant's business.
const hidden = new Set(["operator", "said_actor"]);

export function presentAuditEntry(entry: AuditEntry): Static<typeof AuditEntryJson> {
  const isOfOne = entry.environment !== Environment.UNSPECIFIED;
  return {
    id: entry.id,
    at: timeTextOf(entry.occurredAt),
    ...(isOfOne && { environment: environmentText(entry.environment) }),
    ...optionalField("actor", entry.actor),
    action: entry.action,
    ...optionalField("object_id", entry.objectId),
    ...optionalField("status", entry.status),
    ...optionalField("request_id", entry.requestId),
    details: Object.fromEntries(Object.entries(entry.details).filter(([name]) => !hidden.has(name))),
  };
}
