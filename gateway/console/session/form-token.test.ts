import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { formToken, isFormToken, isFromOurPages } from "./form-token.ts";

const test = suite("form token");
const origin = "https://console.example";

test("a token belongs to one session and differs from page to page", () => {
  const [one, other] = [formToken("secret"), formToken("secret")];
  assert.is.not(one, other);
  assert.ok(isFormToken("secret", one) && isFormToken("secret", other));
  assert.not.ok(isFormToken("another secret", one));
});

test("rejects a malformed or changed token", () => {
  const token = formToken("secret");
  for (const wrong of ["", ".", "a.b", token.slice(0, -1), `${token}A`, `x${token}`, "a".repeat(10_000)]) {
    assert.not.ok(isFormToken("secret", wrong), wrong.slice(0, 80));
  }
});

test("accepts forms of our own pages by Fetch Metadata, else by Origin", () => {
  const from = (headers: Record<string, string>) => isFromOurPages({ headers }, origin);
  assert.ok(from({ "sec-fetch-site": "same-origin" }));
  assert.ok(from({ origin }));
  for (const site of ["cross-site", "same-site", "none"]) {
    assert.not.ok(from({ "sec-fetch-site": site, origin }), site);
  }
  for (const other of ["null", "https://evil.example", "https://console.example.evil.example", ""]) {
    assert.not.ok(from({ origin: other }), other);
  }
  assert.not.ok(from({}));
});

test.run();
