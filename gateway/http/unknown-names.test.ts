import assert from "node:assert/strict";
import { suite } from "../../test/harness/suite.ts";
import { ignoredFields, unknownProblem } from "./unknown-names.ts";

const test = suite("unknown names");

test("suggests the most similar known name, and none that is too different", () => {
  const known = ["status", "from", "to", "capture_method", "q"];
  for (const [name, meant] of [
    ["stauts", "status"],
    ["statsu", "status"],
    ["capture_metod", "capture_method"],
    ["form", "from"],
    ["x", undefined],
    ["fro", "from"],
    ["colour", undefined],
    ["", undefined],
    ["x".repeat(5_000), undefined],
  ] as const)
    assert.equal(unknownProblem(name, known), `is not known here${meant ? `; did you mean ${meant}?` : ""}`, name);
  assert.equal(unknownProblem("x", []), "is not known here");
});

test("lists ignored fields in a form and length that a header allows", () => {
  const schema = { properties: { name: {} } };
  assert.equal(ignoredFields(schema, { name: "a" }), undefined);
  assert.equal(ignoredFields(schema, undefined), undefined);
  assert.equal(
    ignoredFields(schema, { colour: 1, "a\r\nb: c": 2, größe: 3 }),
    "colour, a%0D%0Ab%3A%20c, gr%C3%B6%C3%9Fe",
  );
  assert.equal(ignoredFields(schema, { constructor: 1 }), "constructor");
  const many = Object.fromEntries(Array.from({ length: 100 }, (_none, i) => [`${i}${"x".repeat(100)}`, i]));
  const named = ignoredFields(schema, many)?.split(", ") ?? [];
  assert.deepEqual([named.length, named[0]?.length], [10, 32]);
  assert.equal(ignoredFields(schema, { [`${"a".repeat(31)}😀`]: 1 }), `${"a".repeat(31)}%EF%BF%BD`);
});

test.run();
