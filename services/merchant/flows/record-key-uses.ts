// Records the uses of keys that a gateway reports: (1) when, in one statement; (2) whether a live key was used from a
// network that is not remembered; (3) only then, in one transaction, those networks and the announcement of each that
// is news. A repeat finds everything recorded and announces nothing, so that a key and a network ring once.
import { clockNow } from "#platform/values/clock.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { furtherNetworks, isKeyNetwork } from "../rules/key-network.ts";
import { findUnknownPlaces, insertPlaces, type KeyPlace, lockKeys } from "../store/api-key-networks.ts";
import { recordUses } from "../store/api-keys.ts";

export interface KeyUse {
  readonly id: string;
  readonly usedAt: Date;
  /** As rules/key-network.ts has them; others are passed over. */
  readonly networks: readonly string[];
}

interface News extends KeyPlace {
  readonly merchantId: string;
}

export async function recordKeyUses(context: MerchantContext, uses: readonly KeyUse[]): Promise<void> {
  await recordUses(context.db, uses);
  const places = uses.flatMap(({ id, networks }) =>
    networks.filter(isKeyNetwork).map((network) => ({ keyId: id, network })),
  );
  if (places.length === 0 || (await findUnknownPlaces(context.db, places)).length === 0) return;
  const news = await context.db.transaction(async (tx) => {
    await lockKeys(tx, [...new Set(places.map(({ keyId }) => keyId))]);
    const kept: KeyPlace[] = [];
    const told: News[] = [];
    for (const { keyId, merchantId, networks, known } of await findUnknownPlaces(tx, places)) {
      const further = furtherNetworks(known, networks);
      kept.push(...further.kept.map((network) => ({ keyId, network })));
      told.push(...further.news.map((network) => ({ keyId, network, merchantId })));
    }
    const at = clockNow();
    await insertPlaces(tx, kept, at);
    await context.outbox.append(tx, told.map(announcement(at)));
    return told;
  });
  context.outbox.wake();
  context.metrics.newNetworks.inc(news.length);
  for (const { keyId: key_id, merchantId: merchant_id, network } of news) {
    context.log.warn({ key_id, merchant_id, network }, "a live key was used from a network that is new for it");
  }
}

function announcement(at: Date) {
  return ({ keyId, merchantId, network }: News) => ({
    type: "api_key.new_network",
    merchantId,
    environment: Environment.LIVE,
    objectId: keyId,
    status: "active",
    at,
    attributes: { network },
  });
}
