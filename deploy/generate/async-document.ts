// Writes docs/internal-api/asyncapi.json: the event feed of internal teams with a JSON Schema for each type of event,
// from the table by which the webhook service publishes. Usage: npm run generate -- tables
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { releaseVersion } from "#platform/values/release.ts";
import { type EventType, eventTypes } from "../../services/webhook/rules/event-types.ts";

export const asyncDocumentPath = "docs/internal-api/asyncapi.json";

const text = { type: "string" };
const id = (prefix: string) => ({ type: "string", pattern: `^${prefix}_[0-9a-z]{26}$` });
// int64 in the JSON form of protobuf.
const integerText = { type: "string", pattern: "^-?[0-9]+$" };

const prefixes = {
  payment_id: "pay",
  refund_id: "re",
  dispute_id: "dp",
  session_id: "cs",
  payout_id: "po",
  report_id: "rpt",
} as const;
type IdName = keyof typeof prefixes;
const named = (names: readonly IdName[]) => Object.fromEntries(names.map((name) => [name, id(prefixes[name])]));

/** Ids of the objects around the event, its own first; a session's payment may be absent. */
const idsOf: Readonly<Record<EventType["category"], readonly [IdName, ...IdName[]] | readonly []>> = {
  authorization: ["payment_id"],
  payment: ["payment_id"],
  refund: ["refund_id", "payment_id"],
  dispute: ["dispute_id", "payment_id"],
  checkout: ["session_id", "payment_id"],
  payout: ["payout_id"],
  report: ["report_id"],
  test: [],
};

/** The JSON form of events.v1.Event in answers of EventService; fields without a value are absent. */
function schemaOf({ code, label, category }: EventType) {
  const ids = idsOf[category];
  const [own] = ids;
  return {
    title: label,
    type: "object",
    required: ["id", "type", "merchantId", "environment", "objectId", "occurredAt", "attributes", "position"],
    properties: {
      id: id("evt"),
      type: { const: code },
      merchantId: id("mer"),
      environment: { enum: ["ENVIRONMENT_SANDBOX", "ENVIRONMENT_LIVE"] },
      ...(own && { objectId: id(prefixes[own]) }),
      status: text,
      occurredAt: { type: "string", format: "date-time" },
      attributes: {
        type: "object",
        required: category === "checkout" ? [own] : ids,
        properties: { ...named(ids), version: integerText },
      },
      money: {
        type: "object",
        description: "Minor units and an ISO 4217 code.",
        properties: { amount: integerText, currency: { type: "string", pattern: "^[A-Z]{3}$" } },
      },
      reference: text,
      schemaVersion: { type: "integer" },
      position: integerText,
    },
  };
}

export function asyncDocument() {
  const types = eventTypes.filter(({ announcedAs }) => announcedAs !== undefined);
  const each = <T>(of: (type: EventType) => T) => Object.fromEntries(types.map((type) => [type.code, of(type)]));
  const address = "events.v1.EventService/Watch";
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Tollbooth's events for internal teams",
      version: releaseVersion(),
      description: "Served by the webhook service over Connect, gRPC and gRPC-Web; docs/internal-api.md has the rules.",
    },
    channels: { events: { address, messages: each(({ code }) => ({ $ref: `#/components/messages/${code}` })) } },
    operations: { receiveEvents: { action: "receive", channel: { $ref: "#/channels/events" } } },
    components: {
      messages: each(({ code, label: title }) => {
        const payload = { $ref: `#/components/schemas/${code}` };
        return { title, contentType: "application/json", payload };
      }),
      schemas: each(schemaOf),
    },
  };
}

if (import.meta.main) {
  const path = join(import.meta.dirname, "../..", asyncDocumentPath);
  writeFileSync(path, `${JSON.stringify(asyncDocument(), null, 2)}\n`);
}
