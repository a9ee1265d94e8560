// Queues deliveries at a merchant's request: a test event, a retry of one delivery or of all failed ones, a replay of
// events that the endpoint has no delivery for.
// Each is one transaction; the callbacks after the commit let the dispatcher or the job start at once.
import type { Database } from "#platform/database/database.ts";
import { clockMs, clockNow } from "#platform/values/clock.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import { idFloor, newId } from "#platform/values/id.ts";
import { testEventBody } from "../rules/public-event.ts";
import { requeueDelivery } from "../store/deliveries.ts";
import { type LaneKey, queueTestEvent } from "../store/delivery-queue.ts";
import { findEndpoint, type Owner } from "../store/endpoints.ts";
import { firstDeliveryIdOf } from "../store/partitions.ts";
import { insertReplayRun, stepReplayRun } from "../store/replay-runs.ts";
import { insertRetryRun, type RetryRunRow, stepRetryRun } from "../store/retry-runs.ts";
import { checkEventTypes } from "./create-endpoint.ts";

export interface QueueDeps {
  readonly db: Database;
  readonly wakeLane: (lane: LaneKey) => void;
  /** Wakes the job that works through retry runs. */
  readonly onRun: () => void;
}

/**
 * Queues a test.ping, whatever the endpoint's subscriptions.
 * @returns the delivery's id, or empty if the endpoint is disabled @throws NOT_FOUND
 */
export async function sendTestEvent(deps: QueueDeps, owner: Owner, endpointId: string): Promise<string> {
  const lane = { merchantId: owner.merchantId, endpointId };
  const id = newId("delivery");
  const isQueued = await deps.db.transaction(async (tx) => {
    const endpoint = requireFound(await findEndpoint(tx, owner, endpointId));
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
    const endpoint = await findEndpoint(tx, owner, endpointId);
    if (!endpoint || !(await requeueDelivery(tx, lane, id))) throw new Failure("NOT_FOUND");
  });
  deps.wakeLane(lane);
}

/** Starts a retry of all failed deliveries that were queued at `since` or later. @throws NOT_FOUND */
export async function retryFailed(
  deps: QueueDeps,
  owner: Owner,
  endpointId: string,
  since: Date,
): Promise<RetryRunRow> {
  const { merchantId, environment } = owner;
  const run = await deps.db.transaction(async (tx) => {
    if (!(await findEndpoint(tx, owner, endpointId))) throw new Failure("NOT_FOUND");
    const fromId = firstDeliveryIdOf(Math.max(0, since.getTime()));
    const untilId = firstDeliveryIdOf(clockMs() + 1);
    return await insertRetryRun(tx, { merchantId, environment, id: newId("operation"), endpointId, fromId, untilId });
  });
  if (!run) throw new Failure("INTERNAL_ERROR");
  deps.onRun();
  return run;
}

/** The events to replay; no event types means those that the endpoint subscribes to. */
interface ReplayRange {
  readonly since: Date;
  readonly until: Date;
  readonly eventTypes: readonly string[];
}

/** Starts a replay of the range's events without a delivery to the endpoint. @throws NOT_FOUND, INVALID_BODY */
export async function replayEvents(
  deps: QueueDeps,
  owner: Owner,
  endpointId: string,
  range: ReplayRange,
): Promise<RetryRunRow> {
  const chosen = checkEventTypes(range.eventTypes);
  const { merchantId, environment } = owner;
  const run = await deps.db.transaction(async (tx) => {
    const endpoint = requireFound(await findEndpoint(tx, owner, endpointId));
    const eventTypes = chosen.length > 0 ? chosen : endpoint.eventTypes;
    return await insertReplayRun(tx, {
      ...{ merchantId, environment, id: newId("operation"), endpointId, eventTypes },
      ...{ fromId: eventIdFloor(range.since.getTime()), untilId: eventIdFloor(range.until.getTime()) },
    });
  });
  if (!run) throw new Failure("INTERNAL_ERROR");
  deps.onRun();
  return run;
}

// An id's time has 48 bits of milliseconds.
const latestMs = 2 ** 48 - 1;

/** The smallest event id of this time or later. */
export function eventIdFloor(ms: number): string {
  return idFloor("event", Math.min(Math.max(ms, 0), latestMs));
}

/** Queues the next deliveries of the oldest run of each kind, a transaction each. @returns false if there is no run */
export async function continueRuns({ db, wakeLane }: Pick<QueueDeps, "db" | "wakeLane">): Promise<boolean> {
  const lanes = [await db.transaction(stepRetryRun), await db.transaction(stepReplayRun)];
  for (const lane of lanes) if (lane !== "idle") wakeLane(lane);
  return lanes.some((lane) => lane !== "idle");
}
