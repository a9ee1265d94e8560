// What happened on a merchant's account: its API requests and its administrative acts (docs/contract.md §8).
import { Type } from "typebox";
import { Failure } from "#platform/values/failure.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { ApiRequestJson, AuditEntryJson, presentApiRequest, presentAuditEntry } from "../json/logs.ts";
import { idSchema } from "../json/parts/field.ts";
import { logPage, logQuery, logWindow } from "../json/parts/log-page.ts";
import type { Peers } from "../peers.ts";

const tag = "Logs";

const requestQuery = Type.Object({
  ...logQuery("request"),
  api_key_id: Type.Optional(idSchema("apiKey", "Only those of this key.")),
  min_status: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 599,
      description: "Only HTTP statuses from this one on: 400 for all errors.",
      examples: [400],
    }),
  ),
});

const auditQuery = Type.Object({
  ...logQuery("event"),
  action: Type.Optional(Type.String({ maxLength: 64, description: "Exact match.", examples: ["api_key.created"] })),
  object_id: Type.Optional(
    Type.String({ maxLength: 64, description: "Only what was done to this object.", examples: ["ak_…"] }),
  ),
  actor: Type.Optional(
    Type.String({ maxLength: 64, description: "Only what this API key, or `operator`, did.", examples: ["operator"] }),
  ),
});

const requestId = Type.Object({ id: idSchema("request", "The answer's `Request-Id`.") });

/** Adds the operations. */
export function logRoutes(context: GatewayContext, { audit }: Pick<Peers, "audit">): void {
  merchantRoute(
    context,
    "merchant:read",
    {
      id: "listApiRequests",
      method: "GET",
      path: "/v1/merchants/me/requests",
      tag,
      summary: "List API requests",
      description:
        "The requests of the key's environment in the last 30 days, newest first; without queries and bodies. A request is here within two seconds.",
      status: 200,
      query: requestQuery,
      response: logPage(ApiRequestJson),
    },
    async ({ principal: { merchantId, environment }, query }) => {
      const { api_key_id: apiKeyId = "", min_status: minStatus = 0 } = query;
      const input = { merchantId, environment, apiKeyId, minStatus, ...logWindow("request", query) };
      const { requests, nextPageToken } = await audit.listApiRequests(input);
      return { data: requests.map(presentApiRequest), has_more: nextPageToken !== "" };
    },
  );
  merchantRoute(
    context,
    "merchant:read",
    {
      id: "getApiRequest",
      method: "GET",
      path: "/v1/merchants/me/requests/:id",
      tag,
      summary: "Read an API request",
      description: "By the `Request-Id` that its answer carried.",
      status: 200,
      params: requestId,
      response: ApiRequestJson,
      errors: ["not_found"],
    },
    async ({ principal: { merchantId, environment }, params }) => {
      const { request } = await audit.getApiRequest({ requestId: params.id });
      // The service answers for every merchant, since operators ask it too.
      if (request?.merchantId !== merchantId || request.environment !== environment) throw new Failure("NOT_FOUND");
      return presentApiRequest(request);
    },
  );
  merchantRoute(
    context,
    "merchant:read",
    {
      id: "listAuditEntries",
      method: "GET",
      path: "/v1/merchants/me/audit-log",
      tag,
      summary: "List who did what",
      description:
        "Administrative acts on keys, endpoints, connectors, profile, branding and refunds, newest first: of the key's environment, and what concerns both. An act is here a moment after it was done.",
      status: 200,
      query: auditQuery,
      response: logPage(AuditEntryJson),
    },
    async ({ principal: { merchantId, environment }, query }) => {
      const { action = "", object_id: objectId = "", actor = "" } = query;
      const input = { merchantId, environment, action, objectId, actor, ...logWindow("event", query) };
      const { entries, nextPageToken } = await audit.listAuditEntries(input);
      return { data: entries.map(presentAuditEntry), has_more: nextPageToken !== "" };
    },
  );
}
