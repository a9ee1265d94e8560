// Verifies a raw API key: junk is refused by its checksum before any look-up, anything but an active key is UNAUTHORIZED, and
// the answer does not tell which of these it was.
import type { Database } from "#platform/database.ts";
import { Failure } from "#platform/failure.ts";
import { keyedHash } from "#platform/secret.ts";
import { isKeyText, keyStatus } from "../rules/api-key.ts";
import type { MerchantStatus } from "../rules/profile.ts";
import { type ApiKey, findKeyByHash } from "../store/api-keys.ts";

/**
 * Whom the key stands for. The index finds the key by its keyed hash, so that timing tells nothing about the key.
 * @throws Failure UNAUTHORIZED.
 */
export async function authenticateKey(
  context: { readonly db: Database; readonly hashKey: Buffer },
  rawKey: string,
): Promise<{ key: ApiKey; merchantStatus: MerchantStatus }> {
  if (!isKeyText(rawKey)) throw new Failure("UNAUTHORIZED");
  const found = await findKeyByHash(context.db, keyedHash(context.hashKey, rawKey));
  if (!found || keyStatus(found.key, new Date()) !== "active") throw new Failure("UNAUTHORIZED");
  return found;
}
