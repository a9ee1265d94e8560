// Webhook endpoints of a merchant, and the catalogue of event types (docs/contract.md §9).
import { Type } from "typebox";
import { invalid } from "#platform/values/failure.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { displayText } from "../http/display-text.ts";
import { component } from "../json/parts/component.ts";
import { environmentSchema, environmentText, idSchema, wordSchema } from "../json/parts/field.ts";
import { dataSchema } from "../json/parts/list.ts";
import {
  EndpointJson,
  EndpointStatus,
  EndpointWithSecret,
  EventTypeJson,
  endpointStatus,
  endpointStatuses,
  presentEndpoint,
  presentEndpointWithSecret,
  presentEventType,
} from "../json/webhook.ts";
import type { Peers } from "../peers.ts";

const tag = "Webhooks";
const endpointId = Type.Object({ id: idSchema("endpoint", "Id of the endpoint.") });

const NewEndpoint = component(
  "NewWebhookEndpoint",
  Type.Object({
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: "https only.",
      examples: ["https://shop.example.com/hooks"],
    }),
    event_types: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 100,
      description: "At least one code of the catalogue; duplicates are folded.",
      examples: [["payment.succeeded", "payment.refunded"]],
    }),
    description: Type.Optional(Type.String({ format: displayText, maxLength: 255, examples: ["Shop"] })),
    environment: Type.Optional(environmentSchema),
  }),
);

const EndpointChange = component(
  "WebhookEndpointChange",
  Type.Object({ status: wordSchema(endpointStatuses, "The new status.") }),
);

/** Adds the operations. */
export function webhookEndpointRoutes(context: GatewayContext, { webhooks }: Pick<Peers, "webhooks">): void {
  createEndpoint(context, webhooks);
  listEndpoints(context, webhooks);
  changeEndpoint(context, webhooks);
  merchantRoute(
    context,
    "merchant:read",
    {
      id: "listEventTypes",
      method: "GET",
      path: "/v1/merchants/me/event-types",
      tag,
      summary: "List the event types",
      description: "The authoritative catalogue of codes that can be subscribed to.",
      status: 200,
      response: dataSchema(EventTypeJson),
    },
    async () => ({ data: (await webhooks.listEventTypes({})).eventTypes.map(presentEventType) }),
  );
}

function createEndpoint(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(
    context,
    "merchant:write",
    {
      id: "createWebhookEndpoint",
      method: "POST",
      path: "/v1/merchants/me/webhooks",
      tag,
      summary: "Register a webhook endpoint",
      description: "The answer holds the signing secret, once.",
      status: 201,
      body: NewEndpoint,
      response: EndpointWithSecret,
    },
    async ({ principal: { merchantId, environment }, body }) => {
      if (body.environment !== undefined && body.environment !== environmentText(environment)) {
        throw invalid("environment", "must be the environment of the API key");
      }
      const { url, event_types: eventTypes, description = "" } = body;
      return presentEndpointWithSecret(
        await webhooks.createEndpoint({ merchantId, environment, url, eventTypes, description }),
      );
    },
  );
}

function listEndpoints(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(
    context,
    "merchant:read",
    {
      id: "listWebhookEndpoints",
      method: "GET",
      path: "/v1/merchants/me/webhooks",
      tag,
      summary: "List the webhook endpoints",
      status: 200,
      response: dataSchema(EndpointJson),
    },
    async ({ principal: { merchantId, environment } }) => ({
      data: (await webhooks.listEndpoints({ merchantId, environment })).endpoints.map(presentEndpoint),
    }),
  );
}

function changeEndpoint(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(
    context,
    "merchant:write",
    {
      id: "updateWebhookEndpoint",
      method: "PATCH",
      path: "/v1/merchants/me/webhooks/:id",
      tag,
      summary: "Disable or enable an endpoint",
      description: "A disabled endpoint gets no new deliveries; its history stays.",
      status: 200,
      params: endpointId,
      body: EndpointChange,
      response: EndpointStatus,
      errors: ["not_found"],
    },
    async ({ principal: { merchantId, environment }, params, body: { status } }) => {
      const answer = await webhooks.updateEndpoint({ merchantId, environment, endpointId: params.id, status });
      return { id: params.id, status: endpointStatus(answer.endpoint?.status ?? "") };
    },
  );
  merchantRoute(
    context,
    "merchant:write",
    {
      id: "deleteWebhookEndpoint",
      method: "DELETE",
      path: "/v1/merchants/me/webhooks/:id",
      tag,
      summary: "Delete an endpoint",
      description: "Its pending deliveries stop.",
      status: 204,
      params: endpointId,
      errors: ["not_found"],
    },
    async ({ principal: { merchantId, environment }, params }) => {
      await webhooks.deleteEndpoint({ merchantId, environment, endpointId: params.id });
      return {};
    },
  );
  merchantRoute(
    context,
    "merchant:write",
    {
      id: "rollWebhookSecret",
      method: "POST",
      path: "/v1/merchants/me/webhooks/:id/roll-secret",
      tag,
      summary: "Give an endpoint a new signing secret",
      description: "Both secrets sign for 24 hours: two `v1=` values in one header.",
      status: 200,
      params: endpointId,
      response: EndpointWithSecret,
      errors: ["not_found"],
    },
    async ({ principal: { merchantId, environment }, params }) =>
      presentEndpointWithSecret(await webhooks.rollEndpointSecret({ merchantId, environment, endpointId: params.id })),
  );
}
