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
import { findUnstorableFields } from "./storable.ts";

const test = suite("values of messages");
const fieldsOf = (violations: ReturnType<typeof findUnstorableFields>) => violations.map(({ field }) => field);
const ofSession = (change: MessageInitShape<typeof CreateSessionRequestSchema>) =>
  fieldsOf(findUnstorableFields(CreateSessionRequestSchema, create(CreateSessionRequestSchema, change)));

test("finds a NUL character in text, lists, map keys and values, messages, lists of messages and oneofs", () => {
  assert.deepEqual(ofSession({ description: "a\0", customerEmail: "\0" }), ["description", "customer_email"]);
  assert.deepEqual(ofSession({ metadata: { order: "1", note: "\0" } }), ["metadata"]);
  assert.deepEqual(ofSession({ metadata: { "a\0": "1" } }), ["metadata"]);
  assert.deepEqual(ofSession({ idempotency: { key: "k\0" } }), ["idempotency.key"]);
  const key = create(CreateApiKeyRequestSchema, { name: "n", scopes: ["payments:read", "\0"] });
  assert.deepEqual(fieldsOf(findUnstorableFields(CreateApiKeyRequestSchema, key)), ["scopes"]);
  const uses = create(RecordKeyUseRequestSchema, { uses: [{ apiKeyId: "ak_1" }, { apiKeyId: "\0" }] });
  assert.deepEqual(fieldsOf(findUnstorableFields(RecordKeyUseRequestSchema, uses)), ["uses.api_key_id"]);
  const external = create(GetConnectorAccountRequestSchema, {
    by: { case: "external", value: { connector: "stripe", externalAccountId: "\0" } },
  });
  assert.deepEqual(fieldsOf(findUnstorableFields(GetConnectorAccountRequestSchema, external)), [
    "external.external_account_id",
  ]);
});

test("accepts times of the years 1 to 9999 only", () => {
  const from = (seconds: bigint) => {
    const message = create(ListSessionsRequestSchema, { from: { seconds } });
    return fieldsOf(findUnstorableFields(ListSessionsRequestSchema, message));
  };
  for (const seconds of [-62_135_596_801n, 253_402_300_799n, 8_640_000_000_001n, 2n ** 63n - 1n])
    assert.deepEqual(from(seconds), ["from"], String(seconds));
  for (const seconds of [-62_135_596_800n, 0n, 253_402_300_798n]) assert.deepEqual(from(seconds), []);
});

test("accepts text without NUL, and any bytes", () => {
  assert.deepEqual(ofSession({ description: "ÿ 0", metadata: { order: "1" }, idempotency: { key: "k" } }), []);
  const event = create(ReceiveProcessorEventRequestSchema, { connector: "stripe", body: Uint8Array.of(0, 1) });
  assert.deepEqual(findUnstorableFields(ReceiveProcessorEventRequestSchema, event), []);
});

test.run();
