// Deliveries that a merchant asks for: a test event, and another try of one that is there. Each is one transaction; the dispatcher
// is told afterwards and begins at once.
import { Failure } from "#platform/failure.ts";
import { newId } from "#platform/id.ts";
import type { MappedDatabase } from "#platform/mapped-database.ts";
import { testEventBody } from "../rules/event-types.ts";
import { requeue } from "../store/deliveries.ts";
import { type LaneKey, queueTestEvent } from "../store/delivery-queue.ts";
import { findEndpoint, type Owner } from "../store/endpoints.ts";

export interface QueueDeps {
  readonly db: MappedDatabase;
  /** Told after the commit. */
  readonly poke: (lane: LaneKey) => void;
}

/** Queues a test.ping, whatever the endpoint subscribed to. @returns the delivery's id @throws NOT_FOUND */
export async function sendTestEvent(deps: QueueDeps, owner: Owner, endpointId: string): Promise<string> {
  const lane = { merchantId: owner.merchantId, endpointId };
  const id = newId("delivery");
  await deps.db.transaction(async (tx) => {
    if (!(await findEndpoint(tx.em, owner, endpointId))) throw new Failure("NOT_FOUND");
    await queueTestEvent(tx, { ...lane, id, body: testEventBody(new Date()) });
  });
  deps.poke(lane);
  return id;
}

/** Makes a delivery due now, with a fresh schedule and attempt budget (CONTRACT.md §9). @throws NOT_FOUND */
export async function retryDelivery(deps: QueueDeps, owner: Owner, endpointId: string, id: string): Promise<void> {
  const lane = { merchantId: owner.merchantId, endpointId };
  await deps.db.transaction(async (tx) => {
    const endpoint = await findEndpoint(tx.em, owner, endpointId);
    if (!endpoint || !(await requeue(tx, lane, id))) throw new Failure("NOT_FOUND");
  });
  deps.poke(lane);
}
