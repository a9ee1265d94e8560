// Builds the OpenAPI 3.1 document from the served operations, their schemas and the error table.
import type { TSchema } from "typebox";
import { membersOf } from "#platform/values/unchecked.ts";
import type { ListedOperation } from "../operation.ts";
import { errorSchema, failureResponses, sharedFailures } from "./errors.ts";
import { type Json, type JsonObject, propertiesOf, publishSchema, requiredNames } from "./schema.ts";
import { describedEvents, describedTags, introduction } from "./text.ts";

export function openApi(operations: readonly ListedOperation[], version: string): JsonObject {
  const components: JsonObject = { ApiError: errorSchema };
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    const item = (paths[path] ??= {});
    item[operation.method.toLowerCase()] = describe(operation, components);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Tollbooth API",
      version,
      summary: "Hosted checkout, payments, refunds and signed webhooks.",
      description: introduction,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The gateway that serves this document." }],
    tags: describedTags.map(({ name, description }) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths,
    webhooks: Object.fromEntries(describedEvents.map((event) => [event.code, webhook(event)])),
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description:
            "A secret API key, `sk_test_…` or `sk_live_…`. Keep it on your server. Scopes limit what it can do.",
        },
        sessionSecret: {
          type: "apiKey",
          in: "query",
          name: "secret",
          description: "Secret of one checkout session, `cs_secret_…`; the only credential for a browser.",
        },
      },
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
      responses: sharedFailures(operations),
      headers: describedHeaders,
    },
  };
}

function describe(operation: ListedOperation, components: JsonObject): JsonObject {
  const { access, body, raw } = operation;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    security: security(access),
    parameters: parameters(operation, components),
    ...(body && {
      requestBody: {
        required: isRequired(body),
        content: { "application/json": { schema: publishSchema(body, components) } },
      },
    }),
    ...(raw && {
      requestBody: {
        required: true,
        content: Object.fromEntries(raw.types.map((type) => [type, { schema: { type: "string", format: "binary" } }])),
      },
    }),
    responses: { ...success(operation, components), ...failureResponses(operation) },
  };
}

/** False if the body may be missing, which means an empty object. */
function isRequired(body: TSchema): boolean {
  return requiredNames(body).length > 0 || membersOf(body).minProperties !== undefined;
}

function security(access: ListedOperation["access"]): Json[] {
  if (access.kind === "merchant") return [{ apiKey: [access.scope] }];
  return access.kind === "buyer" ? [{ sessionSecret: [] }] : [];
}

function parameters(operation: ListedOperation, components: JsonObject): Json[] {
  const of = (location: "path" | "query", schema: TSchema | undefined): Json[] => {
    if (!schema) return [];
    const required = requiredNames(schema);
    return Object.entries(propertiesOf(schema)).map(([name, property]) => {
      const { description, ...rest } = publishSchema(property, components);
      const isRequired = location === "path" || (required.includes(name) && !("default" in rest));
      return {
        name,
        in: location,
        required: isRequired,
        ...(description !== undefined && { description }),
        schema: rest,
      };
    });
  };
  return [
    ...of("path", operation.params),
    ...of("query", operation.query),
    ...(operation.idempotent ? [idempotencyParameter] : []),
  ];
}

function success(
  { status, body, response, idempotent, repeated, file }: ListedOperation,
  components: JsonObject,
): JsonObject {
  const headers = {
    "Request-Id": { $ref: "#/components/headers/RequestId" },
    ...(idempotent && { "Idempotent-Replayed": { $ref: "#/components/headers/IdempotentReplayed" } }),
    ...(body &&
      membersOf(body).additionalProperties !== false && {
        "Ignored-Fields": { $ref: "#/components/headers/IgnoredFields" },
      }),
  };
  if (file !== undefined) {
    const content = { [file]: { schema: { type: "string" } } };
    return {
      [status]: { description: "Success.", headers, content },
      206: { description: "A part.", headers, content },
    };
  }
  if (!response || status === 204) return { [status]: { description: "Done.", headers } };
  const content = { "application/json": { schema: publishSchema(response, components) } };
  const again = repeated && {
    200: {
      description: "A repeat with the same idempotency key.",
      headers,
      content: { "application/json": { schema: publishSchema(repeated, components) } },
    },
  };
  return { ...again, [status]: { description: status === 201 ? "Created." : "Success.", headers, content } };
}

function webhook(event: (typeof describedEvents)[number]): JsonObject {
  const header = (name: string, description: string, required = true) => ({
    name,
    in: "header",
    required,
    description,
    schema: { type: "string" },
  });
  return {
    post: {
      operationId: `on.${event.code}`,
      tags: ["Webhooks"],
      summary: event.fires,
      description:
        "Sent to every active endpoint that subscribes to the event. Delivery is at-least-once: deduplicate on (`type`, `payment_id`, `status`) or a hash of the raw body. An endpoint with `payload` `object` gets `type`, `id` and `created_at` of the event, `sequence` and the object as `data` instead.",
      security: [],
      parameters: [
        header("Service-Event", "The event type."),
        header("Service-Signature", "`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `t`, a dot and the raw body."),
        header(
          "Service-Delivery",
          "Id of the delivery, the same in every attempt. An event may have two deliveries: do not deduplicate on it.",
        ),
        header("webhook-id", "The same id, as Standard Webhooks names it."),
        header("webhook-timestamp", "Unix seconds of the attempt, as in `Service-Signature`."),
        header(
          "webhook-signature",
          "Standard Webhooks: `v1,<base64>`, several separated by blanks while a secret is rolled. Verify it with `standard_secret`.",
        ),
        header("traceparent", "W3C trace context of the call that caused the event, if it is known.", false),
      ],
      requestBody: { required: true, content: { "application/json": { schema: event.schema } } },
      responses: {
        "2XX": { description: "Acknowledged." },
        "4XX": { description: "A failed attempt, which is retried, like any response but 2xx and like no response." },
      },
    },
  };
}

const describedHeaders: JsonObject = {
  RequestId: {
    description: "Id of the request in our logs. Quote it to support.",
    required: true,
    schema: { type: "string", examples: ["req_01jd3v9q6k8m2n4p6r8t0v2x4z"] },
  },
  HelpLink: {
    description: "Address of the error code in the docs of this Tollbooth (RFC 8288): its cause and what to do.",
    required: true,
    schema: { type: "string", examples: ['</docs/api/errors#invalid_body>; rel="help"'] },
  },
  IdempotentReplayed: {
    description: "`true` if this is the stored response of an earlier request with the same Idempotency-Key.",
    schema: { type: "string", enum: ["true"] },
  },
  IgnoredFields: {
    description: "Names of unknown fields that were ignored, percent-encoded; absent if there were no such fields.",
    schema: { type: "string", examples: ["desciption"] },
  },
  WwwAuthenticate: {
    description: "Authentication scheme: the API key as a bearer token.",
    required: true,
    schema: { type: "string", enum: ["Bearer"] },
  },
  RetryAfter: {
    description: "Seconds to wait before you send the same request again.",
    schema: { type: "integer", minimum: 1 },
  },
  RateLimitLimit: {
    description: "Requests that the limit allows in its period.",
    schema: { type: "integer", minimum: 1 },
  },
  RateLimitRemaining: { description: "Requests that are left.", schema: { type: "integer", minimum: 0 } },
  RateLimitReset: {
    description: "Seconds until the full limit is available again.",
    schema: { type: "integer", minimum: 0 },
  },
};

const idempotencyParameter: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "1 to 255 printable ASCII characters. A repeat of the request with the same key returns the stored response and changes nothing again. This includes refusals that were decided after the work began. Kept for at least 24 hours.",
  schema: {
    type: "string",
    minLength: 1,
    maxLength: 255,
    pattern: "^[\\x20-\\x7e]*$",
    examples: ["order-1042-refund-1"],
  },
};
