// Adyen's webhooks: the eight signed values and the password, with keys that are rolled.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { suite } from "../../../../test/harness/suite.ts";
import type { ProcessorAccount } from "../connector.ts";
import { noticeOf, readItems } from "./webhook.ts";

const test = suite("webhooks of Adyen");
// Key, text and signature of a test in Adyen's own library.
const key = "DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00";
const item = {
  pspReference: "pspReference",
  originalReference: "originalReference",
  merchantAccountCode: "merchantAccount",
  merchantReference: "reference",
  amount: { currency: "EUR", value: 1_000 },
  eventCode: "EVENT",
  eventDate: "2026-11-29T10:00:00+01:00",
  success: "true",
  additionalData: { hmacSignature: "ipnxGCaUZ4l8TUW75a71/ghd2Fe5ffvX0pV4TLTntIc=" },
};

function account(credentials: Partial<Record<string, string>> = {}): ProcessorAccount {
  return {
    id: "mco_1",
    merchantId: "mer_1",
    environment: Environment.SANDBOX,
    connector: "adyen",
    externalAccountId: "merchantAccount",
    surface: "redirect",
    credentials: { hmac_key: key, webhook_user: "tollbooth", webhook_password: "s3cret-word", ...credentials },
    refundsEnabled: true,
  };
}

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });
const password = basic("tollbooth:s3cret-word");
const postOf = (fields: object, live = "false") =>
  Buffer.from(JSON.stringify({ live, notificationItems: [{ NotificationRequestItem: { ...item, ...fields } }] }));

function outcome(body: Uint8Array, of = account(), headers: Record<string, string> = password): string {
  try {
    return String(readItems(of, body, headers).length);
  } catch (error) {
    return error instanceof Failure ? error.reason : assert.fail(String(error));
  }
}

test("accepts Adyen's own vector, and refuses every change of a signed value", () => {
  assert.equal(outcome(postOf({})), "1");
  for (const changed of [
    { pspReference: "other" },
    { originalReference: "other" },
    { merchantReference: "other" },
    { amount: { currency: "EUR", value: 1_001 } },
    { amount: { currency: "USD", value: 1_000 } },
    { eventCode: "CAPTURE" },
    { success: "false" },
    { additionalData: {} },
  ]) {
    assert.equal(outcome(postOf(changed)), "UNAUTHORIZED", JSON.stringify(changed));
  }
});

test("demands the password too, since reason, date and data are not signed", () => {
  for (const headers of [{}, basic("tollbooth:other"), basic("other:s3cret-word"), { authorization: "Bearer x" }]) {
    assert.equal(outcome(postOf({}), account(), headers), "UNAUTHORIZED");
  }
});

test("accepts both keys while one is rolled, and no empty key", () => {
  const [other] = ["00".repeat(32)];
  assert.equal(outcome(postOf({}), account({ hmac_key: `${other},${key}` })), "1");
  assert.equal(outcome(postOf({}), account({ hmac_key: other })), "UNAUTHORIZED");
  const unsigned = createHmac("sha256", "").update("x").digest("base64");
  assert.equal(
    outcome(postOf({ additionalData: { hmacSignature: unsigned } }), account({ hmac_key: "" })),
    "UNAUTHORIZED",
  );
});

test("refuses a webhook of the other environment or account, and content that Adyen does not send", () => {
  assert.equal(outcome(postOf({}, "true")), "INVALID_BODY");
  assert.equal(outcome(postOf({}), { ...account(), externalAccountId: "other" }), "INVALID_BODY");
  for (const body of ["", "{}", '{"live":"false","notificationItems":[]}', "[]"]) {
    assert.equal(outcome(Buffer.from(body)), "INVALID_BODY", body);
  }
});

test("a repeat has the id of its notice; a change of its content has another", () => {
  const [one] = readItems(account(), postOf({}), password);
  assert(one);
  const { id } = noticeOf(one);
  assert.equal(noticeOf({ ...one }).id, id);
  assert.notEqual(noticeOf({ ...one, eventDate: "2026-11-29T10:00:01+01:00" }).id, id);
  assert.notEqual(noticeOf({ ...one, additionalData: { disputeStatus: "Lost" } }).id, id);
});

test.run();
