import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { brandOf, passesLuhn, readCardEntry } from "./card-entry.ts";
import { testCards } from "./test-card.ts";

const test = suite("card-entry");
const now = new Date("2026-11-21T12:00:00Z");
const good = { number: "4242 4242-4242 4242", exp_month: 11, exp_year: 26, cvc: "123", postal_code: "SW1A 1AA" };
const fieldOf = (members: object, at = now) => {
  const read = readCardEntry({ ...good, ...members }, at);
  return "code" in read ? read.field : "fine";
};

test("reads a card without spaces and with a full year", () => {
  assert.equal(readCardEntry(good, now), {
    number: "4242424242424242",
    brand: "visa",
    exp_month: 11,
    exp_year: 2026,
    cvc: "123",
    postal_code: "SW1A 1AA",
  });
});

test("accepts a card until the end of its month", () => {
  assert.is(fieldOf({}, new Date("2026-11-30T23:59:59.999Z")), "fine");
  assert.is(fieldOf({}, new Date("2026-12-01T00:00:00Z")), "exp_year");
});

test("reports each wrong field", () => {
  for (const number of ["", "4242424242424241", "42", "4".repeat(20), 4242424242424242, "4242a24242424242"])
    assert.is(fieldOf({ number }), "number");
  for (const exp_month of [0, 13, 1.5, "x", undefined]) assert.is(fieldOf({ exp_month }), "exp_month");
  for (const exp_year of [25, 2025, 1999, 2077, "x", -1]) assert.is(fieldOf({ exp_year }), "exp_year");
  for (const cvc of ["", "12", "1234", "12a", 123]) assert.is(fieldOf({ cvc }), "cvc");
  for (const postal_code of ["<b>", "12345678901", 10115, " 1"]) assert.is(fieldOf({ postal_code }), "postal_code");
});

test("accepts a missing postal code and American Express's four-digit code", () => {
  assert.is(fieldOf({ postal_code: "" }), "fine");
  assert.is(fieldOf({ postal_code: undefined }), "fine");
  assert.is(fieldOf({ number: "378282246310005", cvc: "1234" }), "fine");
  assert.is(fieldOf({ number: "378282246310005" }), "cvc");
});

test("never repeats the input in a problem", () => {
  const text = JSON.stringify(readCardEntry({ ...good, number: "4242424242424241" }, now));
  assert.not.match(text, "4242");
});

test("detects brands by prefix", () => {
  const numbers = { "2221000000000009": "mastercard", "2720990000000000": "mastercard", "2721000000000000": "unknown" };
  const more = { "6011": "discover", "30": "unknown", "305": "diners", "35": "jcb", "62": "unionpay", "34": "amex" };
  for (const [number, brand] of Object.entries({ ...numbers, ...more })) assert.is(brandOf(number), brand, number);
});

test("has test cards with distinct, valid numbers", () => {
  assert.ok(testCards.every(({ number }) => passesLuhn(number)));
  assert.is(new Set(testCards.map(({ number }) => number)).size, testCards.length);
  assert.is(new Set(testCards.map(({ behaviour }) => behaviour)).size, testCards.length);
});

test.run();
