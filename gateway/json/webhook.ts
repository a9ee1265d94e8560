// Webhook endpoints, deliveries and event types as public JSON (docs/contract.md §9).

import { type Static, Type } from "typebox";
import { membersOf } from "#platform/values/members.ts";
import type { Delivery, Endpoint, EventType } from "#proto/webhook/v1/webhook_pb.ts";
import { component } from "./parts/component.ts";
import {
  environmentSchema,
  environmentText,
  given,
  idSchema,
  textSchema,
  timeSchema,
  timeText,
  timeTextOf,
  wordSchema,
} from "./parts/field.ts";

export const endpointStatuses = ["active", "disabled"] as const;

const endpoint = {
  id: idSchema("endpoint"),
  url: textSchema("Normalized https URL.", "https://shop.example.com/hooks"),
  description: Type.Optional(textSchema("Free-text label.")),
  event_types: Type.Array(Type.String(), { description: "Subscribed event codes.", examples: [["payment.succeeded"]] }),
  environment: environmentSchema,
  status: wordSchema(endpointStatuses, "A disabled endpoint gets no new deliveries."),
};

export const EndpointJson = component("WebhookEndpoint", Type.Object(endpoint));

export const EndpointWithSecret = component(
  "WebhookEndpointWithSecret",
  Type.Object({
    ...endpoint,
    signing_secret: textSchema("Key of the signatures, prefix included; in this answer only.", "whsec_…"),
  }),
);

export const EndpointStatus = component(
  "WebhookEndpointStatus",
  Type.Object({ id: idSchema("endpoint"), status: wordSchema(endpointStatuses, "The status after the change.") }),
);

export const DeliveryJson = component(
  "WebhookDelivery",
  Type.Object({
    id: idSchema("delivery"),
    event_type: textSchema("Event code.", "payment.succeeded"),
    attempts: Type.Integer({ description: "Attempts made since it was queued.", examples: [1] }),
    delivered: Type.Boolean({ description: "A 2xx came back.", examples: [true] }),
    failed: Type.Boolean({ description: "Attempts are exhausted.", examples: [false] }),
    status_code: Type.Integer({ description: "The last attempt's HTTP status; 0: none came back.", examples: [200] }),
    last_error: Type.Optional(textSchema("Why the last attempt failed.")),
    next_attempt_at: Type.Optional(timeSchema("Only while pending.")),
    payload: Type.Unsafe<Record<string, unknown>>({
      type: "object",
      additionalProperties: true,
      description: "The body that is sent.",
      examples: [{ type: "payment.succeeded", payment_id: "pay_01jd3v9q6k8m2n4p6r8t0v2x4z", status: "succeeded" }],
    }),
    created_at: timeSchema("When it was queued."),
  }),
);

export const EventTypeJson = component(
  "EventType",
  Type.Object({
    code: textSchema("What endpoints subscribe to.", "payment.succeeded"),
    label: textSchema("For people.", "Payment succeeded"),
    category: textSchema("`payment`, `dispute` or `test`.", "payment"),
  }),
);

/** An endpoint without its secret. */
export function presentEndpoint(wire: Endpoint | undefined): Static<typeof EndpointJson> {
  if (!wire) throw new Error("the endpoint is missing");
  return {
    id: wire.id,
    url: wire.url,
    ...given("description", wire.description),
    event_types: wire.eventTypes,
    environment: environmentText(wire.environment),
    status: endpointStatus(wire.status),
  };
}

/** The answer that carries the secret. */
export function presentEndpointWithSecret(answer: {
  endpoint?: Endpoint | undefined;
  signingSecret: string;
}): Static<typeof EndpointWithSecret> {
  return { ...presentEndpoint(answer.endpoint), signing_secret: answer.signingSecret };
}

/** @throws when the webhook service answers a status that the contract does not have. */
export function endpointStatus(text: string): (typeof endpointStatuses)[number] {
  const status = endpointStatuses.find((known) => known === text);
  if (!status) throw new Error("unknown endpoint status");
  return status;
}

/** A delivery with its body as JSON. */
export function presentDelivery(delivery: Delivery): Static<typeof DeliveryJson> {
  const payload: unknown = JSON.parse(new TextDecoder().decode(delivery.payload));
  return {
    id: delivery.id,
    event_type: delivery.eventType,
    attempts: delivery.attempts,
    delivered: delivery.delivered,
    failed: delivery.failed,
    status_code: delivery.statusCode,
    ...given("last_error", delivery.lastError),
    ...given("next_attempt_at", timeText(delivery.nextAttemptAt)),
    payload: Object.fromEntries(Object.entries(membersOf(payload))),
    created_at: timeTextOf(delivery.createdAt),
  };
}

/** A line of the catalogue. */
export function presentEventType(type: EventType): Static<typeof EventTypeJson> {
  return { code: type.code, label: type.label, category: type.category };
}
