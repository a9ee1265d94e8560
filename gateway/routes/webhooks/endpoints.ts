// Webhook endpoints of a merchant (docs/contract.md §9).
import { Type } from "typebox";
import {
  enumSchema,
  environmentSchema,
  idSchema,
  jsonComponent,
  listValues,
} from "../../../services/public-json/field.ts";
import { type GatewayContext, merchantRoute } from "../../auth/auth.ts";
import { displayText } from "../../http/display-text.ts";
import { httpsUrl } from "../../http/own-formats.ts";
import { idempotencyOf, markReplay } from "../../idempotency.ts";
import { assertOwnEnvironment } from "../../json/parts/input.ts";
import { dataSchema } from "../../json/parts/list.ts";
import {
  EndpointJson,
  EndpointWithSecret,
  endpointStatuses,
  payloadInput,
  presentEndpoint,
  presentEndpointWithSecret,
} from "../../json/webhook.ts";
import { describedEvents } from "../../openapi/text.ts";
import { strict } from "../../operation.ts";
import type { Peers } from "../../peers.ts";

const tag = "Webhooks";
const endpointId = Type.Object({ id: idSchema("endpoint", "Id of the endpoint.") });

const endpointUrl = Type.String({
  format: httpsUrl,
  minLength: 1,
  maxLength: 2048,
  description: "https only.",
  examples: ["https://shop.example.com/hooks"],
});
const eventCode = Type.String({
  minLength: 1,
  maxLength: 64,
  description: `${listValues(describedEvents.map(({ code }) => code))} Reserved codes of the catalogue are accepted, too.`,
});
const eventCodes = Type.Array(eventCode, {
  minItems: 1,
  maxItems: 100,
  description: "At least one code of the catalogue; duplicates are removed.",
  examples: [["payment.succeeded", "payment.refunded"]],
});
const label = Type.String({ format: displayText, maxLength: 255, examples: ["Shop"] });

const NewEndpoint = jsonComponent(
  "NewWebhookEndpoint",
  Type.Object(
    {
      url: endpointUrl,
      event_types: eventCodes,
      description: Type.Optional(label),
      environment: Type.Optional(environmentSchema),
      payload: Type.Optional(payloadInput),
    },
    strict,
  ),
);

const EndpointChange = jsonComponent(
  "WebhookEndpointChange",
  Type.Object(
    {
      status: Type.Optional(enumSchema(endpointStatuses, "The new status.")),
      url: Type.Optional(endpointUrl),
      event_types: Type.Optional(eventCodes),
      description: Type.Optional(label),
      payload: Type.Optional(payloadInput),
    },
    { minProperties: 1, ...strict },
  ),
);

const daySeconds = 86_400;

const SecretRoll = jsonComponent(
  "WebhookSecretRoll",
  Type.Object(
    {
      expires_in: Type.Integer({
        minimum: 0,
        maximum: daySeconds,
        default: daySeconds,
        description: "Seconds for which replaced secrets sign on, at most; 0: they stop now.",
        examples: [3600],
      }),
    },
    strict,
  ),
);

export function webhookEndpointRoutes(context: GatewayContext, { webhooks }: Pick<Peers, "webhooks">): void {
  createEndpoint(context, webhooks);
  listEndpoints(context, webhooks);
  readEndpoint(context, webhooks);
  changeEndpoint(context, webhooks);
}

function createEndpoint(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(context, {
    id: "createWebhookEndpoint",
    method: "POST",
    path: "/v1/merchants/me/webhooks",
    scope: "merchant:write",
    tag,
    summary: "Register a webhook endpoint",
    description:
      "Only this response contains the signing secret. A repeat with the same idempotency key registers nothing and returns 200 with the endpoint but without its secret: roll a lost secret. Without a key, a repeat registers the URL again, and both endpoints get every event. A merchant has at most 16 endpoints per environment.",
    status: 201,
    body: NewEndpoint,
    response: EndpointWithSecret,
    repeated: EndpointJson,
    idempotent: true,
    handle: async ({ principal: { merchantId, environment }, body, request, reply }) => {
      assertOwnEnvironment(environment, body.environment);
      const { url, event_types: eventTypes, description = "", payload = "" } = body;
      const input = { merchantId, environment, url, eventTypes, description, payload, ...idempotencyOf(request) };
      const answer = await webhooks.createEndpoint(input);
      markReplay(reply, answer.replayed);
      return answer.replayed ? presentEndpoint(answer.endpoint) : presentEndpointWithSecret(answer);
    },
  });
}

function listEndpoints(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(context, {
    id: "listWebhookEndpoints",
    method: "GET",
    path: "/v1/merchants/me/webhooks",
    scope: "merchant:read",
    tag,
    summary: "List the webhook endpoints",
    description: "A URL that was registered twice appears twice, with different ids.",
    response: dataSchema(EndpointJson),
    handle: async ({ principal: { merchantId, environment } }) => ({
      data: (await webhooks.listEndpoints({ merchantId, environment })).endpoints.map(presentEndpoint),
    }),
  });
}

function readEndpoint(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(context, {
    id: "getWebhookEndpoint",
    method: "GET",
    path: "/v1/merchants/me/webhooks/:id",
    scope: "merchant:read",
    tag,
    summary: "Read a webhook endpoint",
    description: "Without the signing secret, which is shown only once and can be rolled.",
    params: endpointId,
    response: EndpointJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) =>
      presentEndpoint((await webhooks.getEndpoint({ merchantId, environment, endpointId: params.id })).endpoint),
  });
}

function changeEndpoint(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(context, {
    id: "updateWebhookEndpoint",
    method: "PATCH",
    path: "/v1/merchants/me/webhooks/:id",
    scope: "merchant:write",
    tag,
    summary: "Change an endpoint",
    description:
      "At least one field is required; absent fields are unchanged. A disabled endpoint gets no new deliveries and keeps its history. A new URL also applies to pending deliveries; new event types and a new payload apply from the next event on.",
    params: endpointId,
    body: EndpointChange,
    response: EndpointJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params, body }) => {
      const { status = "", url = "", event_types: eventTypes = [], description, payload = "" } = body;
      const change = { status, url, eventTypes, payload, ...(description !== undefined && { description }) };
      const answer = await webhooks.updateEndpoint({ merchantId, environment, endpointId: params.id, ...change });
      return presentEndpoint(answer.endpoint);
    },
  });
  merchantRoute(context, {
    id: "deleteWebhookEndpoint",
    method: "DELETE",
    path: "/v1/merchants/me/webhooks/:id",
    scope: "merchant:write",
    tag,
    summary: "Delete an endpoint",
    description: "Its pending deliveries stop.",
    status: 204,
    params: endpointId,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      await webhooks.deleteEndpoint({ merchantId, environment, endpointId: params.id });
      return {};
    },
  });
  merchantRoute(context, {
    id: "rollWebhookSecret",
    method: "POST",
    path: "/v1/merchants/me/webhooks/:id/roll-secret",
    scope: "merchant:write",
    tag,
    summary: "Roll an endpoint's signing secret",
    description:
      "Creates a new signing secret. Previous secrets, at most the latest four, keep signing for `expires_in` seconds, by default for 24 hours after they were replaced: the header then has several `v1=` values. If a response was lost, you can safely roll again with the default: your server's current secret keeps working. With 0 every previous secret stops at once, which is for a secret that leaked.",
    params: endpointId,
    body: SecretRoll,
    response: EndpointWithSecret,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params, body }) => {
      const roll = { endpointId: params.id, expiresInSeconds: body.expires_in };
      return presentEndpointWithSecret(await webhooks.rollEndpointSecret({ merchantId, environment, ...roll }));
    },
  });
}
