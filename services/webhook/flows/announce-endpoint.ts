// What the other replicas, and whoever listens, are told of endpoints: events `endpoint.created`, `endpoint.updated`,
// `endpoint.secret_rolled` and `endpoint.deleted` of source webhook; object_id is the endpoint, status its status or
// `deleted`. No attributes.
import type { Announcement } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { Endpoint } from "../store/endpoints.ts";

export type EndpointEvent = "endpoint.created" | "endpoint.updated" | "endpoint.secret_rolled" | "endpoint.deleted";

export function endpointAnnouncement(type: EndpointEvent, endpoint: Endpoint, status: string): Announcement {
  return {
    type,
    merchantId: endpoint.merchantId,
    environment: endpoint.environment === 2 ? 2 : 1,
    objectId: endpoint.id,
    status,
    at: clockNow(),
  };
}
