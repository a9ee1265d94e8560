import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { requestViolations, type SessionRequest } from "./session-request.ts";

const test = suite("session requests");
const good: SessionRequest = {
  isSandbox: true,
  amount: 1_000n,
  currency: "EUR",
  description: "",
  orderReference: "",
  customerEmail: "",
  metadata: {},
  successUrl: "",
  cancelUrl: "",
  locale: "",
  lineItems: [],
};
const fields = (change: Partial<SessionRequest>) =>
  requestViolations({ ...good, ...change }).map((violation) => violation.field);

test("requires only the currency", () => {
  assert.deepEqual(fields({}), []);
  assert.deepEqual(fields({ currency: "" }), ["currency"]);
});

test("accepts currencies that cards can be charged in", () => {
  for (const currency of ["USD", "JPY", "KWD", "XOF"]) assert.deepEqual(fields({ currency }), [], currency);
  for (const currency of ["eur", "XAU", "XXX", "ABC"]) assert.deepEqual(fields({ currency }), ["currency"], currency);
});

test("accepts https return URLs, in the sandbox also http to this machine", () => {
  const cancelUrl = "https://shop.example/cancel?x=1#top";
  assert.deepEqual(fields({ successUrl: "http://localhost:3000/done", cancelUrl }), []);
  assert.deepEqual(fields({ successUrl: "http://[::1]:3000" }), []);
  assert.deepEqual(fields({ successUrl: "http://localhost/", isSandbox: false }), ["success_url"]);
  const refused = [
    "http://shop.example",
    "javascript:alert(1)",
    "//x",
    "https://u:p@shop.example",
    "ftp://x",
    "data:,x",
  ];
  for (const url of [...refused, "http://localhost.evil.example"]) {
    assert.deepEqual(fields({ successUrl: url, cancelUrl: url }), ["success_url", "cancel_url"], url);
  }
});

test("accepts BCP 47 language tags", () => {
  for (const locale of ["en", "de-AT", "zh-Hant-TW"]) assert.deepEqual(fields({ locale }), [], locale);
  for (const locale of ["e", "de_AT", "en-", "<script>"]) assert.deepEqual(fields({ locale }), ["locale"], locale);
});

test("refuses NUL in texts, metadata keys and values", () => {
  assert.deepEqual(fields({ description: "a\0" }), ["description"]);
  assert.deepEqual(fields({ metadata: { "a\0": "x" } }), ["metadata"]);
  assert.deepEqual(fields({ metadata: { a: "\0" } }), ["metadata"]);
});

test("requires line items to sum to the amount, with negative discounts", () => {
  const line = (amount: bigint, name = "Tea") => ({ name, quantity: 1, amount });
  assert.deepEqual(fields({ lineItems: [line(1_200n), line(-200n, "Discount")] }), []);
  for (const lineItems of [[line(999n)], [line(1_000n), line(1n)], [line(-1_000n)]]) {
    const found = requestViolations({ ...good, lineItems });
    assert.deepEqual(
      found.map(({ field }) => field),
      ["line_items"],
    );
    assert.match(found[0]?.problem ?? "", /^must sum to amount; the sum is (greater|less)$/);
  }
  assert.deepEqual(fields({ lineItems: [line(1n), line(999n, "a\0")] }), ["line_items[1].name"]);
});

test.run();
