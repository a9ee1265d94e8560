import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { retryMs, signWebhook } from "./webhook.ts";

const test = suite("webhook");

test("signs time, dot and body like OpenSSL", () => {
  // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
  const mac = "49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686";
  assert.is(signWebhook("secret", 1_700_000_000, '{"a":1}'), `t=1700000000,v1=${mac}`);
});

test("doubles retries from half a second to thirty and ends after three days", () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 1_000].map((attempts) => retryMs(attempts, 0));
  assert.equal(pauses, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  assert.is(retryMs(9, 3 * 24 * 3_600_000 - 1), 30_000);
  assert.is(retryMs(9, 3 * 24 * 3_600_000), null);
});

test.run();
