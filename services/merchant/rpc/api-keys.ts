// merchant.v1.ApiKeyService.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import { callContext } from "#platform/values/call-context.ts";
import { clockNow } from "#platform/values/clock.ts";
import { invalidField, requireFound } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { ApiKeyService } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { authenticateKey } from "../flows/authenticate-key.ts";
import { createApiKey, limitApiKey, revokeApiKey, rollApiKey } from "../flows/manage-api-key.ts";
import { recordKeyUses } from "../flows/record-key-uses.ts";
import { toApiKey } from "../messages.ts";
import { listNetworks } from "../store/api-key-networks.ts";
import { findKey, listKeys } from "../store/api-keys.ts";

// The list's size before it had pages, for callers that do not page.
const keysPageDefault = 200;

export function apiKeysRpc(context: MerchantContext): ServiceImpl<typeof ApiKeyService> {
  return {
    async authenticateKey({ apiKey }) {
      const { key, merchantStatus } = await authenticateKey(context, apiKey);
      return { apiKey: toApiKey(key, clockNow()), merchantId: key.merchantId, merchantStatus };
    },
    async createApiKey({ merchantId, environment, name, scopes, expiresAt, allowedIps }) {
      const expiry = expiresAt ? timestampDate(expiresAt) : null;
      const owner = { merchantId, environment, callerId: callingKey() };
      const power = { scopes, expiresAt: expiry, allowedIps: allowedIps?.ranges };
      const issued = await createApiKey(context, { ...owner, name, ...power });
      return { secret: issued.secret, apiKey: toApiKey(issued.key, clockNow()) };
    },
    async listApiKeys({ merchantId, environment, limit, offset, afterId }) {
      const now = clockNow();
      const page = { limit: limit || keysPageDefault, offset: Number(offset), afterId, now };
      const isKey = afterId === "" || isId("apiKey", afterId);
      const found = isKey && (await context.db.snapshot((sql) => listKeys(sql, { merchantId, environment }, page)));
      if (!found) throw invalidField("after", "must be the id of one of these keys");
      const apiKeys = found.keys.map((key) => toApiKey(key, now));
      return { apiKeys, total: BigInt(found.total), offset: BigInt(found.offset) };
    },
    async getApiKey({ merchantId, environment, apiKeyId }) {
      const key = requireFound(await findKey(context.db, { merchantId, environment }, apiKeyId));
      const networks = await listNetworks(context.db, key.id);
      return { apiKey: toApiKey(key, clockNow()), networks: networks.map(messageFields) };
    },
    async rollApiKey({ merchantId, environment, apiKeyId, overlapSeconds }) {
      const input = { merchantId, environment, callerId: callingKey(), id: apiKeyId };
      const issued = await rollApiKey(context, input, overlapSeconds);
      return { secret: issued.secret, apiKey: toApiKey(issued.key, clockNow()) };
    },
    async limitApiKey({ merchantId, environment, apiKeyId, allowedIps }) {
      const input = { merchantId, environment, callerId: callingKey(), id: apiKeyId };
      const limited = await limitApiKey(context, input, allowedIps?.ranges ?? []);
      return { apiKey: toApiKey(limited, clockNow()) };
    },
    async revokeApiKey({ merchantId, environment, apiKeyId }) {
      const revoked = await revokeApiKey(context, { merchantId, environment }, apiKeyId);
      return { apiKey: toApiKey(revoked, clockNow()) };
    },
    async recordKeyUse({ uses }) {
      const known = uses.flatMap(({ apiKeyId: id, usedAt, networks }) =>
        usedAt && isId("apiKey", id) ? [{ id, usedAt: timestampDate(usedAt), networks }] : [],
      );
      if (known.length > 0) await recordKeyUses(context, known);
      return {};
    },
  };
}

/** The API key that the call acts for; undefined for an operator or a person of a console. */
function callingKey(): string | undefined {
  const actor = callContext.getStore()?.actor ?? "";
  return actor.startsWith("ak_") ? actor : undefined;
}
