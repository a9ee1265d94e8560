import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { errorOf } from "./errors.ts";
import { parseJson } from "./json.ts";

const test = suite("untrusted JSON");

test("refuses JSON beyond 100 levels at any depth without a stack overflow", () => {
  for (const [open, inner, close] of [
    ["[", "", "]"],
    ['{"a":', "1", "}"],
  ] as const) {
    const nested = (levels: number) => open.repeat(levels) + inner + close.repeat(levels);
    parseJson(nested(100));
    for (const levels of [101, 10_000, 1_000_000]) assert.throws(() => parseJson(nested(levels)), SyntaxError);
  }
});

test("visits every object and array once", () => {
  const seen: object[] = [];
  const parsed = parseJson('{"a":[{"b":1},null,"c"],"d":{}}', (value) => seen.push(value));
  assert.deepEqual(parsed, { a: [{ b: 1 }, null, "c"], d: {} });
  assert.deepEqual(seen, [parsed, [{ b: 1 }, null, "c"], {}, { b: 1 }]);
  assert.deepEqual(
    ["1", '"x"', "null"].map((text) => parseJson(text)),
    [1, "x", null],
  );
});

test("drops error details that are not strings, however deep", () => {
  let deep: unknown = "x";
  for (let i = 0; i < 10_000; i++) deep = [deep];
  const error = errorOf(400, new Headers(), {
    error: { code: "a", message: "b", details: [{ field: deep, problem: 7 }] },
  });
  assert.deepEqual(error.details, [{ field: "", problem: "" }]);
});

test.run();
