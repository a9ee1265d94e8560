// Announces failures in the transaction that records them: `delivery.exhausted` for each delivery that was given up,
// `delivery.failing` for one delivery of each endpoint that has failed for an hour. object_id is the delivery.
import type { Tx } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { Trouble } from "../store/attempts.ts";

export async function announceTrouble(tx: Tx, outbox: Outbox, troubles: readonly Trouble[]): Promise<void> {
  const at = clockNow();
  const failing = new Map(troubles.filter(({ isExhausted }) => !isExhausted).map((each) => [each.endpointId, each]));
  const announced = [...troubles.filter(({ isExhausted }) => isExhausted), ...failing.values()];
  await outbox.append(
    tx,
    announced.map((delivery) => ({
      type: delivery.isExhausted ? "delivery.exhausted" : "delivery.failing",
      merchantId: delivery.merchantId,
      environment: delivery.environment,
      objectId: delivery.id,
      status: delivery.isExhausted ? "failed" : "pending",
      at,
      attributes: {
        endpoint_id: delivery.endpointId,
        // The path may hold a secret of the merchant.
        endpoint_host: new URL(delivery.endpointUrl).host,
        event_type: delivery.eventType,
        last_error: delivery.lastError,
      },
    })),
  );
}
