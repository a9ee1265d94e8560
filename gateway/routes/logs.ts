// The API request log and the audit log of a merchant (docs/contract.md §8).
import { Type } from "typebox";
import { Failure } from "#platform/values/failure.ts";
import { idSchema } from "../../services/public-json/field.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { ApiRequestJson, AuditEntryJson, presentApiRequest, presentAuditEntry } from "../json/logs.ts";
import { logPage, logQuery, logWindow } from "../json/parts/log-page.ts";
import type { Peers } from "../peers.ts";

const tag = "Logs";

const requestQuery = Type.Object({
  ...logQuery("request"),
  api_key_id: Type.Optional(idSchema("apiKey", "Only requests with this key.")),
  min_status: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 599,
      description: "Only requests with at least this HTTP status: 400 for all errors.",
      examples: [400],
    }),
  ),
});

const auditQuery = Type.Object({
  ...logQuery("event"),
  action: Type.Optional(Type.String({ maxLength: 64, description: "Exact match.", examples: ["api_key.created"] })),
  object_id: Type.Optional(
    Type.String({ maxLength: 64, description: "Only actions on this object.", examples: ["ak_…"] }),
  ),
  actor: Type.Optional(
    Type.String({
      maxLength: 64,
      description: "Only actions of this API key, or of `operator`.",
      examples: ["operator"],
    }),
  ),
});

const requestId = Type.Object({ id: idSchema("request", "The response's `Request-Id`.") });

export function logRoutes(context: GatewayContext, { audit }: Pick<Peers, "audit">): void {
  merchantRoute(context, {
    id: "listApiRequests",
    method: "GET",
    path: "/v1/merchants/me/requests",
    scope: "merchant:read",
    tag,
    summary: "List API requests",
    description:
      "Requests in the key's environment in the last 30 days, newest first, without queries and bodies. A request appears within two seconds.",
    query: requestQuery,
    response: logPage(ApiRequestJson),
    handle: async ({ principal: { merchantId, environment }, query }) => {
      const { api_key_id: apiKeyId = "", min_status: minStatus = 0 } = query;
      const input = { merchantId, environment, apiKeyId, minStatus, ...logWindow("request", query) };
      const { requests, nextPageToken } = await audit.listApiRequests(input);
      return { data: requests.map(presentApiRequest), has_more: nextPageToken !== "" };
    },
  });
  merchantRoute(context, {
    id: "getApiRequest",
    method: "GET",
    path: "/v1/merchants/me/requests/:id",
    scope: "merchant:read",
    tag,
    summary: "Read an API request",
    description: "By the `Request-Id` of its response.",
    params: requestId,
    response: ApiRequestJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const { request } = await audit.getApiRequest({ requestId: params.id });
      // The service returns requests of all merchants, since operators use it, too.
      if (request?.merchantId !== merchantId || request.environment !== environment) throw new Failure("NOT_FOUND");
      return presentApiRequest(request);
    },
  });
  merchantRoute(context, {
    id: "listAuditEntries",
    method: "GET",
    path: "/v1/merchants/me/audit-log",
    scope: "merchant:read",
    tag,
    summary: "List the audit log",
    description:
      "Actions on keys, endpoints, connectors, profile, branding and refunds, newest first: those in the key's environment and those that affect both. An action appears shortly after it was taken.",
    query: auditQuery,
    response: logPage(AuditEntryJson),
    handle: async ({ principal: { merchantId, environment }, query }) => {
      const { action = "", object_id: objectId = "", actor = "" } = query;
      const input = { merchantId, environment, action, objectId, actor, ...logWindow("event", query) };
      const { entries, nextPageToken } = await audit.listAuditEntries(input);
      return { data: entries.map(presentAuditEntry), has_more: nextPageToken !== "" };
    },
  });
}
