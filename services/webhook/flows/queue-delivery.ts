// Deliveries that a merchant asks for: a test event, and another try of one that is there. Each is one transaction; the
// dispatcher is told afterwards and begins at once.
import type { MappedDatabase } from "#platform/database/mapped-database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { testEventBody } from "../rules/public-event.ts";
import { requeueDelivery } from "../store/deliveries.ts";
import { type LaneKey, queueTestEvent } from "../store/delivery-queue.ts";
import { findEndpoint, type Owner } from "../store/endpoints.ts";

export interface QueueDeps {
  readonly db: MappedDatabase;
  /** Told after the commit. */
  readonly wakeLane: (lane: LaneKey) => void;
}

/**
 * Queues a test.ping, whatever the endpoint subscribed to.
 * @returns the delivery's id; empty: the endpoint is disabled, and nothing is sent @throws NOT_FOUND
 */
export async function sendTestEvent(deps: QueueDeps, owner: Owner, endpointId: string): Promise<string> {
  const lane = { merchantId: owner.merchantId, endpointId };
  const id = newId("delivery");
  const isQueued = await deps.db.transaction(async (tx) => {
    const endpoint = await findEndpoint(tx.em, owner, endpointId);
    if (!endpoint) throw new Failure("NOT_FOUND");
    if (endpoint.status === "disabled") return false;
    await queueTestEvent(tx, { ...lane, id, body: testEventBody(clockNow()) });
    return true;
  });
  if (isQueued) deps.wakeLane(lane);
  return isQueued ? id : "";
}

/** Makes a delivery due now, with a fresh schedule and attempt budget (docs/contract.md §9). @throws NOT_FOUND */
export async function retryDelivery(deps: QueueDeps, owner: Owner, endpointId: string, id: string): Promise<void> {
  const lane = { merchantId: owner.merchantId, endpointId };
  await deps.db.transaction(async (tx) => {
    const endpoint = await findEndpoint(tx.em, owner, endpointId);
    if (!endpoint || !(await requeueDelivery(tx, lane, id))) throw new Failure("NOT_FOUND");
  });
  deps.wakeLane(lane);
}
