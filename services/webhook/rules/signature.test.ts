// The signature of a delivery.
import assert from "node:assert/strict";
import { createSecretKey } from "node:crypto";
import { suite } from "../../../test/harness/suite.ts";
import { signatureHeader } from "./signature.ts";

const test = suite("signature");
const keyOf = (secret: string) => createSecretKey(Buffer.from(secret));

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

test.run();
