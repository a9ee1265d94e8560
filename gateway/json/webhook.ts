// Webhook endpoints and deliveries as public JSON (docs/contract.md §9).
import { type Static, Type } from "typebox";
import type {
  Attempt,
  Delivery,
  Endpoint,
  GetEndpointHealthResponse,
  PaymentDelivery,
  RetryRun,
} from "#proto/webhook/v1/webhook_pb.ts";
import { payloadOf, payloadSchema } from "./event.ts";
import {
  component,
  enumSchema,
  environmentSchema,
  environmentText,
  idSchema,
  numberOf,
  optionalField,
  secretSchema,
  textSchema,
  timeSchema,
  timeText,
  timeTextOf,
} from "./parts/field.ts";

export const endpointStatuses = ["active", "disabled"] as const;

const endpoint = {
  id: idSchema("endpoint"),
  url: textSchema("Normalized https URL.", "https://shop.example.com/hooks"),
  description: Type.Optional(textSchema("Free-text label.")),
  event_types: Type.Array(Type.String(), { description: "Subscribed event codes.", examples: [["payment.succeeded"]] }),
  environment: environmentSchema,
  status: enumSchema(endpointStatuses, "A disabled endpoint gets no new deliveries."),
};

export const EndpointJson = component("WebhookEndpoint", Type.Object(endpoint));

export const EndpointWithSecret = component(
  "WebhookEndpointWithSecret",
  Type.Object({
    ...endpoint,
    signing_secret: secretSchema("Key of the signatures, prefix included; in this answer only.", "whsec_…"),
  }),
);

const delivery = {
  id: idSchema("delivery"),
  event_type: textSchema("Event code.", "payment.succeeded"),
  attempts: Type.Integer({ description: "Attempts made since it was queued.", examples: [1] }),
  delivered: Type.Boolean({ description: "A 2xx came back.", examples: [true] }),
  failed: Type.Boolean({ description: "Attempts are exhausted.", examples: [false] }),
  status_code: Type.Integer({ description: "The last attempt's HTTP status; 0: none came back.", examples: [200] }),
  last_error: Type.Optional(textSchema("Why the last attempt failed.")),
  next_attempt_at: Type.Optional(timeSchema("Only while pending.")),
  payload: payloadSchema("The body that is sent."),
  created_at: timeSchema("When it was queued."),
};

export const DeliveryJson = component("WebhookDelivery", Type.Object(delivery));

const milliseconds = (what: string) => Type.Integer({ description: `${what}, milliseconds.`, examples: [12] });

const AttemptJson = component(
  "DeliveryAttempt",
  Type.Object({
    started_at: timeSchema("When it began."),
    trigger: textSchema("`auto`, `manual` or `test`.", "auto"),
    status_code: Type.Integer({ description: "HTTP status of your answer; 0: none came back.", examples: [500] }),
    error_code: Type.Optional(textSchema("Why it failed; expect further codes.", "timeout")),
    duration_ms: milliseconds("The whole attempt"),
    dns_ms: milliseconds("Name resolution; 0: an open connection was used again"),
    connect_ms: milliseconds("TCP connect; 0: as dns_ms"),
    tls_ms: milliseconds("TLS handshake; 0: as dns_ms"),
    first_byte_ms: milliseconds("Until the first byte of the answer"),
    response_snippet: Type.Optional(textSchema("The first 1 KiB of an answer that was no success.")),
  }),
);

export const DeliveryWithAttempts = component(
  "WebhookDeliveryWithAttempts",
  Type.Object({
    ...delivery,
    attempt_log: Type.Array(AttemptJson, { description: "The latest 100, newest first." }),
  }),
);

export const PaymentDeliveryJson = component(
  "PaymentWebhookDelivery",
  Type.Object({ ...delivery, endpoint_id: idSchema("endpoint", "Where it goes.") }),
);

export const EndpointHealthJson = component(
  "WebhookEndpointHealth",
  Type.Object({
    delivered: Type.Integer({ description: "Deliveries of the window that were delivered.", examples: [1190] }),
    failed: Type.Integer({ description: "That were given up.", examples: [2] }),
    pending: Type.Integer({ description: "That are still tried.", examples: [8] }),
    attempts: Type.Integer({ description: "Attempts for all of them.", examples: [1215] }),
    failed_attempts: Type.Integer({ description: "Attempts that failed.", examples: [25] }),
    oldest_pending_at: Type.Optional(
      timeSchema("Since when the longest waiting delivery of all waits; absent: none does."),
    ),
  }),
);

export const RetryRunJson = component(
  "WebhookRetryRun",
  Type.Object({
    id: textSchema("`op_…`.", "op_01jd3v9q6k8m2n4p6r8t0v2x4z"),
    endpoint_id: idSchema("endpoint"),
    status: enumSchema(["running", "finished"], "Whether it goes on."),
    total: Type.Integer({ description: "Failed deliveries when it began.", examples: [1200] }),
    queued: Type.Integer({ description: "Put back into the queue so far.", examples: [400] }),
    created_at: timeSchema("When it began."),
  }),
);

/** An endpoint without its secret. */
export function presentEndpoint(wire: Endpoint | undefined): Static<typeof EndpointJson> {
  if (!wire) throw new Error("the endpoint is missing");
  return {
    id: wire.id,
    url: wire.url,
    ...optionalField("description", wire.description),
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
function endpointStatus(text: string): (typeof endpointStatuses)[number] {
  const status = endpointStatuses.find((known) => known === text);
  if (!status) throw new Error("unknown endpoint status");
  return status;
}

/** A delivery with its body as JSON. */
export function presentDelivery(delivery: Delivery): Static<typeof DeliveryJson> {
  return {
    id: delivery.id,
    event_type: delivery.eventType,
    attempts: delivery.attempts,
    delivered: delivery.delivered,
    failed: delivery.failed,
    status_code: delivery.statusCode,
    ...optionalField("last_error", delivery.lastError),
    ...optionalField("next_attempt_at", timeText(delivery.nextAttemptAt)),
    payload: payloadOf(delivery.payload),
    created_at: timeTextOf(delivery.createdAt),
  };
}

/** One delivery with what was tried. */
export function presentDeliveryWithAttempts(answer: {
  delivery?: Delivery | undefined;
  attempts: readonly Attempt[];
}): Static<typeof DeliveryWithAttempts> {
  if (!answer.delivery) throw new Error("the delivery is missing");
  return { ...presentDelivery(answer.delivery), attempt_log: answer.attempts.map(presentAttempt) };
}

function presentAttempt(attempt: Attempt): Static<typeof AttemptJson> {
  return {
    started_at: timeTextOf(attempt.startedAt),
    trigger: attempt.trigger,
    status_code: attempt.statusCode,
    ...optionalField("error_code", attempt.errorCode),
    duration_ms: attempt.durationMs,
    dns_ms: attempt.dnsMs,
    connect_ms: attempt.connectMs,
    tls_ms: attempt.tlsMs,
    first_byte_ms: attempt.firstByteMs,
    ...optionalField("response_snippet", attempt.responseSnippet),
  };
}

/** A delivery of a payment's event. */
export function presentPaymentDelivery(sent: PaymentDelivery): Static<typeof PaymentDeliveryJson> {
  if (!sent.delivery) throw new Error("the delivery is missing");
  return { ...presentDelivery(sent.delivery), endpoint_id: sent.endpointId };
}

/** How an endpoint has done. */
export function presentEndpointHealth(health: GetEndpointHealthResponse): Static<typeof EndpointHealthJson> {
  return {
    delivered: numberOf(health.delivered),
    failed: numberOf(health.failed),
    pending: numberOf(health.pending),
    attempts: numberOf(health.attempts),
    failed_attempts: numberOf(health.failedAttempts),
    ...optionalField("oldest_pending_at", timeText(health.oldestPendingAt)),
  };
}

/** How far a run has come. */
export function presentRetryRun(run: RetryRun | undefined): Static<typeof RetryRunJson> {
  if (!run) throw new Error("the run is missing");
  return {
    id: run.id,
    endpoint_id: run.endpointId,
    status: run.status === "finished" ? "finished" : "running",
    total: numberOf(run.total),
    queued: numberOf(run.queued),
    created_at: timeTextOf(run.createdAt),
  };
}
