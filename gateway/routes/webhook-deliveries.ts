// Deliveries to a webhook endpoint: list, retry, and the synthetic test event (docs/contract.md §9).
import { Type } from "typebox";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { idSchema, wordSchema } from "../json/parts/field.ts";
import { dataSchema, pageQuery } from "../json/parts/list.ts";
import { DeliveryJson, presentDelivery } from "../json/webhook.ts";
import type { Peers } from "../peers.ts";

const tag = "Webhooks";
const endpointId = idSchema("endpoint", "Id of the endpoint.");

const listQuery = Type.Object({
  limit: pageQuery.limit,
  status: Type.Optional(wordSchema(["pending", "delivered", "failed"], "Only this state.")),
  event_type: Type.Optional(
    Type.String({ maxLength: 64, description: "Only this event code.", examples: ["payment.succeeded"] }),
  ),
});

/** Adds the operations. */
export function webhookDeliveryRoutes(context: GatewayContext, { webhooks }: Pick<Peers, "webhooks">): void {
  listDeliveries(context, webhooks);
  merchantRoute(
    context,
    "merchant:write",
    {
      id: "retryWebhookDelivery",
      method: "POST",
      path: "/v1/merchants/me/webhooks/:id/deliveries/:delivery_id/retry",
      tag,
      summary: "Send a delivery again",
      description: "Puts it back into the queue, due now, with a fresh schedule.",
      status: 200,
      params: Type.Object({ id: endpointId, delivery_id: idSchema("delivery", "Id of the delivery.") }),
      response: Type.Object({ queued: Type.Boolean({ examples: [true] }) }),
      errors: ["not_found"],
    },
    async ({ principal: { merchantId, environment }, params }) => {
      const delivery = { endpointId: params.id, deliveryId: params.delivery_id };
      await webhooks.retryDelivery({ merchantId, environment, ...delivery });
      return { queued: true };
    },
  );
  merchantRoute(
    context,
    "merchant:write",
    {
      id: "testWebhookEndpoint",
      method: "POST",
      path: "/v1/merchants/me/webhooks/:id/test",
      tag,
      summary: "Send a test event",
      description: "Emits a synthetic `test.ping` to the endpoint, subscribed or not.",
      status: 200,
      params: Type.Object({ id: endpointId }),
      response: Type.Object({ sent: Type.Boolean({ examples: [true] }) }),
      errors: ["not_found"],
    },
    async ({ principal: { merchantId, environment }, params }) => {
      await webhooks.sendTestEvent({ merchantId, environment, endpointId: params.id });
      return { sent: true };
    },
  );
}

function listDeliveries(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(
    context,
    "merchant:read",
    {
      id: "listWebhookDeliveries",
      method: "GET",
      path: "/v1/merchants/me/webhooks/:id/deliveries",
      tag,
      summary: "List recent deliveries",
      description: "Newest first.",
      status: 200,
      params: Type.Object({ id: endpointId }),
      query: listQuery,
      response: dataSchema(DeliveryJson),
      errors: ["invalid_body", "not_found"],
    },
    async ({ principal: { merchantId, environment }, params, query }) => {
      const { deliveries } = await webhooks.listDeliveries({
        merchantId,
        environment,
        endpointId: params.id,
        pageSize: query.limit,
        status: query.status ?? "",
        eventType: query.event_type ?? "",
      });
      return { data: deliveries.map(presentDelivery) };
    },
  );
}
