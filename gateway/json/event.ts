// A merchant's published events as public JSON (docs/contract.md §9).
import { type Static, Type } from "typebox";
import { membersOf } from "#platform/values/unchecked.ts";
import type { AnnouncedEvent, EventType } from "#proto/webhook/v1/webhook_pb.ts";
import { idSchema, jsonComponent, numberOf, textSchema, timeSchema } from "../../services/public-json/field.ts";
import { presentMessage } from "../../services/public-json/present.ts";

export const payloadSchema = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({
    type: "object",
    additionalProperties: true,
    description,
    examples: [{ type: "payment.succeeded", payment_id: "pay_01jd3v9q6k8m2n4p6r8t0v2x4z", status: "succeeded" }],
  });

export const EventTypeJson = jsonComponent(
  "EventType",
  Type.Object({
    code: textSchema("Code that endpoints subscribe to.", "payment.succeeded"),
    label: textSchema("Display name.", "Payment succeeded"),
    category: textSchema("`checkout`, `dispute`, `payment`, `payout`, `refund`, `report` or `test`.", "payment"),
  }),
);

export const positionSchema = (description: string) =>
  Type.Integer({ format: "int64", minimum: 0, description, examples: [81_604] });

export const EventJson = jsonComponent(
  "Event",
  Type.Object({
    id: idSchema("event"),
    type: textSchema("Event code.", "payment.succeeded"),
    payment_id: Type.Optional(idSchema("payment", "The event's payment; absent until it can be read.")),
    payload: payloadSchema("Body of the event's deliveries."),
    created_at: timeSchema("When the event was published."),
    position: Type.Optional(
      positionSchema(
        "For `after_position`; absent for a moment at first, and for events from before positions existed.",
      ),
    ),
  }),
);

export function presentEventType({ code, label, category }: EventType): Static<typeof EventTypeJson> {
  return { code, label, category };
}

export function presentEvent(event: AnnouncedEvent): Static<typeof EventJson> {
  return presentMessage(EventJson, event, {
    payload: payloadOf(event.payload),
    position: event.position === 0n ? undefined : numberOf(event.position),
  });
}

export function payloadOf(bytes: Uint8Array): Record<string, unknown> {
  const payload: unknown = JSON.parse(new TextDecoder().decode(bytes));
  return Object.fromEntries(Object.entries(membersOf(payload)));
}
