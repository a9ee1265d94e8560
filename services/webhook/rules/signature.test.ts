// The signatures of a delivery.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { signatureHeader, signingKeys, standardHeaders, standardSecret } from "./signature.ts";

const test = suite("signature");
const keyOf = (secret: string) => signingKeys(Buffer.from(secret));

// Proves credentials: signatures
test("signs t.body with HMAC-SHA256 under the literal secret, in hex (vector from openssl)", () => {
  // printf '1700000000.{"type":"payment.succeeded"}' | openssl dgst -sha256 -hmac 'whsec_abc'
  assert.equal(
    signatureHeader([keyOf("whsec_abc")], 1_700_000_000, Buffer.from('{"type":"payment.succeeded"}')),
    "t=1700000000,v1=819c89d633576e028c3b9fbea765cd92dccdcd1c584cd63e693d74b2091bc121",
  );
});

test("during the overlap after a roll both secrets sign in one header", () => {
  const header = signatureHeader([keyOf("whsec_new"), keyOf("whsec_old")], 1, Buffer.from("{}"));
  assert.match(header, /^t=1,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  assert(header.includes(signatureHeader([keyOf("whsec_old")], 1, Buffer.from("{}")).slice("t=1,".length)));
});

// Proves credentials: signatures
test("signs id.t.body under the secret's bytes as Standard Webhooks requires (vector from its libraries)", () => {
  const keys = [keyOf("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
  const body = Buffer.from('{"test": 2432232314}');
  assert.deepEqual(standardHeaders(keys, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body), {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("the standard secret is the same 32 bytes in padded base64, whatever their values are", () => {
  for (const byte of [0x00, 0xfb, 0xff]) {
    const bytes = Buffer.alloc(32, byte);
    assert.equal(standardSecret(`whsec_${bytes.toString("base64url")}`), `whsec_${bytes.toString("base64")}`);
  }
});

test.run();
