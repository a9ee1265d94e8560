// API keys as public JSON (SPEC.md §2 and §4). The raw key is in the answer that made it, and nowhere else.
import { type Static, Type } from "typebox";
import type { ApiKey } from "#proto/merchant/v1/merchant_pb.ts";
import { component } from "./component.ts";
import { environmentSchema, environmentText, given, idSchema, textSchema, timeSchema, timeText } from "./field.ts";

export const ApiKeyJson = component(
  "ApiKey",
  Type.Object({
    id: idSchema("apiKey"),
    name: textSchema("Label.", "API key"),
    suffix: textSchema("The last four characters of the key.", "x7Qa"),
    environment: environmentSchema,
    scopes: Type.Array(Type.String(), { examples: [["payments:read", "payments:write"]] }),
    status: textSchema("`active`, `expired` or `revoked`.", "active"),
    last_used_at: Type.Optional(timeSchema("At most 60 s late; absent: never used.")),
  }),
);

export const NewApiKey = component(
  "NewApiKey",
  Type.Object({
    api_key: textSchema("The raw key; it cannot be retrieved again.", "sk_test_…"),
    note: textSchema("A reminder.", "Store this key now: it cannot be retrieved again."),
  }),
);

/** A key without its secret. */
export function presentApiKey(key: ApiKey): Static<typeof ApiKeyJson> {
  return {
    id: key.id,
    name: key.name,
    suffix: key.suffix,
    environment: environmentText(key.environment),
    scopes: key.scopes,
    status: key.status,
    ...given("last_used_at", timeText(key.lastUsedAt)),
  };
}

/** The one answer with the raw key. */
export function presentNewApiKey(secret: string): Static<typeof NewApiKey> {
  return { api_key: secret, note: "Store this key now: it cannot be retrieved again." };
}
