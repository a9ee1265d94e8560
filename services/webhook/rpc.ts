// The door of the webhook service: every method of webhook.v1.WebhookService, in the order of its proto. Converts wire to rule
// types and back; decides nothing.
import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import { time } from "#platform/database.ts";
import { Failure } from "#platform/failure.ts";
import { isId } from "#platform/id.ts";
import {
  AttemptSchema,
  DeliverySchema,
  EndpointSchema,
  EventTypeSchema,
  RetryRunSchema,
  WebhookService,
  type Endpoint as WireEndpoint,
} from "#proto/webhook/v1/webhook_pb.ts";
import { type ChangeDeps, deleteEndpoint, rollEndpointSecret, setEndpointStatus } from "./flows/change-endpoint.ts";
import { createEndpoint, type EndpointDeps } from "./flows/create-endpoint.ts";
import { type QueueDeps, retryDelivery, sendTestEvent } from "./flows/queue-delivery.ts";
import { type RetryFailedDeps, retryFailed } from "./flows/retry-failed.ts";
import { eventTypes } from "./rules/event-types.ts";
import { type AttemptRow, listAttempts } from "./store/attempts.ts";
import {
  type DeliveryRow,
  type DeliveryState,
  deliveryExists,
  endpointHealth,
  type HealthRow,
  listDeliveries,
  listPaymentDeliveries,
} from "./store/deliveries.ts";
import { type Endpoint, findEndpoint, listEndpoints } from "./store/endpoints.ts";
import { firstDeliveryIdOf } from "./store/partitions.ts";
import { findRetryRun, type RetryRunRow } from "./store/retry-runs.ts";

export type RpcDeps = EndpointDeps & ChangeDeps & QueueDeps & RetryFailedDeps;

const pageSizeDefault = 50;
const healthWindowSeconds = 3_600;

/** The routes of the service. */
export function webhookRoutes(deps: RpcDeps): (router: ConnectRouter) => void {
  return (router) =>
    router.service(WebhookService, {
      async createEndpoint(request) {
        const { endpoint, signingSecret } = await createEndpoint(deps, request);
        return { endpoint: wireEndpoint(endpoint), signingSecret };
      },
      async listEndpoints(request) {
        return { endpoints: (await listEndpoints(deps.db.em(), request)).map(wireEndpoint) };
      },
      async updateEndpoint(request) {
        const status = request.status === "active" ? "active" : "disabled";
        return { endpoint: wireEndpoint(await setEndpointStatus(deps, request, request.endpointId, status)) };
      },
      async deleteEndpoint(request) {
        await deleteEndpoint(deps, request, request.endpointId);
        return {};
      },
      async rollEndpointSecret(request) {
        const { endpoint, signingSecret } = await rollEndpointSecret(deps, request, request.endpointId);
        return { endpoint: wireEndpoint(endpoint), signingSecret };
      },
      async listDeliveries(request) {
        if (!(await findEndpoint(deps.db.em(), request, request.endpointId))) throw new Failure("NOT_FOUND");
        const limit = request.pageSize || pageSizeDefault;
        const rows = await listDeliveries(deps.db, {
          merchantId: request.merchantId,
          endpointId: request.endpointId,
          state: stateOf(request.status),
          eventType: request.eventType || undefined,
          before: pageBefore(request.pageToken),
          limit: limit + 1,
        });
        const page = rows.slice(0, limit);
        const last = rows.length > limit ? page.at(-1) : undefined;
        return { deliveries: page.map(wireDelivery), nextPageToken: last ? pageToken(last.id) : "" };
      },
      async retryDelivery(request) {
        await retryDelivery(deps, request, request.endpointId, request.deliveryId);
        return {};
      },
      async sendTestEvent(request) {
        return { deliveryId: await sendTestEvent(deps, request, request.endpointId) };
      },
      listEventTypes() {
        return {
          eventTypes: eventTypes.map(({ code, label, category }) => create(EventTypeSchema, { code, label, category })),
        };
      },
      async listAttempts(request) {
        const rows = await listAttempts(deps.db, request.merchantId, request.deliveryId);
        if (rows.length === 0 && !(await deliveryExists(deps.db, request.merchantId, request.deliveryId))) {
          throw new Failure("NOT_FOUND");
        }
        return { attempts: rows.map(wireAttempt) };
      },
      async listPaymentDeliveries(request) {
        const rows = await listPaymentDeliveries(deps.db, request, request.paymentId);
        return { deliveries: rows.map((row) => ({ endpointId: row.endpoint_id, delivery: wireDelivery(row) })) };
      },
      async getEndpointHealth(request) {
        if (!(await findEndpoint(deps.db.em(), request, request.endpointId))) throw new Failure("NOT_FOUND");
        const windowMs = (request.windowSeconds || healthWindowSeconds) * 1_000;
        const row = await endpointHealth(deps.db, request, firstDeliveryIdOf(Date.now() - windowMs));
        return row ? wireHealth(row) : {};
      },
      async retryFailedDeliveries(request) {
        const since = request.since ? timestampDate(request.since) : new Date(0);
        return { run: wireRun(await retryFailed(deps, request, request.endpointId, since)) };
      },
      async getRetryRun(request) {
        const row = await findRetryRun(deps.db, request, request.runId);
        if (!row) throw new Failure("NOT_FOUND");
        return { run: wireRun(row) };
      },
    });
}

function stateOf(status: string): DeliveryState | undefined {
  return status === "pending" || status === "delivered" || status === "failed" ? status : undefined;
}

/** Page tokens are the last id of a page, in a form that invites nobody to build one. */
function pageToken(id: string): string {
  return Buffer.from(id).toString("base64url");
}

function pageBefore(token: string): string | undefined {
  if (token === "") return undefined;
  const id = Buffer.from(token, "base64url").toString("utf8");
  if (!isId("delivery", id)) {
    throw new Failure("INVALID_BODY", {
      violations: [{ field: "page_token", problem: "must be from an answer before" }],
    });
  }
  return id;
}

function wireEndpoint(endpoint: Endpoint): WireEndpoint {
  return create(EndpointSchema, {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    eventTypes: endpoint.eventTypes,
    environment: endpoint.environment === 2 ? 2 : 1,
    status: endpoint.status,
    createdAt: timestampFromDate(endpoint.createdAt),
  });
}

function wireDelivery(row: DeliveryRow) {
  const next = time(row.next_attempt_at);
  return create(DeliverySchema, {
    id: row.id,
    eventType: row.event_type,
    attempts: row.attempts,
    delivered: row.state === "delivered",
    failed: row.state === "failed",
    statusCode: row.status_code,
    lastError: row.last_error,
    ...(next ? { nextAttemptAt: timestampFromDate(next) } : {}),
    payload: row.body,
    createdAt: timestampFromDate(time(row.created_at)),
  });
}

function wireAttempt(row: AttemptRow) {
  return create(AttemptSchema, {
    startedAt: timestampFromDate(time(row.started_at)),
    trigger: row.trigger,
    statusCode: row.status_code,
    errorCode: row.error_code,
    durationMs: row.duration_ms,
    dnsMs: row.dns_ms,
    connectMs: row.connect_ms,
    tlsMs: row.tls_ms,
    firstByteMs: row.first_byte_ms,
    responseSnippet: row.response_snippet,
  });
}

function wireHealth(row: HealthRow) {
  const oldest = time(row.oldest_pending_at);
  return {
    delivered: BigInt(row.delivered),
    failed: BigInt(row.failed),
    pending: BigInt(row.pending),
    attempts: BigInt(row.attempts),
    failedAttempts: BigInt(row.attempts) - BigInt(row.delivered),
    ...(oldest ? { oldestPendingAt: timestampFromDate(oldest) } : {}),
  };
}

function wireRun(row: RetryRunRow) {
  return create(RetryRunSchema, {
    id: row.id,
    endpointId: row.endpoint_id,
    status: row.status,
    total: BigInt(row.total),
    queued: BigInt(row.queued),
    createdAt: timestampFromDate(time(row.created_at)),
  });
}
