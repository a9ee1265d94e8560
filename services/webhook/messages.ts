// Converts stored rows to the messages of webhook.v1.
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { parseTime } from "#platform/database/database.ts";
import { idTimeMs } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import {
  AnnouncedEventSchema,
  AttemptSchema,
  DeliverySchema,
  type Endpoint as EndpointMessage,
  EndpointSchema,
  EventTypeSchema,
  FindDeliveryResponseSchema,
  RetryRunSchema,
} from "#proto/webhook/v1/webhook_pb.ts";
import type { EventType } from "./rules/event-types.ts";
import type { AttemptRow } from "./store/attempts.ts";
import type { DeliveryRow, HealthRow } from "./store/deliveries.ts";
import type { FoundDelivery } from "./store/delivery-search.ts";
import type { Endpoint } from "./store/endpoints.ts";
import type { FeedRow } from "./store/event-feed.ts";
import type { EventRow } from "./store/events.ts";
import type { RetryRunRow } from "./store/retry-runs.ts";

// Of the fields of events.v1.Event in answers of EventService.
const eventSchemaVersion = 1;

export function toEndpoint(endpoint: Endpoint): EndpointMessage {
  return create(EndpointSchema, {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    eventTypes: [...endpoint.eventTypes],
    environment: endpoint.environment === 2 ? 2 : 1,
    status: endpoint.status,
    payload: endpoint.payload,
    createdAt: timestampFromDate(endpoint.createdAt),
  });
}

export function toDelivery(row: DeliveryRow) {
  const next = parseTime(row.next_attempt_at);
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
    createdAt: timestampFromDate(parseTime(row.created_at)),
  });
}

function toDeliveryWithoutPayload(row: DeliveryRow) {
  return { ...toDelivery(row), payload: new Uint8Array() };
}

export function toEventDelivery(row: DeliveryRow & { readonly endpoint_id: string }) {
  return { endpointId: row.endpoint_id, delivery: toDeliveryWithoutPayload(row) };
}

export function toFoundDelivery(row: FoundDelivery) {
  const finished = parseTime(row.finished_at);
  return create(FindDeliveryResponseSchema, {
    delivery: toDeliveryWithoutPayload(row),
    merchantId: row.merchant_id,
    environment: row.environment === 2 ? 2 : 1,
    endpointId: row.endpoint_id,
    // The path or query may hold a secret.
    endpointOrigin: new URL(row.url).origin,
    endpointStatus: row.endpoint_status,
    eventId: row.event_id ?? "",
    paymentId: row.payment_id ?? "",
    ...(finished && { finishedAt: timestampFromDate(finished) }),
  });
}

export function toAttempt(row: AttemptRow) {
  return create(AttemptSchema, {
    startedAt: timestampFromDate(parseTime(row.started_at)),
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

export function toHealth(row: HealthRow) {
  const oldest = parseTime(row.oldest_pending_at);
  return {
    delivered: BigInt(row.delivered),
    failed: BigInt(row.failed),
    pending: BigInt(row.pending),
    attempts: BigInt(row.attempts),
    failedAttempts: BigInt(row.attempts) - BigInt(row.delivered),
    ...(oldest ? { oldestPendingAt: timestampFromDate(oldest) } : {}),
  };
}

export function toRetryRun(row: RetryRunRow) {
  return create(RetryRunSchema, {
    id: row.id,
    endpointId: row.endpoint_id,
    status: row.status,
    total: BigInt(row.total),
    queued: BigInt(row.queued),
    createdAt: timestampFromDate(parseTime(row.created_at)),
  });
}

export function toEventType({ code, label, category, announcedAs }: EventType) {
  const isReserved = announcedAs === undefined && category !== "test";
  return create(EventTypeSchema, { code, label, category, isReserved });
}

export function toEvent({ id, type, payment_id, body, position }: EventRow) {
  const createdAt = timestampFromDate(new Date(idTimeMs(id)));
  const place = { position: BigInt(position ?? 0), createdAt };
  return create(AnnouncedEventSchema, { id, type, paymentId: payment_id ?? "", payload: body, ...place });
}

/** A row as a message of events.v1. Its body has the ids of the event's object and of the objects around it. */
export function toFeedEvent({ id, type, merchant_id: merchantId, body, version, amount, currency, ...row }: FeedRow) {
  const { type: _, status = "", ...ids }: Record<string, string> = JSON.parse(body.toString());
  return create(EventSchema, {
    ...{ id, type, merchantId, status },
    environment: row.environment === 2 ? 2 : 1,
    objectId:
      ids.refund_id ?? ids.dispute_id ?? ids.session_id ?? ids.payout_id ?? ids.report_id ?? ids.payment_id ?? "",
    occurredAt: timestampFromDate(new Date(idTimeMs(id))),
    attributes: { ...ids, ...(version !== null && { version: String(version) }) },
    ...(amount !== null && currency !== null && { money: { amount: BigInt(amount), currency } }),
    reference: row.reference ?? "",
    schemaVersion: eventSchemaVersion,
    position: BigInt(row.position),
  });
}
