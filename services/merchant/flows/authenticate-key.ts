// Verifies a raw API key. The checksum refuses random text before any lookup; the error is the same for every reason.
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import type { MerchantContext } from "../context.ts";
import { isKeyText, keyStatus } from "../rules/api-key.ts";
import type { MerchantStatus } from "../rules/profile.ts";
import { type ApiKey, findKeyByHash, replaceHash } from "../store/api-keys.ts";

/**
 * Finds the key by its keyed hash, so timing reveals nothing about it. A key under an older hash key is rehashed.
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
      log.warn({ err: error, api_key_id: key.id }, "API key not rehashed: retrying on next use"),
    );
  }
  return { key, merchantStatus };
}
