// The catalogue of event types, and a merchant's published events (docs/contract.md §9).
import { Type } from "typebox";
import { Failure } from "#platform/values/failure.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { EventJson, EventTypeJson, presentEvent, presentEventType } from "../json/event.ts";
import { idSchema } from "../json/parts/field.ts";
import { dataSchema } from "../json/parts/list.ts";
import { logPage, logQuery, logWindow } from "../json/parts/log-page.ts";
import type { Peers } from "../peers.ts";

const tag = "Webhooks";

const eventQuery = Type.Object({
  ...logQuery("event"),
  type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "Exact match.", examples: ["payment.refunded"] }),
  ),
  payment_id: Type.Optional(idSchema("payment", "Only events of this payment.")),
});

export function eventRoutes(context: GatewayContext, { webhooks }: Pick<Peers, "webhooks">): void {
  merchantRoute(
    context,
    "merchant:read",
    {
      id: "listEventTypes",
      method: "GET",
      path: "/v1/merchants/me/event-types",
      tag,
      summary: "List the event types",
      description: "The authoritative catalogue of subscribable codes.",
      status: 200,
      response: dataSchema(EventTypeJson),
    },
    async () => ({ data: (await webhooks.listEventTypes({})).eventTypes.map(presentEventType) }),
  );
  merchantRoute(
    context,
    "payments:read",
    {
      id: "listEvents",
      method: "GET",
      path: "/v1/events",
      tag,
      summary: "List events",
      description:
        "Events of the last 30 days, newest first, whether or not an endpoint was subscribed. Use it to catch up after your server was down. An event appears shortly after it happened; `test.ping` does not appear.",
      status: 200,
      query: eventQuery,
      response: logPage(EventJson),
    },
    async ({ principal: { merchantId, environment }, query }) => {
      const { type = "", payment_id: paymentId = "" } = query;
      const answer = await webhooks.listEvents({
        merchantId,
        environment,
        type,
        paymentId,
        ...logWindow("event", query),
      });
      return { data: answer.events.map(presentEvent), has_more: answer.nextPageToken !== "" };
    },
  );
  merchantRoute(
    context,
    "payments:read",
    {
      id: "getEvent",
      method: "GET",
      path: "/v1/events/:id",
      tag,
      summary: "Read an event",
      description: "An event of the last 30 days.",
      status: 200,
      params: Type.Object({ id: idSchema("event", "Id of the event.") }),
      response: EventJson,
      errors: ["not_found"],
    },
    async ({ principal: { merchantId, environment }, params }) => {
      const { event } = await webhooks.getEvent({ merchantId, environment, eventId: params.id });
      if (!event) throw new Failure("NOT_FOUND");
      return presentEvent(event);
    },
  );
}
