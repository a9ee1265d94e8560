// Records reported key uses: (1) the times in one statement; (2) a check for new networks of live keys; (3) if there
// are any, one transaction that stores and announces them. A repeated report announces nothing.
import { clockNow } from "#platform/values/clock.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { furtherNetworks, isKeyNetwork } from "../rules/key-network.ts";
import { findUnknownNetworks, insertNetworks, lockKeys, type UsedNetwork } from "../store/api-key-networks.ts";
import { recordUses } from "../store/api-keys.ts";

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
