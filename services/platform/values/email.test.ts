import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { isEmail } from "./email.ts";

const test = suite("e-mail addresses");

test("what can be an address is one", () => {
  for (const text of ["a@b.co", "first.last+tag@sub.example.com", "o'neil@example.ie", "a@1.example"]) {
    assert.equal(isEmail(text), true, text);
  }
});

test("what cannot be an address is none, also when it is made to take long", () => {
  const long = `${"a".repeat(65)}@example.com`;
  const domain = `a@${"b".repeat(64)}.example`;
  for (const text of [
    "",
    "a",
    "a@b",
    "@b.co",
    "a@b..co",
    "a b@c.co",
    "a@-b.co",
    "a@b.co\n",
    "a@b.co\0",
    long,
    domain,
  ]) {
    assert.equal(isEmail(text), false, JSON.stringify(text));
  }
  assert.equal(isEmail(`a@${"a-".repeat(10_000)}`), false);
  assert.equal(isEmail(`a@${"a.".repeat(120)}!`), false);
});

test("an address has at most 254 characters", () => {
  const address = (length: number) => {
    const domain = `${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.example`;
    return `${"a".repeat(length - domain.length - 1)}@${domain}`;
  };
  assert.equal(isEmail(address(254)), true);
  assert.equal(isEmail(address(255)), false);
});

test.run();
