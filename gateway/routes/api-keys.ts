// API keys of a merchant: list, create, roll, revoke (SPEC.md §4, CONTRACT.md §7). A key gives no more than it has.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Type } from "typebox";
import { invalid } from "#platform/failure.ts";
import { type Door, merchantRoute } from "../auth.ts";
import { displayLine } from "../display-text.ts";
import { ApiError } from "../failures.ts";
import { ApiKeyJson, NewApiKey, presentApiKey, presentNewApiKey } from "../json/api-key.ts";
import { component } from "../json/component.ts";
import { idSchema } from "../json/field.ts";
import { dataSchema } from "../json/list.ts";
import { momentOf } from "../json/time-bound.ts";
import { scopes } from "../operation.ts";
import type { Peers } from "../peers.ts";

const tag = "API keys";
const keyId = Type.Object({ id: idSchema("apiKey", "Id of the key.") });
const daySeconds = 86_400;

const ApiKeyRequest = component(
  "ApiKeyRequest",
  Type.Object({
    name: Type.String({ format: displayLine, minLength: 1, maxLength: 100, default: "API key", examples: ["Backend"] }),
    scopes: Type.Optional(
      Type.Array(Type.Unsafe<(typeof scopes)[number]>({ type: "string", enum: scopes }), {
        minItems: 1,
        maxItems: 16,
        description: "Subset of the caller's own; all of them when absent.",
        examples: [["payments:read"]],
      }),
    ),
    expires_at: Type.Optional(
      Type.String({
        maxLength: 40,
        description: "RFC 3339, in the future; absent: never.",
        examples: ["2031-01-01T00:00:00Z"],
      }),
    ),
  }),
);

const RollRequest = component(
  "ApiKeyRollRequest",
  Type.Object({
    expires_in: Type.Integer({
      minimum: 0,
      maximum: 7 * daySeconds,
      default: daySeconds,
      description: "How long the old key goes on working, seconds.",
      examples: [3600],
    }),
  }),
);

/** Adds the operations. */
export function apiKeyRoutes(door: Door, { apiKeys }: Pick<Peers, "apiKeys">): void {
  merchantRoute(
    door,
    "merchant:read",
    {
      id: "listApiKeys",
      method: "GET",
      path: "/v1/merchants/me/api-keys",
      tag,
      summary: "List the API keys",
      status: 200,
      response: dataSchema(ApiKeyJson),
    },
    async ({ principal: { merchantId, environment } }) => ({
      data: (await apiKeys.listApiKeys({ merchantId, environment })).apiKeys.map(presentApiKey),
    }),
  );
  createKey(door, apiKeys);
  changeKey(door, apiKeys);
}

function createKey(door: Door, apiKeys: Peers["apiKeys"]): void {
  merchantRoute(
    door,
    "merchant:write",
    {
      id: "createApiKey",
      method: "POST",
      path: "/v1/merchants/me/api-keys",
      tag,
      summary: "Create an API key",
      description: "The answer holds the raw key, once. The key is of the caller's environment.",
      status: 201,
      body: ApiKeyRequest,
      response: NewApiKey,
    },
    async ({ principal: { merchantId, environment, scopes: own }, body }) => {
      const wanted = new Set<string>(body.scopes ?? own);
      if (!wanted.isSubsetOf(own)) throw new ApiError("forbidden");
      const expiresAt = body.expires_at === undefined ? undefined : momentOf("expires_at", body.expires_at);
      if (expiresAt && timestampMs(expiresAt) <= Date.now()) throw invalid("expires_at", "must be in the future");
      const { secret } = await apiKeys.createApiKey({
        merchantId,
        environment,
        name: body.name,
        scopes: [...wanted],
        ...(expiresAt && { expiresAt }),
      });
      return presentNewApiKey(secret);
    },
  );
}

function changeKey(door: Door, apiKeys: Peers["apiKeys"]): void {
  merchantRoute(
    door,
    "merchant:write",
    {
      id: "rollApiKey",
      method: "POST",
      path: "/v1/merchants/me/api-keys/:id/roll",
      tag,
      summary: "Replace an API key",
      description: "Creates a successor with the same name and scopes; the old key works on during the overlap.",
      status: 201,
      params: keyId,
      body: RollRequest,
      response: NewApiKey,
      errors: ["not_found"],
    },
    async ({ principal: { merchantId, environment }, params, body }) => {
      const overlap = { overlapSeconds: body.expires_in };
      const { secret } = await apiKeys.rollApiKey({ merchantId, environment, apiKeyId: params.id, ...overlap });
      return presentNewApiKey(secret);
    },
  );
  merchantRoute(
    door,
    "merchant:write",
    {
      id: "revokeApiKey",
      method: "DELETE",
      path: "/v1/merchants/me/api-keys/:id",
      tag,
      summary: "Revoke an API key",
      description: "It stops working everywhere within a second.",
      status: 204,
      params: keyId,
      errors: ["not_found"],
    },
    async ({ principal: { merchantId, environment }, params }) => {
      await apiKeys.revokeApiKey({ merchantId, environment, apiKeyId: params.id });
      return {};
    },
  );
}
