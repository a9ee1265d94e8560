import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import { SignatureVerificationError } from "./errors.ts";
import { verifyWebhook, verifyWebhookObject } from "./webhook.ts";

const test = suite("Node library: webhooks");

const secret = `whsec_${"a".repeat(43)}`;
const another = `whsec_${"b".repeat(43)}`;
const now = 1_800_000_000;
const body = Buffer.from('{"type":"payment.succeeded","payment_id":"pay_x","status":"succeeded"}');
const sign = (bytes: Uint8Array, time = now, key = secret) =>
  createHmac("sha256", key).update(`${time}.`).update(bytes).digest("hex");
const header = (time = now, ...values: string[]) => [`t=${time}`, ...values.map((value) => `v1=${value}`)].join(",");

function refusal(bytes: Uint8Array | string, headerText: string | undefined, key: string | string[] = secret): string {
  try {
    verifyWebhook(bytes, headerText, key, { now });
  } catch (error) {
    if (error instanceof SignatureVerificationError) return error.message;
    throw error;
  }
  throw new Error("the webhook was accepted");
}

test("accepts a genuine delivery: among other signatures, with either secret, as text, with new fields", () => {
  const genuine = sign(body);
  const wrong = "0".repeat(64);
  for (const values of [[genuine], [wrong, genuine], [genuine, wrong]]) {
    const event = verifyWebhook(body, header(now, ...values), secret, { now });
    assert.equal(event.type === "payment.succeeded" && event.payment_id, "pay_x");
  }
  verifyWebhook(body, header(now, genuine), [another, secret], { now });
  verifyWebhook(body.toString(), header(now, genuine), secret, { now });
  verifyWebhook(new Uint8Array(body), header(now, genuine), secret, { now: now + 300 });
  verifyWebhook(body, header(now, genuine), secret, { now: now + 301, tolerance: 301 });
  const later = Buffer.from('{"type":"balance.changed","balance_id":"bal_x","more":{"of":1}}');
  const event = verifyWebhook(later, header(now, sign(later)), secret, { now });
  assert.deepEqual(event, { type: "balance.changed", balance_id: "bal_x", more: { of: 1 } });
});

test("returns the object of a delivery to an endpoint with objects, typed by the event", () => {
  const about = { id: "evt_x", created_at: "2025-11-21T08:30:00.000Z", sequence: 4 };
  const bytes = Buffer.from(
    JSON.stringify({ type: "payment.succeeded", ...about, data: { id: "pay_x", amount: 1050 } }),
  );
  const event = verifyWebhookObject(bytes, header(now, sign(bytes)), secret, { now });
  assert.equal(event.type === "payment.succeeded" && event.data?.amount, 1050);
  assert.equal(event.type !== "test.ping" && event.sequence, 4);
  assert.throws(() => verifyWebhookObject(bytes, header(now, sign(body)), secret, { now }), SignatureVerificationError);
});

test("refuses changed, forged, delayed and malformed deliveries with the cause and without a secret", () => {
  const genuine = header(now, sign(body));
  const reasons = [
    refusal(body, undefined),
    refusal(body, ""),
    refusal(body, "v1=abc"),
    refusal(body, `${genuine},t=${now + 1}`),
    refusal(body, header(now)),
    refusal(Buffer.concat([body, Buffer.from(" ")]), genuine),
    refusal(body, header(now, sign(body, now, another))),
    refusal(body, header(now - 301, sign(body))),
    refusal(body, header(now - 301, sign(body, now - 301))),
    refusal(body, header(now + 301, sign(body, now + 301))),
    refusal(Buffer.from("[]"), header(now, sign(Buffer.from("[]")))),
    refusal(Buffer.from("{"), header(now, sign(Buffer.from("{")))),
  ];
  const wanted = [
    ...[/header is missing/, /header is missing/, /look like t=/, /look like t=/, /look like t=/],
    ...[/no v1 signature matches/, /no v1 signature matches/, /no v1 signature matches/],
    ...[/signed 301 s ago, tolerance is 300 s/, /signed 301 s from now/],
    ...[/the body is not an event/, /the body is not an event/],
  ];
  for (const [i, reason] of reasons.entries()) {
    assert.match(reason, wanted[i] ?? /./);
    assert.ok(!reason.includes("whsec_"));
  }
});

test("refuses any other header and body without another error", () => {
  fc.assert(
    fc.property(fc.string(), fc.uint8Array(), (headerText, bytes) => {
      assert.ok(refusal(bytes, headerText).length > 0);
    }),
  );
});

test("throws a TypeError for a parsed body and for a malformed signing secret", () => {
  const parsed: unknown = JSON.parse(body.toString());
  const verify = (...words: unknown[]) => Reflect.apply(verifyWebhook, undefined, words);
  assert.throws(() => verify(parsed, header(now, sign(body)), secret), /the received bytes/);
  for (const wrong of ["", "sk_test_key", [], undefined]) {
    assert.throws(() => verify(body, header(now, sign(body)), wrong), TypeError);
  }
});

test.run();
