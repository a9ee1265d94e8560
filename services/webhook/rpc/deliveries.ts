// The methods of webhook.v1.WebhookService for deliveries and events.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { keysetPage } from "#platform/lists/cursor.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import type { ListEventsRequest, WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import { eventIdFloor, type QueueDeps, replayEvents, retryDelivery, retryFailed } from "../flows/queue-delivery.ts";
import { unreachedPosition } from "../flows/watch-events.ts";
import {
  toAttempt,
  toDelivery,
  toEvent,
  toEventDelivery,
  toEventType,
  toFoundDelivery,
  toRetryRun,
} from "../messages.ts";
import { eventTypeProblem, eventTypes, listedCodes } from "../rules/event-types.ts";
import { listAttempts } from "../store/attempts.ts";
import {
  countFailed,
  type DeliveryState,
  deliveryExists,
  findDeliveryOf,
  listDeliveries,
  listPaymentDeliveries,
} from "../store/deliveries.ts";
import { findDelivery, listEventDeliveries } from "../store/delivery-search.ts";
import { findEndpoint } from "../store/endpoints.ts";
import { newestPosition } from "../store/event-feed.ts";
import { findEvent, listEvents, listEventsAfter } from "../store/events.ts";
import { parkedProblem } from "../store/parked-events.ts";
import { firstDeliveryIdOf } from "../store/partitions.ts";
import { findReplayRun } from "../store/replay-runs.ts";
import { findRetryRun } from "../store/retry-runs.ts";

type Methods = Partial<ServiceImpl<typeof WebhookService>>;

export function deliveryMethods(deps: QueueDeps) {
  return {
    async listDeliveries(request) {
      if (!(await findEndpoint(deps.db, request, request.endpointId))) throw new Failure("NOT_FOUND");
      const { merchantId, endpointId, pageToken, pageSize: limit } = request;
      assertEventType("event_type", request.eventType);
      const { page, nextPageToken } = await keysetPage("delivery", { limit, pageToken }, (before, wanted) =>
        listDeliveries(deps.db, {
          merchantId,
          endpointId,
          // The proto's rule admits no other value.
          state: (request.status || undefined) as DeliveryState | undefined,
          eventType: request.eventType || undefined,
          before: before || undefined,
          limit: wanted,
        }),
      );
      return { deliveries: page.map(toDelivery), nextPageToken };
    },
    async getDelivery(request) {
      const { merchantId, endpointId, deliveryId } = request;
      const endpoint = await findEndpoint(deps.db, request, endpointId);
      const row = requireFound(endpoint && (await findDeliveryOf(deps.db, { merchantId, endpointId }, deliveryId)));
      const attempts = await listAttempts(deps.db, merchantId, deliveryId);
      return { delivery: toDelivery(row), attempts: attempts.map(toAttempt) };
    },
    async retryDelivery(request) {
      await retryDelivery(deps, request, request.endpointId, request.deliveryId);
      return {};
    },
    async listAttempts(request) {
      const rows = await listAttempts(deps.db, request.merchantId, request.deliveryId);
      if (rows.length === 0 && !(await deliveryExists(deps.db, request.merchantId, request.deliveryId))) {
        throw new Failure("NOT_FOUND");
      }
      return { attempts: rows.map(toAttempt) };
    },
    async listPaymentDeliveries(request) {
      const rows = await listPaymentDeliveries(deps.db, request, request.paymentId);
      return { deliveries: rows.map((row) => ({ endpointId: row.endpoint_id, delivery: toDelivery(row) })) };
    },
    async retryFailedDeliveries(request) {
      const since = request.since ? timestampDate(request.since) : new Date(0);
      return { run: toRetryRun(await retryFailed(deps, request, request.endpointId, since)) };
    },
    async replayEvents(request) {
      const { endpointId, eventTypes } = request;
      const since = request.since ? timestampDate(request.since) : new Date(0);
      // An event of this millisecond may be announced already.
      const until = request.until ? timestampDate(request.until) : new Date(clockMs() + 1);
      const run = await replayEvents(deps, request, endpointId, { since, until, eventTypes });
      return { run: toRetryRun(run) };
    },
    async getRetryRun(request) {
      const row = requireFound(
        (await findRetryRun(deps.db, request, request.runId)) ?? (await findReplayRun(deps.db, request, request.runId)),
      );
      return { run: toRetryRun(row) };
    },
    async findDelivery(request) {
      const row = requireFound(await findDelivery(deps.db, request.deliveryId));
      return toFoundDelivery(row);
    },
    async listEventDeliveries({ merchantId, eventId }) {
      const rows = await listEventDeliveries(deps.db, merchantId, eventId);
      return { deliveries: rows.map(toEventDelivery), parked: await parkedProblem(deps.db, eventId) };
    },
    async countFailedDeliveries({ environment, merchantIds, since }) {
      const fromId = firstDeliveryIdOf(since ? timestampDate(since).getTime() : 0);
      const rows = await countFailed(deps.db, environment, merchantIds, fromId);
      return { failed: Object.fromEntries(rows.map(({ merchantId, failed }) => [merchantId, BigInt(failed)])) };
    },
  } satisfies Methods;
}

/** @throws Failure INVALID_BODY for an unknown code */
function assertEventType(field: string, code: string): void {
  const problem = code === "" ? undefined : eventTypeProblem(code);
  if (problem !== undefined) throw invalidField(field, problem);
}

const limitDefault = 50;

/** A page by position. @throws Failure INVALID_BODY */
async function listAfter(db: QueueDeps["db"], request: ListEventsRequest, after: bigint) {
  const { type, paymentId, since, until, pageToken } = request;
  const others = { page_token: pageToken || undefined, since, until };
  for (const [field, value] of Object.entries(others)) {
    if (value !== undefined) throw invalidField(field, "must not be used with after_position");
  }
  const limit = request.pageSize || limitDefault;
  const types = type === "" ? listedCodes : [type];
  const page = await listEventsAfter(db, request, after, { types, paymentId: paymentId || undefined, limit });
  const { rows, nextPosition, hasMore } = page;
  if (nextPosition === after) {
    const newest = await newestPosition(db);
    if (after > newest) throw unreachedPosition(newest);
  }
  return { events: rows.map(toEvent), nextPosition, hasMore };
}

export function eventMethods({ db }: Pick<QueueDeps, "db">) {
  return {
    listEventTypes() {
      return { eventTypes: eventTypes.map(toEventType) };
    },
    async listEvents(request) {
      const { type, paymentId, since, until, pageSize: limit, pageToken } = request;
      assertEventType("type", type);
      if (request.afterPosition !== undefined) return await listAfter(db, request, request.afterPosition);
      const bounds = {
        fromId: eventIdFloor(since ? timestampDate(since).getTime() : 0),
        untilId: eventIdFloor(until ? timestampDate(until).getTime() : Number.POSITIVE_INFINITY),
      };
      const { page, nextPageToken } = await keysetPage("event", { limit, pageToken }, (beforeId, wanted) =>
        listEvents(db, request, {
          types: type === "" ? listedCodes : [type],
          paymentId: paymentId || undefined,
          fromId: bounds.fromId,
          untilId: beforeId !== "" && beforeId < bounds.untilId ? beforeId : bounds.untilId,
          limit: wanted,
        }),
      );
      return { events: page.map(toEvent), nextPageToken };
    },
    async getEvent(request) {
      const event = requireFound(await findEvent(db, request, request.eventId));
      const rows = await listEventDeliveries(db, request.merchantId, event.id);
      return { event: toEvent(event), deliveries: rows.map(toEventDelivery) };
    },
  } satisfies Methods;
}
