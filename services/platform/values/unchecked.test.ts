import assert from "node:assert/strict";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { CreateSessionRequestSchema, ListSessionsRequestSchema } from "#proto/checkout/v1/checkout_pb.ts";
import {
  CreateApiKeyRequestSchema,
  GetConnectorAccountRequestSchema,
  RecordKeyUseRequestSchema,
} from "#proto/merchant/v1/merchant_pb.ts";
import { ReceiveProcessorEventRequestSchema } from "#proto/payments/v1/payments_pb.ts";
import { suite } from "../../../test/harness/suite.ts";
import { unkeptViolations } from "./unchecked.ts";

const test = suite("values of messages");
const fieldsOf = (violations: ReturnType<typeof unkeptViolations>) => violations.map(({ field }) => field);
const ofSession = (change: MessageInitShape<typeof CreateSessionRequestSchema>) =>
  fieldsOf(unkeptViolations(CreateSessionRequestSchema, create(CreateSessionRequestSchema, change)));

test("a NUL character is found in a text, a list, a map's keys and values, a message, a list of messages and a choice", () => {
  assert.deepEqual(ofSession({ description: "a\0", customerEmail: "\0" }), ["description", "customer_email"]);
  assert.deepEqual(ofSession({ metadata: { order: "1", note: "\0" } }), ["metadata"]);
  assert.deepEqual(ofSession({ metadata: { "a\0": "1" } }), ["metadata"]);
  assert.deepEqual(ofSession({ idempotency: { key: "k\0" } }), ["idempotency.key"]);
  const key = create(CreateApiKeyRequestSchema, { name: "n", scopes: ["payments:read", "\0"] });
  assert.deepEqual(fieldsOf(unkeptViolations(CreateApiKeyRequestSchema, key)), ["scopes"]);
  const uses = create(RecordKeyUseRequestSchema, { uses: [{ apiKeyId: "ak_1" }, { apiKeyId: "\0" }] });
  assert.deepEqual(fieldsOf(unkeptViolations(RecordKeyUseRequestSchema, uses)), ["uses.api_key_id"]);
  const external = create(GetConnectorAccountRequestSchema, {
    by: { case: "external", value: { connector: "stripe", externalAccountId: "\0" } },
  });
  assert.deepEqual(fieldsOf(unkeptViolations(GetConnectorAccountRequestSchema, external)), [
    "external.external_account_id",
  ]);
});

test("a time is one of the years 1 to 9999", () => {
  const from = (seconds: bigint) => {
    const message = create(ListSessionsRequestSchema, { from: { seconds } });
    return fieldsOf(unkeptViolations(ListSessionsRequestSchema, message));
  };
  for (const seconds of [-62_135_596_801n, 253_402_300_799n, 8_640_000_000_001n, 2n ** 63n - 1n])
    assert.deepEqual(from(seconds), ["from"], String(seconds));
  for (const seconds of [-62_135_596_800n, 0n, 253_402_300_798n]) assert.deepEqual(from(seconds), []);
});

test("texts without one pass, and bytes may hold any", () => {
  assert.deepEqual(ofSession({ description: "ÿ 0", metadata: { order: "1" }, idempotency: { key: "k" } }), []);
  const event = create(ReceiveProcessorEventRequestSchema, { connector: "stripe", body: Uint8Array.of(0, 1) });
  assert.deepEqual(unkeptViolations(ReceiveProcessorEventRequestSchema, event), []);
});

test.run();
