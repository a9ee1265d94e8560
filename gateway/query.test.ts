import assert from "node:assert/strict";
import fc from "fast-check";
import { Type } from "typebox";
import { suite } from "../test/harness/suite.ts";
import { numbersOf, parseQuery, textViolations } from "./query.ts";

const test = suite("query string");
const schema = Type.Object({ limit: Type.Integer(), q: Type.String() });
const limitOf = (text: string) => numbersOf(schema, parseQuery(`limit=${text}`)).limit;

test("reads integers in canonical decimal only and leaves other texts to the schema", () => {
  assert.deepEqual(["0", "5", "-3", "200"].map(limitOf), [0, 5, -3, 200]);
  for (const text of ["", "05", "5.0", "1e1", "0x10", "-0", "5 ", "%205", "5_0", "NaN", "Infinity", "٣"]) {
    assert.equal(typeof limitOf(text), "string", text);
  }
  assert.equal(limitOf("+5"), " 5"); // a plus in a query is a space
});

test("accepts int64 and clamps values beyond 2^53 to the largest exact integer", () => {
  assert.equal(limitOf("9007199254740993"), Number.MAX_SAFE_INTEGER);
  assert.equal(limitOf("9223372036854775807"), Number.MAX_SAFE_INTEGER);
  assert.equal(limitOf("-9223372036854775808"), Number.MIN_SAFE_INTEGER);
  assert.equal(limitOf("9223372036854775808"), "9223372036854775808");
  assert.equal(limitOf("99999999999999999999"), "99999999999999999999");
});

test("makes a repeated parameter a list, which no schema accepts", () => {
  assert.deepEqual(parseQuery("a=1&b=2&a=3").a, ["1", "3"]);
  assert.deepEqual(numbersOf(schema, parseQuery("limit=1&limit=2")).limit, ["1", "2"]);
});

test("treats names of Object.prototype as ordinary parameters", () => {
  const query = parseQuery("__proto__=x&constructor=y&toString=z");
  assert.deepEqual(Object.keys(query).sort(), ["__proto__", "constructor", "toString"]);
  assert.equal(Object.getPrototypeOf({}).x, undefined);
  const read = numbersOf(schema, query);
  assert.deepEqual([Object.keys(read).length, read.constructor], [3, "y"]);
});

const wrongTexts = (text: string) => textViolations(schema, parseQuery(text), `/v1/payments?${text}`);

test("refuses NUL after parsing, since a throw of the parser would end the process", () => {
  for (const text of ["q=%00", "q=1&q=%00"]) {
    assert.deepEqual(wrongTexts(text), [{ field: "q", problem: "must not contain a NUL character" }], text);
  }
  for (const text of ["%00=1", "unknown=%00", "q=1&q=2", ""]) assert.deepEqual(wrongTexts(text), [], text);
});

test("refuses bytes that are not UTF-8 with the parameter's name and accepts all UTF-8", () => {
  const wrong = ["%ff", "a%FFb", "%c3", "%c3x", "%ed%a0%80", "%f0%9f%9b", "%c0%af", "%EF%BF%BD%ff", "%ff?x", "1&q=%ff"];
  for (const value of wrong) {
    assert.deepEqual(wrongTexts(`limit=5&q=${value}&unknown=%ff`), [{ field: "q", problem: "must be UTF-8" }], value);
  }
  assert.deepEqual(wrongTexts("q=a&%71=%ff"), [{ field: "q", problem: "must be UTF-8" }], "the name is escaped too");
  const right = ["%EF%BF%BD", "%c3%a9", "%F0%9F%9B%92", "%zz", "%", "100%25", "é", "%EF%BF%BD&unknown=%ff"];
  for (const value of right) assert.deepEqual(wrongTexts(`q=${value}`), [], value);
});

test("keeps the first 64 parameters", () => {
  const text = Array.from({ length: 100_000 }, (_, i) => `p${i}`).join("&");
  assert.equal(Object.keys(parseQuery(text)).length, 64);
});

test("never throws while parsing", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void parseQuery(text)));
});

test.run();
