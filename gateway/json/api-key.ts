// API keys as public JSON (docs/contract.md §7). Only the response that creates a key contains the raw key.
import { type Static, Type } from "typebox";
import type { CreateApiKeyResponse, RollApiKeyResponse } from "#proto/merchant/v1/merchant_pb.ts";
import {
  environmentSchema,
  idSchema,
  jsonComponent,
  secretSchema,
  textSchema,
  timeSchema,
} from "../../services/public-json/field.ts";
import { presentMessage } from "../../services/public-json/present.ts";

const record = {
  id: idSchema("apiKey"),
  name: textSchema("Label.", "API key"),
  suffix: textSchema("The last four characters of the key.", "x7Qa"),
  environment: environmentSchema,
  scopes: Type.Array(Type.String(), { examples: [["payments:read", "payments:write"]] }),
  allowed_ips: Type.Optional(
    Type.Array(Type.String(), {
      description: "Networks that the key may be used from; absent: any.",
      examples: [["203.0.113.0/24", "2001:db8::/32"]],
    }),
  ),
  status: textSchema("`active`, `expired` or `revoked`.", "active"),
  created_at: timeSchema("When it was created."),
  expires_at: Type.Optional(timeSchema("When the key expires; absent: never.")),
  last_used_at: Type.Optional(timeSchema("Last use, at most 60 s late; absent: never used.")),
};

export const ApiKeyJson = jsonComponent("ApiKey", Type.Object(record));

export const NewApiKey = jsonComponent(
  "NewApiKey",
  Type.Object({
    api_key: secretSchema("The raw key. It cannot be retrieved again.", "sk_test_…"),
    note: textSchema("A reminder.", "Store this key now: it cannot be retrieved again."),
    ...record,
  }),
);

export function presentNewApiKey({
  secret,
  apiKey,
}: CreateApiKeyResponse | RollApiKeyResponse): Static<typeof NewApiKey> {
  if (!apiKey) throw new Error("the record of the key is missing");
  return {
    api_key: secret,
    note: "Store this key now: it cannot be retrieved again.",
    ...presentMessage(ApiKeyJson, apiKey),
  };
}
