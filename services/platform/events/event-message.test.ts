import assert from "node:assert/strict";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { suite } from "../../../test/harness/suite.ts";
import { readEvent } from "./event-message.ts";

const test = suite("events as they come");
const subject = "tollbooth.events.payments.operation.resolved";

function read(change: MessageInitShape<typeof EventSchema> = {}, at = subject) {
  const event = create(EventSchema, {
    id: "evt_1",
    type: "operation.resolved",
    source: "payments",
    environment: Environment.LIVE,
    occurredAt: timestampNow(),
    attributes: { note: "é" },
    ...change,
  });
  const found = readEvent({ subject: at, data: toBinary(EventSchema, event) }, "payments", undefined);
  return typeof found === "string" ? found : found.type;
}

test("accepts only the source and type in the subject, in any namespace", () => {
  assert.equal(read(), "operation.resolved");
  assert.equal(read({}, "shop.events.payments.operation.resolved"), "operation.resolved");
  assert.equal(read({ source: "merchant" }), "wrong_subject");
  assert.equal(read({ type: "api_key.revoked" }), "wrong_subject");
  assert.equal(read({ type: "resolved" }), "wrong_subject");
  assert.equal(read({}, "tollbooth.events.merchant.operation.resolved"), "wrong_subject");
});

test("rejects an event that no table can store, and no other in the batch", () => {
  assert.equal(read({ objectId: "a\0b" }), "unreadable");
  assert.equal(read({ attributes: { note: "a\0b" } }), "unreadable");
  assert.equal(read({ attributes: { "a\0b": "" } }), "unreadable");
  assert.equal(read({ occurredAt: { seconds: 315_000_000_000_000n } }), "unreadable");
  assert.equal(read({ occurredAt: { seconds: -1n } }), "unreadable");
  assert.equal(read({ environment: 70_000 as Environment }), "unreadable");
  assert.equal(read({ environment: Environment.UNSPECIFIED }), "operation.resolved");
});

test.run();
