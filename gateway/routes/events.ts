// The catalogue of event types, and a merchant's published events (docs/contract.md §9).
import { create } from "@bufbuild/protobuf";
import { type Static, Type } from "typebox";
import { Failure } from "#platform/values/failure.ts";
import { ListEventsResponseSchema } from "#proto/webhook/v1/webhook_pb.ts";
import { idSchema, numberOf } from "../../services/public-json/field.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { EventJson, EventTypeJson, positionSchema, presentEvent, presentEventType } from "../json/event.ts";
import { dataSchema, emptyForUnknown } from "../json/parts/list.ts";
import { logPage, logQuery, logWindow } from "../json/parts/log-page.ts";
import type { Peers } from "../peers.ts";

const tag = "Webhooks";

const eventQuery = Type.Object({
  ...logQuery("event"),
  type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "Exact match.", examples: ["payment.refunded"] }),
  ),
  payment_id: Type.Optional(idSchema("payment", "Only events of this payment.")),
  after_position: Type.Optional({
    ...positionSchema(
      "Return the events that became visible after the one with this position, oldest first; 0: all that have one. Not with `after`, `from` or `to`.",
    ),
    maximum: Number.MAX_SAFE_INTEGER,
  }),
});

const eventPage = Type.Object({
  ...logPage(EventJson).properties,
  next_position: Type.Optional(positionSchema("With `after_position`: the position to go on after.")),
});

/** @throws Failure INVALID_BODY */
function windowOf({ after_position: position, ...query }: Static<typeof eventQuery>) {
  if (position === undefined) return { afterPosition: undefined, ...logWindow("event", query) };
  const violations = (["after", "from", "to"] as const)
    .filter((field) => query[field] !== undefined)
    .map((field) => ({ field, problem: "must not be used with after_position" }));
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  return { afterPosition: BigInt(position), pageSize: query.limit };
}

export function eventRoutes(context: GatewayContext, { webhooks }: Pick<Peers, "webhooks">): void {
  merchantRoute(context, {
    id: "listEventTypes",
    method: "GET",
    path: "/v1/merchants/me/event-types",
    scope: "merchant:read",
    tag,
    summary: "List the event types",
    description: "The authoritative catalogue of subscribable codes.",
    response: dataSchema(EventTypeJson),
    handle: async () => ({ data: (await webhooks.listEventTypes({})).eventTypes.map(presentEventType) }),
  });
  merchantRoute(context, {
    id: "listEvents",
    method: "GET",
    path: "/v1/events",
    scope: "payments:read",
    tag,
    summary: "List events",
    description:
      "Events of the last 30 days, newest first, whether or not an endpoint was subscribed. To catch up after your server was down, or to poll, pass `after_position` and store `next_position`: you miss no event and see none twice. An event appears shortly after it happened; `test.ping` does not appear.",
    query: eventQuery,
    response: eventPage,
    handle: async ({ principal: { merchantId, environment }, query }) => {
      const { type = "", payment_id: paymentId = "" } = query;
      const window = windowOf(query);
      const nothing = create(ListEventsResponseSchema, { nextPosition: window.afterPosition ?? 0n });
      const request = { merchantId, environment, type, paymentId, ...window };
      const answer = await emptyForUnknown("type", webhooks.listEvents(request), nothing);
      const data = answer.events.map(presentEvent);
      if (window.afterPosition === undefined) return { data, has_more: answer.nextPageToken !== "" };
      return { data, has_more: answer.hasMore, next_position: numberOf(answer.nextPosition) };
    },
  });
  merchantRoute(context, {
    id: "getEvent",
    method: "GET",
    path: "/v1/events/:id",
    scope: "payments:read",
    tag,
    summary: "Read an event",
    description: "An event of the last 30 days.",
    params: Type.Object({ id: idSchema("event", "Id of the event.") }),
    response: EventJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const { event } = await webhooks.getEvent({ merchantId, environment, eventId: params.id });
      if (!event) throw new Failure("NOT_FOUND");
      return presentEvent(event);
    },
  });
}
