// Announces deliveries whose attempts are used up, in the transaction that gave them up. Event `delivery.exhausted` of
// source webhook: object_id is the delivery, attributes are `endpoint_id`, `event_type` and `last_error`.
import type { Tx } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { GivenUp } from "../store/attempts.ts";

export async function announceGivenUp(tx: Tx, outbox: Outbox, givenUp: readonly GivenUp[]): Promise<void> {
  const at = clockNow();
  await outbox.append(
    tx,
    givenUp.map((delivery) => ({
      type: "delivery.exhausted",
      merchantId: delivery.merchantId,
      environment: delivery.environment,
      objectId: delivery.id,
      status: "failed",
      at,
      attributes: {
        endpoint_id: delivery.endpointId,
        event_type: delivery.eventType,
        last_error: delivery.lastError,
      },
    })),
  );
}
