import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { buyerEmail, isBuyerEmail, isEmail, withAsciiDomain } from "./email.ts";

const test = suite("e-mail addresses");

test("accepts valid addresses", () => {
  for (const text of ["a@b.co", "first.last+tag@sub.example.com", "o'neil@example.ie", "a@1.example"]) {
    assert.equal(isEmail(text), true, text);
  }
});

test("rejects invalid addresses, also ones built to be slow", () => {
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

test("stores a buyer's address trimmed, with an ASCII domain and a local part of any script", () => {
  for (const [text, stored] of [
    ["Ada@Example.com", "Ada@Example.com"],
    [" ada@example.com\n", "ada@example.com"],
    ["ada@bücher.example", "ada@xn--bcher-kva.example"],
    ["ada@例え.jp", "ada@xn--r8jz45g.jp"],
    ["jo\u0308rg@example.com", "jörg@example.com"],
    ["用户@例え.jp", "用户@xn--r8jz45g.jp"],
    ["a..b@example.com", "a..b@example.com"],
  ] as const) {
    assert.equal(buyerEmail(text), stored);
    assert.ok(isBuyerEmail(stored));
  }
  for (const text of [
    "",
    "@",
    "a@b",
    "a b@c.example",
    "a\u200bb@c.example",
    "a\u202eb@c.example",
    "ada@bü cher.example",
  ]) {
    assert.equal(buyerEmail(text), undefined, JSON.stringify(text));
  }
  assert.equal(buyerEmail(`${"ö".repeat(33)}@example.com`), undefined, "the name has at most 64 bytes");
  assert.equal(isEmail("jörg@example.com"), false);
  assert.equal(withAsciiDomain("@bücher.exam"), "@xn--bcher-kva.exam");
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
