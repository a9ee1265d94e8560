// webhook.v1.WebhookService: methods for endpoints, deliveries and events.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { IdempotencyScope } from "#platform/database/idempotency.ts";
import { keysetPage } from "#platform/lists/cursor.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { idFloor } from "#platform/values/id.ts";
import type { Idempotency } from "#proto/payments/v1/payments_pb.ts";
import type { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import { type ChangeDeps, changeEndpoint, deleteEndpoint, rollEndpointSecret } from "../flows/change-endpoint.ts";
import { createEndpoint, type EndpointDeps } from "../flows/create-endpoint.ts";
import { type QueueDeps, retryDelivery, retryFailed, sendTestEvent } from "../flows/queue-delivery.ts";
import {
  toAttempt,
  toDelivery,
  toEndpoint,
  toEvent,
  toEventDelivery,
  toEventType,
  toFoundDelivery,
  toHealth,
  toRetryRun,
} from "../messages.ts";
import { eventTypes, listedCodes } from "../rules/event-types.ts";
import { listAttempts } from "../store/attempts.ts";
import {
  type DeliveryState,
  deliveryExists,
  endpointHealth,
  findDeliveryOf,
  listDeliveries,
  listPaymentDeliveries,
} from "../store/deliveries.ts";
import { findDelivery, listEventDeliveries } from "../store/delivery-search.ts";
import { type EndpointStatus, findEndpoint, listEndpoints } from "../store/endpoints.ts";
import { findEvent, listEvents } from "../store/events.ts";
import { parkedProblem } from "../store/parked-events.ts";
import { firstDeliveryIdOf } from "../store/partitions.ts";
import { findRetryRun } from "../store/retry-runs.ts";

type RpcDeps = EndpointDeps & ChangeDeps & QueueDeps;

const healthWindowSeconds = 3_600;

type Methods = Partial<ServiceImpl<typeof WebhookService>>;

export function webhooksRpc(deps: RpcDeps): ServiceImpl<typeof WebhookService> {
  return { ...endpointMethods(deps), ...deliveryMethods(deps), ...eventMethods(deps) };
}

function endpointMethods(deps: RpcDeps) {
  return {
    async createEndpoint(request) {
      return await createEndpoint(deps, { ...request, idempotency: scopeOf(request, request.idempotency) });
    },
    async listEndpoints(request) {
      return { endpoints: (await listEndpoints(deps.db.em(), request)).map(toEndpoint) };
    },
    async getEndpoint(request) {
      const endpoint = await findEndpoint(deps.db.em(), request, request.endpointId);
      if (!endpoint) throw new Failure("NOT_FOUND");
      return { endpoint: toEndpoint(endpoint) };
    },
    async updateEndpoint(request) {
      const { status, url, eventTypes, description } = request;
      const change = {
        // The proto's rule admits no other value.
        status: (status || undefined) as EndpointStatus | undefined,
        url: url || undefined,
        eventTypes: eventTypes.length > 0 ? eventTypes : undefined,
        description,
      };
      return { endpoint: toEndpoint(await changeEndpoint(deps, request, request.endpointId, change)) };
    },
    async deleteEndpoint(request) {
      await deleteEndpoint(deps, request, request.endpointId);
      return {};
    },
    async rollEndpointSecret(request) {
      const { endpoint, signingSecret } = await rollEndpointSecret(deps, request, request.endpointId);
      return { endpoint: toEndpoint(endpoint), signingSecret };
    },
    async sendTestEvent(request) {
      return { deliveryId: await sendTestEvent(deps, request, request.endpointId) };
    },
    async getEndpointHealth(request) {
      if (!(await findEndpoint(deps.db.em(), request, request.endpointId))) throw new Failure("NOT_FOUND");
      const windowMs = (request.windowSeconds || healthWindowSeconds) * 1_000;
      const row = await endpointHealth(deps.db, request, firstDeliveryIdOf(clockMs() - windowMs));
      return row ? toHealth(row) : {};
    },
  } satisfies Methods;
}

function deliveryMethods(deps: RpcDeps) {
  return {
    async listDeliveries(request) {
      if (!(await findEndpoint(deps.db.em(), request, request.endpointId))) throw new Failure("NOT_FOUND");
      const { merchantId, endpointId, pageToken, pageSize: limit } = request;
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
      const endpoint = await findEndpoint(deps.db.em(), request, endpointId);
      const row = endpoint && (await findDeliveryOf(deps.db, { merchantId, endpointId }, deliveryId));
      if (!row) throw new Failure("NOT_FOUND");
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
    async getRetryRun(request) {
      const row = await findRetryRun(deps.db, request, request.runId);
      if (!row) throw new Failure("NOT_FOUND");
      return { run: toRetryRun(row) };
    },
    async findDelivery(request) {
      const row = await findDelivery(deps.db, request.deliveryId);
      if (!row) throw new Failure("NOT_FOUND");
      return toFoundDelivery(row);
    },
    async listEventDeliveries({ merchantId, eventId }) {
      const rows = await listEventDeliveries(deps.db, merchantId, eventId);
      return { deliveries: rows.map(toEventDelivery), parked: await parkedProblem(deps.db, eventId) };
    },
  } satisfies Methods;
}

function eventMethods({ db }: RpcDeps) {
  return {
    listEventTypes() {
      return { eventTypes: eventTypes.map(toEventType) };
    },
    async listEvents(request) {
      const { type, paymentId, since, until, pageSize: limit, pageToken } = request;
      const bounds = { fromId: eventIdFloor(since, earliestMs), untilId: eventIdFloor(until, latestMs) };
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
      const event = await findEvent(db, request, request.eventId);
      if (!event) throw new Failure("NOT_FOUND");
      const rows = await listEventDeliveries(db, request.merchantId, event.id);
      return { event: toEvent(event), deliveries: rows.map(toEventDelivery) };
    },
  } satisfies Methods;
}

// An id's time has 48 bits of milliseconds.
const [earliestMs, latestMs] = [0, 2 ** 48];

/** The smallest event id of this time or later. */
function eventIdFloor(time: Parameters<typeof timestampDate>[0] | undefined, defaultMs: number): string {
  const ms = time ? timestampDate(time).getTime() : defaultMs;
  return idFloor("event", Math.min(Math.max(ms, earliestMs), latestMs));
}

function scopeOf(
  { merchantId, environment }: Pick<IdempotencyScope, "merchantId" | "environment">,
  idempotency: Idempotency | undefined,
): IdempotencyScope | undefined {
  if (!idempotency) return undefined;
  const { key, fingerprint } = idempotency;
  return { merchantId, environment, operation: "create_endpoint", key, fingerprint };
}
