import assert from "node:assert/strict";
import { suite } from "../../test/harness/suite.ts";
import { checkoutSettings } from "./settings.ts";

const test = suite("checkout settings");
const read = (raw: string) => checkoutSettings.CHECKOUT_ORIGIN.parse(raw);

test("accepts an https origin, or http on this machine, for the page", () => {
  assert.equal(read("https://pay.example.com"), "https://pay.example.com");
  assert.equal(read("https://pay.example.com/"), "https://pay.example.com");
  assert.equal(read("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
  assert.equal(read("http://localhost:8080"), "http://localhost:8080");
});

test("refuses other origins and URLs with a path", () => {
  for (const raw of [
    "http://pay.example.com",
    "https://pay.example.com/c",
    "https://u@pay.example.com",
    "pay",
    "https://x?y",
  ]) {
    assert.throws(() => read(raw), /must be an https origin/, raw);
  }
});

test.run();
