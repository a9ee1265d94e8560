// Verifies a raw API key. The checksum refuses random text before any lookup; the error is the same for every reason.
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { isKeyText, keyStatus } from "../rules/api-key.ts";
import { furtherNetworks, isKeyNetwork } from "../rules/key-network.ts";
import type { MerchantStatus } from "../rules/profile.ts";
import { findUnknownNetworks, insertNetworks, lockKeys, type UsedNetwork } from "../store/api-key-networks.ts";
import { type ApiKey, findKeyByHash, recordUses, replaceHash } from "../store/api-keys.ts";

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

interface KeyUse {
  readonly id: string;
  readonly usedAt: Date;
  /** Networks in another form than rules/key-network.ts are ignored. */
  readonly networks: readonly string[];
}

interface NewNetwork extends UsedNetwork {
  readonly merchantId: string;
}

export async function recordKeyUses(context: MerchantContext, uses: readonly KeyUse[]): Promise<void> {
  await recordUses(context.db, uses);
  const usedNetworks = uses.flatMap(({ id, networks }) =>
    networks.filter(isKeyNetwork).map((network) => ({ keyId: id, network })),
  );
  if (usedNetworks.length === 0 || (await findUnknownNetworks(context.db, usedNetworks)).length === 0) return;
  const announced = await context.db.transaction(async (tx) => {
    await lockKeys(tx, [...new Set(usedNetworks.map(({ keyId }) => keyId))]);
    const kept: UsedNetwork[] = [];
    const newNetworks: NewNetwork[] = [];
    for (const { keyId, merchantId, networks, known } of await findUnknownNetworks(tx, usedNetworks)) {
      const further = furtherNetworks(known, networks);
      kept.push(...further.kept.map((network) => ({ keyId, network })));
      newNetworks.push(...further.reported.map((network) => ({ keyId, network, merchantId })));
    }
    const at = clockNow();
    await insertNetworks(tx, kept, at);
    await context.outbox.append(tx, newNetworks.map(announcement(at)));
    return newNetworks;
  });
  context.outbox.wake();
  context.metrics.newNetworks.inc(announced.length);
  for (const { keyId: key_id, merchantId: merchant_id, network } of announced) {
    context.log.warn({ key_id, merchant_id, network }, "API key used from new network");
  }
}

function announcement(at: Date) {
  return ({ keyId, merchantId, network }: NewNetwork) => ({
    type: "api_key.new_network",
    merchantId,
    environment: Environment.LIVE,
    objectId: keyId,
    status: "active",
    at,
    attributes: { network },
  });
}
