import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { errorOf } from "./errors.ts";
import { parseJson } from "./json.ts";

const test = suite("JSON that somebody else wrote");

test("what is nested deeper than anything of Tollbooth is refused, however deep, and ends no program", () => {
  for (const [open, inner, close] of [
    ["[", "", "]"],
    ['{"a":', "1", "}"],
  ] as const) {
    const nested = (levels: number) => open.repeat(levels) + inner + close.repeat(levels);
    parseJson(nested(100));
    for (const levels of [101, 10_000, 1_000_000]) assert.throws(() => parseJson(nested(levels)), SyntaxError);
  }
});

test("every value with members is looked at once, and texts and numbers are what they are", () => {
  const seen: object[] = [];
  const parsed = parseJson('{"a":[{"b":1},null,"c"],"d":{}}', (value) => seen.push(value));
  assert.deepEqual(parsed, { a: [{ b: 1 }, null, "c"], d: {} });
  assert.deepEqual(seen, [parsed, [{ b: 1 }, null, "c"], {}, { b: 1 }]);
  assert.deepEqual(
    ["1", '"x"', "null"].map((text) => parseJson(text)),
    [1, "x", null],
  );
});

test("details that are no texts are none, however deep they are", () => {
  let deep: unknown = "x";
  for (let i = 0; i < 10_000; i++) deep = [deep];
  const error = errorOf(400, new Headers(), {
    error: { code: "a", message: "b", details: [{ field: deep, problem: 7 }] },
  });
  assert.deepEqual(error.details, [{ field: "", problem: "" }]);
});

test.run();
