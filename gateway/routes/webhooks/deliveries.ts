// Webhook deliveries: list, read, retry, an endpoint's health and the test event (docs/contract.md §9).
import { create } from "@bufbuild/protobuf";
import { Type } from "typebox";
import { ListDeliveriesResponseSchema } from "#proto/webhook/v1/webhook_pb.ts";
import { enumSchema, idSchema } from "../../../services/public-json/field.ts";
import { presentMessage } from "../../../services/public-json/present.ts";
import { type GatewayContext, merchantRoute } from "../../auth/auth.ts";
import { dataSchema, emptyForUnknown } from "../../json/parts/list.ts";
import { afterQuery, logPage, pageAfter } from "../../json/parts/log-page.ts";
import {
  DeliveryJson,
  DeliveryWithAttempts,
  EndpointHealthJson,
  PaymentDeliveryJson,
  presentDelivery,
  presentDeliveryWithAttempts,
  presentPaymentDelivery,
} from "../../json/webhook.ts";
import type { Peers } from "../../peers.ts";

const tag = "Webhooks";
const endpointId = idSchema("endpoint", "Id of the endpoint.");

const deliveryPath = Type.Object({ id: endpointId, delivery_id: idSchema("delivery", "Id of the delivery.") });
const listQuery = Type.Object({
  ...afterQuery("delivery"),
  status: Type.Optional(enumSchema(["pending", "delivered", "failed"], "Only deliveries in this state.")),
  event_type: Type.Optional(
    Type.String({ maxLength: 64, description: "Only deliveries of this event code.", examples: ["payment.succeeded"] }),
  ),
});

const healthQuery = Type.Object({
  window_seconds: Type.Integer({
    minimum: 60,
    maximum: 86_400,
    default: 3_600,
    description: "Length of the window, seconds.",
    examples: [3600],
  }),
});

export function webhookDeliveryRoutes(
  context: GatewayContext,
  { webhooks, payments }: Pick<Peers, "webhooks" | "payments">,
): void {
  listDeliveries(context, webhooks);
  readDelivery(context, webhooks);
  readHealth(context, webhooks);
  listPaymentDeliveries(context, { webhooks, payments });
  merchantRoute(context, {
    id: "retryWebhookDelivery",
    method: "POST",
    path: "/v1/merchants/me/webhooks/:id/deliveries/:delivery_id/retry",
    scope: "merchant:write",
    tag,
    summary: "Send a delivery again",
    description: "Queues the delivery again, due now and with a new retry schedule.",
    params: deliveryPath,
    response: Type.Object({ queued: Type.Boolean({ examples: [true] }) }),
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const delivery = { endpointId: params.id, deliveryId: params.delivery_id };
      await webhooks.retryDelivery({ merchantId, environment, ...delivery });
      return { queued: true };
    },
  });
  merchantRoute(context, {
    id: "testWebhookEndpoint",
    method: "POST",
    path: "/v1/merchants/me/webhooks/:id/test",
    scope: "merchant:write",
    tag,
    summary: "Send a test event",
    description:
      "Sends a `test.ping` to the endpoint, subscribed or not. A disabled endpoint gets no event, and `sent` is false.",
    params: Type.Object({ id: endpointId }),
    response: Type.Object({ sent: Type.Boolean({ examples: [true] }) }),
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const { deliveryId } = await webhooks.sendTestEvent({ merchantId, environment, endpointId: params.id });
      return { sent: deliveryId !== "" };
    },
  });
}

function readHealth(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(context, {
    id: "getWebhookEndpointHealth",
    method: "GET",
    path: "/v1/merchants/me/webhooks/:id/health",
    scope: "merchant:read",
    tag,
    summary: "Read an endpoint's health",
    description: "Counts the deliveries that were queued within the window, by default the last hour.",
    params: Type.Object({ id: endpointId }),
    query: healthQuery,
    response: EndpointHealthJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params, query }) =>
      presentMessage(
        EndpointHealthJson,
        await webhooks.getEndpointHealth({
          merchantId,
          environment,
          endpointId: params.id,
          windowSeconds: query.window_seconds,
        }),
      ),
  });
}

function listPaymentDeliveries(
  context: GatewayContext,
  { webhooks, payments }: Pick<Peers, "webhooks" | "payments">,
): void {
  merchantRoute(context, {
    id: "listPaymentDeliveries",
    method: "GET",
    path: "/v1/payments/:id/deliveries",
    scope: "payments:read",
    tag,
    summary: "List the webhook deliveries of a payment",
    description: "Deliveries to all endpoints, including deleted ones; newest first, at most 200. Kept for 94 days.",
    params: Type.Object({ id: idSchema("payment", "Id of the payment.") }),
    response: dataSchema(PaymentDeliveryJson),
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const payment = { merchantId, environment, paymentId: params.id };
      const [{ deliveries }] = await Promise.all([
        webhooks.listPaymentDeliveries(payment),
        payments.getPayment(payment),
      ]);
      return { data: deliveries.map(presentPaymentDelivery) };
    },
  });
}

function listDeliveries(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(context, {
    id: "listWebhookDeliveries",
    method: "GET",
    path: "/v1/merchants/me/webhooks/:id/deliveries",
    scope: "merchant:read",
    tag,
    summary: "List deliveries",
    description:
      "Deliveries of the last 94 days, newest first. Pass the last id of a page as `after` until `has_more` is false.",
    params: Type.Object({ id: endpointId }),
    query: listQuery,
    response: logPage(DeliveryJson),
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params, query }) => {
      const answer = webhooks.listDeliveries({
        merchantId,
        environment,
        endpointId: params.id,
        ...pageAfter("delivery", query),
        status: query.status ?? "",
        eventType: query.event_type ?? "",
      });
      const nothing = create(ListDeliveriesResponseSchema);
      const { deliveries, nextPageToken } = await emptyForUnknown("event_type", answer, nothing);
      return { data: deliveries.map(presentDelivery), has_more: nextPageToken !== "" };
    },
  });
}

function readDelivery(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(context, {
    id: "getWebhookDelivery",
    method: "GET",
    path: "/v1/merchants/me/webhooks/:id/deliveries/:delivery_id",
    scope: "merchant:read",
    tag,
    summary: "Read a delivery with its attempts",
    description: "With the timing of each attempt and the response of your server.",
    params: deliveryPath,
    response: DeliveryWithAttempts,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const delivery = { endpointId: params.id, deliveryId: params.delivery_id };
      return presentDeliveryWithAttempts(await webhooks.getDelivery({ merchantId, environment, ...delivery }));
    },
  });
}
