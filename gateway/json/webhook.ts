// Webhook endpoints and deliveries as public JSON (docs/contract.md §9).
import { type Static, Type } from "typebox";
import type { Delivery, Endpoint, GetDeliveryResponse, PaymentDelivery } from "#proto/webhook/v1/webhook_pb.ts";
import {
  enumSchema,
  environmentSchema,
  idSchema,
  jsonComponent,
  secretSchema,
  textSchema,
  timeSchema,
} from "../../services/public-json/field.ts";
import { presentMessage } from "../../services/public-json/present.ts";
import { payloadOf, payloadSchema } from "./event.ts";

export const endpointStatuses = ["active", "disabled"] as const;

const payloads = ["reference", "object"] as const;

export const payloadInput = enumSchema(
  payloads,
  "`reference`: deliveries have the ids and the status of the event's object; `object`: the object as `GET` answers it, with a `sequence` that orders its states.",
);

const endpoint = {
  id: idSchema("endpoint"),
  url: textSchema("Normalized https URL.", "https://shop.example.com/hooks"),
  description: Type.Optional(textSchema("Free-text label.")),
  event_types: Type.Array(Type.String(), { description: "Subscribed event codes.", examples: [["payment.succeeded"]] }),
  environment: environmentSchema,
  status: enumSchema(endpointStatuses, "A disabled endpoint gets no new deliveries."),
  payload: payloadInput,
};

export const EndpointJson = jsonComponent("WebhookEndpoint", Type.Object(endpoint));

export const EndpointWithSecret = jsonComponent(
  "WebhookEndpointWithSecret",
  Type.Object({
    ...endpoint,
    signing_secret: secretSchema("Signing key, including the prefix. Only this response contains it.", "whsec_…"),
    standard_secret: secretSchema(
      "The same secret in the form that Standard Webhooks libraries read. Only this response contains it.",
      "whsec_…",
    ),
  }),
);

const delivery = {
  id: idSchema("delivery"),
  event_type: textSchema("Event code.", "payment.succeeded"),
  attempts: Type.Integer({ description: "Attempts since the delivery was queued.", examples: [1] }),
  delivered: Type.Boolean({ description: "Your server answered 2xx.", examples: [true] }),
  failed: Type.Boolean({ description: "All attempts are used up.", examples: [false] }),
  status_code: Type.Integer({ description: "HTTP status of the last attempt; 0: no response.", examples: [200] }),
  last_error: Type.Optional(textSchema("Why the last attempt failed.")),
  next_attempt_at: Type.Optional(timeSchema("Time of the next attempt, while pending.")),
  payload: payloadSchema("The delivery's body."),
  created_at: timeSchema("When the delivery was queued."),
};

export const DeliveryJson = jsonComponent("WebhookDelivery", Type.Object(delivery));

const milliseconds = (what: string) => Type.Integer({ description: `${what}, milliseconds.`, examples: [12] });

const AttemptJson = jsonComponent(
  "DeliveryAttempt",
  Type.Object({
    started_at: timeSchema("When the attempt began."),
    trigger: textSchema("`auto`, `manual` or `test`.", "auto"),
    status_code: Type.Integer({ description: "HTTP status of your response; 0: no response.", examples: [500] }),
    error_code: Type.Optional(textSchema("Cause of the failure; further codes may be added.", "timeout")),
    duration_ms: milliseconds("The whole attempt"),
    dns_ms: milliseconds("Name resolution; 0 on a reused connection"),
    connect_ms: milliseconds("TCP connect; 0 on a reused connection"),
    tls_ms: milliseconds("TLS handshake; 0 on a reused connection"),
    first_byte_ms: milliseconds("Time to the first byte of the response"),
    response_snippet: Type.Optional(textSchema("The first 1 KiB of an unsuccessful response.")),
  }),
);

export const DeliveryWithAttempts = jsonComponent(
  "WebhookDeliveryWithAttempts",
  Type.Object({
    ...delivery,
    attempt_log: Type.Array(AttemptJson, { description: "The latest 100, newest first." }),
  }),
);

export const PaymentDeliveryJson = jsonComponent(
  "PaymentWebhookDelivery",
  Type.Object({ ...delivery, endpoint_id: idSchema("endpoint", "The receiving endpoint.") }),
);

export const EndpointHealthJson = jsonComponent(
  "WebhookEndpointHealth",
  Type.Object({
    delivered: Type.Integer({ description: "Successful deliveries in the window.", examples: [1190] }),
    failed: Type.Integer({ description: "Failed deliveries in the window.", examples: [2] }),
    pending: Type.Integer({ description: "Pending deliveries in the window.", examples: [8] }),
    attempts: Type.Integer({ description: "Attempts for these deliveries.", examples: [1215] }),
    failed_attempts: Type.Integer({ description: "Failed attempts for these deliveries.", examples: [25] }),
    oldest_pending_at: Type.Optional(
      timeSchema("When the oldest pending delivery of the endpoint was queued; absent: no pending delivery."),
    ),
  }),
);

export const RetryRunJson = jsonComponent(
  "WebhookRetryRun",
  Type.Object({
    id: textSchema("`op_…`.", "op_01jd3v9q6k8m2n4p6r8t0v2x4z"),
    endpoint_id: idSchema("endpoint"),
    status: enumSchema(["running", "finished"], "State of the run."),
    total: Type.Integer({
      description: "Failed, or missing, deliveries when the run began; missing ones are counted up to 100,000.",
      examples: [1200],
    }),
    queued: Type.Integer({ description: "Deliveries queued so far.", examples: [400] }),
    created_at: timeSchema("When the run began."),
  }),
);

export function presentEndpoint(endpoint: Endpoint | undefined): Static<typeof EndpointJson> {
  // A response stored by an earlier release has none.
  return presentMessage(EndpointJson, endpoint, { payload: endpoint?.payload === "object" ? "object" : "reference" });
}

export function presentEndpointWithSecret(answer: {
  endpoint?: Endpoint | undefined;
  signingSecret: string;
  standardSecret: string;
}): Static<typeof EndpointWithSecret> {
  const { endpoint, signingSecret, standardSecret } = answer;
  return { ...presentEndpoint(endpoint), signing_secret: signingSecret, standard_secret: standardSecret };
}

export function presentDelivery(delivery: Delivery): Static<typeof DeliveryJson> {
  return presentMessage(DeliveryJson, delivery, { payload: payloadOf(delivery.payload) });
}

export function presentDeliveryWithAttempts({
  delivery,
  attempts,
}: GetDeliveryResponse): Static<typeof DeliveryWithAttempts> {
  if (!delivery) throw new Error("the delivery is missing");
  return { ...presentDelivery(delivery), attempt_log: attempts.map((attempt) => presentMessage(AttemptJson, attempt)) };
}

export function presentPaymentDelivery(sent: PaymentDelivery): Static<typeof PaymentDeliveryJson> {
  if (!sent.delivery) throw new Error("the delivery is missing");
  return { ...presentDelivery(sent.delivery), endpoint_id: sent.endpointId };
}
