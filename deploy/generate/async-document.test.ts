// The event feed's AsyncAPI document against the specification and against events that the service makes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import specification from "@asyncapi/specs/schemas/3.0.0-without-$id.json" with { type: "json" };
import { toJson } from "@bufbuild/protobuf";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { toFeedEvent } from "../../services/webhook/messages.ts";
import { eventTypes } from "../../services/webhook/rules/event-types.ts";
import { translateFact } from "../../services/webhook/rules/public-event.ts";
import { suite } from "../../test/harness/suite.ts";
import { asyncDocument, asyncDocumentPath } from "./async-document.ts";

const test = suite("AsyncAPI document", { timeoutMs: 60_000 });
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);

test("the committed document is what the table of events gives, and valid by AsyncAPI 3", () => {
  const committed = readFileSync(join(import.meta.dirname, "../..", asyncDocumentPath), "utf8");
  assert.deepEqual(JSON.parse(committed), JSON.parse(JSON.stringify(asyncDocument())), "npm run generate -- tables");
  const validate = ajv.compile(specification);
  assert.ok(validate(asyncDocument()), JSON.stringify(validate.errors?.slice(0, 3)));
});

test("each event that a service announces fits the schema of its type, and no other one", () => {
  const document: { components: { schemas: Record<string, object> } } = asyncDocument();
  const schemas = Object.entries(document.components.schemas).map(
    ([code, schema]) => [code, ajv.compile(schema)] as const,
  );
  assert.ok(schemas.length > 12);
  const attributes = {
    ...{ payment_id: newId("payment"), refund_id: newId("refund"), dispute_id: newId("dispute") },
    ...{ refund_status: "succeeded", dispute_status: "won" },
  };
  for (const { code, category, announcedAs = "" } of eventTypes.filter((each) => each.announcedAs !== undefined)) {
    const own = { checkout: "session", payout: "payout", report: "report" } as const;
    const objectId = newId(category in own ? own[category as keyof typeof own] : "payment");
    const fact = translateFact({ type: announcedAs, objectId, status: "succeeded", attributes });
    assert.equal(fact.kind, "event", code);
    const stored = { id: newId("event"), merchant_id: newId("merchant"), environment: 1, position: "7", version: 3 };
    const body = fact.kind === "event" ? fact.body : Buffer.alloc(0);
    const event = toFeedEvent({ ...stored, type: code, body, amount: "1050", currency: "EUR", reference: "A-1" });
    const json = toJson(EventSchema, event);
    for (const [of, fits] of schemas)
      assert.equal(fits(json), of === code, `${code} ${of} ${JSON.stringify(fits.errors)}`);
  }
});

test.run();
