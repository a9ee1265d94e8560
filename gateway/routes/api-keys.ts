// API keys of a merchant: list, create, limit, roll, revoke (docs/contract.md §7). A key cannot grant more than it has.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Type } from "typebox";
import { Failure, invalidField } from "#platform/values/failure.ts";
import { environmentSchema, idSchema, jsonComponent } from "../../services/public-json/field.ts";
import { presentMessage } from "../../services/public-json/present.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { ApiError } from "../failures.ts";
import { displayLine } from "../http/display-text.ts";
import { moment } from "../http/own-formats.ts";
import { ApiKeyJson, NewApiKey, presentNewApiKey } from "../json/api-key.ts";
import { assertOwnEnvironment } from "../json/parts/input.ts";
import { pageJson, pageQuery, pageSchema } from "../json/parts/list.ts";
import { momentOf } from "../json/parts/time-bound.ts";
import { scopes } from "../operation.ts";
import type { Peers } from "../peers.ts";

const tag = "API keys";
const keyId = Type.Object({ id: idSchema("apiKey", "Id of the key.") });
const daySeconds = 86_400;

const allowedIps = (whenEmpty: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: 20,
    description: `Live keys only: the IP addresses and networks that the key may be used from; others get 403 \`forbidden\`. ${whenEmpty} Write a network as \`203.0.113.0/24\`, at most /8 wide (IPv6: /16), with zeros after the prefix. The API sees the address of your own outgoing proxy, if you use one.`,
    examples: [["203.0.113.0/24", "2001:db8::/32"]],
  });

const ApiKeyRequest = jsonComponent(
  "ApiKeyRequest",
  Type.Object({
    name: Type.String({ format: displayLine, minLength: 1, maxLength: 100, default: "API key", examples: ["Backend"] }),
    scopes: Type.Optional(
      Type.Array(Type.Unsafe<(typeof scopes)[number]>({ type: "string", enum: scopes }), {
        minItems: 1,
        maxItems: 16,
        description: "Subset of the calling key's scopes; default: all of them.",
        examples: [["payments:read"]],
      }),
    ),
    expires_at: Type.Optional(
      Type.String({
        format: moment,
        maxLength: 40,
        description:
          "RFC 3339, in the future and not later than the calling key's expiry. Default: the calling key's expiry, if any.",
        examples: ["2031-01-01T00:00:00Z"],
      }),
    ),
    environment: Type.Optional(environmentSchema),
    allowed_ips: Type.Optional(
      allowedIps("Must be within the calling key's networks, which are the default. Without any network: any address."),
    ),
  }),
);

const LimitRequest = jsonComponent("ApiKeyChange", Type.Object({ allowed_ips: allowedIps("Empty: any address.") }));

const RollRequest = jsonComponent(
  "ApiKeyRollRequest",
  Type.Object({
    expires_in: Type.Integer({
      minimum: 0,
      maximum: 7 * daySeconds,
      default: daySeconds,
      description: "Seconds until the old key stops working.",
      examples: [3600],
    }),
  }),
);

const listQuery = Type.Object({
  ...pageQuery,
  after: Type.Optional(idSchema("apiKey", "Return keys after this one; `offset` counts from there.")),
});

export function apiKeyRoutes(context: GatewayContext, { apiKeys }: Pick<Peers, "apiKeys">): void {
  merchantRoute(context, {
    id: "listApiKeys",
    method: "GET",
    path: "/v1/merchants/me/api-keys",
    scope: "merchant:read",
    tag,
    summary: "List the API keys",
    description: "Active keys first, then newest first. `total` counts keys of any status.",
    query: listQuery,
    response: pageSchema(ApiKeyJson),
    handle: async ({ principal: { merchantId, environment }, query: { limit, offset, after = "" } }) => {
      const wanted = { limit, offset: BigInt(offset), afterId: after };
      const answer = await apiKeys.listApiKeys({ merchantId, environment, ...wanted });
      return pageJson(
        answer.apiKeys.map((each) => presentMessage(ApiKeyJson, each)),
        Number(answer.offset),
        answer.total,
      );
    },
  });
  createKey(context, apiKeys);
  changeKey(context, apiKeys);
}

function createKey(context: GatewayContext, apiKeys: Peers["apiKeys"]): void {
  merchantRoute(context, {
    id: "createApiKey",
    method: "POST",
    path: "/v1/merchants/me/api-keys",
    scope: "merchant:write",
    tag,
    summary: "Create an API key",
    description:
      "Only this response contains the raw key. The key belongs to the calling key's environment and gets at most its scopes, addresses and expiry (403 `forbidden` otherwise). An environment has at most 50 active keys.",
    status: 201,
    body: ApiKeyRequest,
    response: NewApiKey,
    errors: ["too_many_keys"],
    handle: async ({ principal: { merchantId, environment, scopes: own }, body }) => {
      assertOwnEnvironment(environment, body.environment);
      const wanted = new Set<string>(body.scopes ?? own);
      // The service also checks the stored key, except one of the previous release.
      if (!wanted.isSubsetOf(own)) throw keyGivesTooMuch();
      const ranges = body.allowed_ips;
      const expiresAt = body.expires_at === undefined ? undefined : momentOf("expires_at", body.expires_at);
      if (expiresAt && timestampMs(expiresAt) <= Date.now()) throw invalidField("expires_at", "must be in the future");
      const limits = { ...(expiresAt && { expiresAt }), ...(ranges && { allowedIps: { ranges } }) };
      const key = { name: body.name, scopes: [...wanted], ...limits };
      return presentNewApiKey(await translateRefusal(apiKeys.createApiKey({ merchantId, environment, ...key })));
    },
  });
}

function changeKey(context: GatewayContext, apiKeys: Peers["apiKeys"]): void {
  merchantRoute(context, {
    id: "limitApiKey",
    method: "PATCH",
    path: "/v1/merchants/me/api-keys/:id",
    scope: "merchant:write",
    tag,
    summary: "Limit an API key to IP addresses",
    description:
      "Takes effect within a second and is recorded in the audit log. A limited key can only choose among its own addresses. To give another key more addresses, the calling key needs all scopes and addresses of that key (403 `forbidden` otherwise). Only active keys can be changed. Keep your own address in the list: only the operator can help a merchant that has locked itself out.",
    params: keyId,
    body: LimitRequest,
    response: ApiKeyJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params, body }) => {
      const limit = { apiKeyId: params.id, allowedIps: { ranges: body.allowed_ips } };
      const { apiKey } = await translateRefusal(apiKeys.limitApiKey({ merchantId, environment, ...limit }));
      if (!apiKey) throw new Error("the record of the key is missing");
      return presentMessage(ApiKeyJson, apiKey);
    },
  });
  merchantRoute(context, {
    id: "rollApiKey",
    method: "POST",
    path: "/v1/merchants/me/api-keys/:id/roll",
    scope: "merchant:write",
    tag,
    summary: "Replace an API key",
    description:
      "Creates a successor with the same name, scopes, addresses and expiry. The old key keeps working during the overlap. The calling key needs every scope and address of the rolled key and may not expire before it (403 `forbidden` otherwise). Without an overlap (`expires_in` 0) it also works with 50 active keys.",
    status: 201,
    params: keyId,
    body: RollRequest,
    response: NewApiKey,
    errors: ["not_found", "too_many_keys"],
    handle: async ({ principal: { merchantId, environment }, params, body }) => {
      const rolled = { apiKeyId: params.id, overlapSeconds: body.expires_in };
      return presentNewApiKey(await translateRefusal(apiKeys.rollApiKey({ merchantId, environment, ...rolled })));
    },
  });
  merchantRoute(context, {
    id: "revokeApiKey",
    method: "DELETE",
    path: "/v1/merchants/me/api-keys/:id",
    scope: "merchant:write",
    tag,
    summary: "Revoke an API key",
    description: "The key stops working within a second. A key with `merchant:write` can revoke any key.",
    status: 204,
    params: keyId,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      await apiKeys.revokeApiKey({ merchantId, environment, apiKeyId: params.id });
      return {};
    },
  });
}

async function translateRefusal<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Failure && error.reason === "FORBIDDEN") throw keyGivesTooMuch();
    throw error;
  }
}

function keyGivesTooMuch(): ApiError {
  return new ApiError("forbidden", { message: "an api key gives no more than it has" });
}
