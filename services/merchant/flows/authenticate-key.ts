// Verifies a raw API key: junk is refused by its checksum before any look-up, anything but an active key is
// UNAUTHORIZED, and the answer does not tell which of these it was.
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import type { MerchantContext } from "../context.ts";
import { isKeyText, keyStatus } from "../rules/api-key.ts";
import type { MerchantStatus } from "../rules/profile.ts";
import { type ApiKey, findKeyByHash, replaceHash } from "../store/api-keys.ts";

/**
 * Whom the key stands for. The index finds the key by its keyed hash, so that timing tells nothing about the key. One
 * that was hashed under an older hash key is hashed again; should that fail, its next use tries again.
 * @throws Failure UNAUTHORIZED.
 */
export async function authenticateKey(
  { db, hashKeys, log }: Pick<MerchantContext, "db" | "hashKeys" | "log">,
  rawKey: string,
): Promise<{ key: ApiKey; merchantStatus: MerchantStatus }> {
  if (!isKeyText(rawKey)) throw new Failure("UNAUTHORIZED");
  const found = await findKeyByHash(db, hashKeys.hashes(rawKey));
  if (!found || keyStatus(found.key, clockNow()) !== "active") throw new Failure("UNAUTHORIZED");
  const { key, merchantStatus, hash } = found;
  if (hash.keyId !== hashKeys.currentId) {
    await replaceHash(db, key.id, hash, hashKeys.hash(rawKey)).catch((error: unknown) =>
      log.warn({ err: error, api_key_id: key.id }, "could not hash an API key again"),
    );
  }
  return { key, merchantStatus };
}
