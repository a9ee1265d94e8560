// The API request log and the audit log as public JSON (docs/contract.md §8).
import { type Static, Type } from "typebox";
import type { ApiRequest, AuditEntry } from "#proto/merchant/v1/audit_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import {
  environmentText,
  idSchema,
  jsonComponent,
  textSchema,
  timeSchema,
  timeTextOf,
} from "../../services/public-json/field.ts";
import { presentMessage } from "../../services/public-json/present.ts";

export const ApiRequestJson = jsonComponent(
  "ApiRequest",
  Type.Object({
    id: idSchema("request", "The response's `Request-Id`."),
    at: timeSchema("When the request arrived."),
    method: textSchema("HTTP method.", "POST"),
    path: textSchema("Path without the query.", "/v1/payments"),
    status: Type.Integer({ description: "HTTP status.", examples: [201] }),
    error_code: Type.Optional(textSchema("Error code, if the request failed.", "invalid_body")),
    duration_ms: Type.Number({ description: "Milliseconds to the end of the response.", examples: [18.2] }),
    api_key_id: Type.Optional(idSchema("apiKey", "The API key; absent without a valid key.")),
  }),
);

export const AuditEntryJson = jsonComponent(
  "AuditEntry",
  Type.Object({
    id: idSchema("event", "`evt_…`."),
    at: timeSchema("When the action was taken."),
    environment: Type.Optional(textSchema("`sandbox` or `live`; absent if the action affects both.", "sandbox")),
    actor: Type.Optional(
      textSchema(
        "`ak_…` of the API key, or `operator`; absent if the service acted on its own.",
        "ak_01jd3v9q6k8m2n4p6r8t0v2x4z",
      ),
    ),
    action: textSchema(
      "The action, e.g. `api_key.created`, `endpoint.deleted`, `refund.requested`.",
      "api_key.created",
    ),
    object_id: Type.Optional(textSchema("Id of the affected object.", "ak_01jd3v9q6k8m2n4p6r8t0v2x4z")),
    status: Type.Optional(textSchema("The object's status after the action.", "active")),
    request_id: Type.Optional(textSchema("The request that caused it.", "req_01jd3v9q6k8m2n4p6r8t0v2x4z")),
    details: Type.Record(Type.String(), Type.String(), {
      description: "Further data, e.g. `payment_id` and `amount` of a refund. Never contains a secret.",
      examples: [{ payment_id: "pay_01jd3v9q6k8m2n4p6r8t0v2x4z", amount: "500" }],
    }),
  }),
);

export function presentApiRequest(request: ApiRequest): Static<typeof ApiRequestJson> {
  return presentMessage(ApiRequestJson, request, { id: request.requestId });
}

// Merchants must not see which person of the operator acted.
const hidden = new Set(["operator", "said_actor"]);

export function presentAuditEntry(entry: AuditEntry): Static<typeof AuditEntryJson> {
  return presentMessage(AuditEntryJson, entry, {
    at: timeTextOf(entry.occurredAt),
    environment: entry.environment === Environment.UNSPECIFIED ? undefined : environmentText(entry.environment),
    details: Object.fromEntries(Object.entries(entry.details).filter(([name]) => !hidden.has(name))),
  });
}
