import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import { ApiError } from "../../failures.ts";
import { bodyMaxBytes, parseBody } from "./json-body.ts";

const test = suite("request body");

/** The violations that a text is refused with. */
function refusal(text: string | Buffer): readonly { field: string; problem: string }[] {
  try {
    parseBody(Buffer.from(text));
  } catch (error) {
    if (error instanceof ApiError && error.code === "invalid_body") return error.violations;
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

test("reads every acceptable object as JSON.parse does", () => {
  const clean = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\0", "").toWellFormed());
  const name = clean.filter((text) => text !== "__proto__");
  const object = fc.dictionary(
    name,
    fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, clean, fc.integer(), fc.boolean(), fc.constant(null), fc.array(tie("value"))),
    })).value,
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(object, fc.nat(4), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      assert.deepEqual(parseBody(Buffer.from(text)), JSON.parse(text));
    }),
  );
});

test("reads or refuses any bytes without another error than invalid_body", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        fc.json(),
      ),
      (input) => {
        try {
          parseBody(Buffer.from(input));
        } catch (error) {
          assert.ok(error instanceof ApiError);
        }
      },
    ),
  );
});

test("refuses a duplicate name at any depth and in any spelling", () => {
  assert.deepEqual(refusal('{"a":1,"a":1}'), [{ field: "a", problem: "is given more than once" }]);
  assert.equal(refusal('{"x":[{"a":1},{"b":{"c":1,"\\u0063":2}}]}')[0]?.field, "c");
  assert.deepEqual(parseBody(Buffer.from('{"a":{"b":1},"b":"a","c":["a","a"]}')), {
    a: { b: 1 },
    b: "a",
    c: ["a", "a"],
  });
  assert.deepEqual(parseBody(Buffer.from('{"a":"\\"a\\":1,","b":"{\\"b\\":"}')), { a: '"a":1,', b: '{"b":' });
});

test("refuses __proto__, NUL and unpaired surrogates in names and values", () => {
  assert.equal(refusal('{"metadata":{"__proto__":"x"}}')[0]?.field, "metadata.__proto__");
  assert.equal(refusal('{"__pro\\u0074o__":1}')[0]?.field, "__proto__");
  assert.equal(refusal('{"a":["x",["y\\u0000"]]}')[0]?.field, "a[1][0]");
  assert.equal(refusal('{"metadata":{"5":"x\\u0000"}}')[0]?.field, "metadata.5");
  assert.equal(refusal('{"a":["x\\u0000"]}')[0]?.problem, "must not contain a NUL character");
  assert.equal(refusal('{"a":"\\udc00"}')[0]?.problem, "must be well-formed Unicode");
  assert.equal(refusal('{"\\ud800":1}')[0]?.problem, "must be well-formed Unicode");
});

test("nesting is refused beyond 32 levels, without recursion into the depth", () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  assert.ok(parseBody(Buffer.from(nested(32))));
  assert.match(refusal(nested(33))[0]?.problem ?? "", /nested deeper/);
  const deepest = "[".repeat(30_000);
  assert.match(refusal(`{"a":${deepest}${deepest.replaceAll("[", "]")}}`)[0]?.problem ?? "", /nested deeper/);
});

test("refuses bytes that are not UTF-8, not JSON or not an object; no bytes are no body", () => {
  assert.equal(refusal(Buffer.from([0x7b, 0xff, 0x7d]))[0]?.problem, "must be UTF-8");
  assert.equal(refusal("{")[0]?.problem, "must be valid JSON");
  for (const text of ["[]", "1", '"a"', "null", "true"]) {
    assert.equal(refusal(text)[0]?.problem, "must be a JSON object");
  }
  assert.equal(parseBody(Buffer.alloc(0)), undefined);
});

test("a refusal contains no value and no long name", () => {
  const text = JSON.stringify({ [`${"n".repeat(500)}\ud800`]: 1, secret: "hunter2\u0000" });
  const violations = refusal(text);
  assert.ok(violations.every(({ field }) => field.length <= 64));
  assert.ok(!JSON.stringify(violations).includes("hunter2"));
});

test("parses the largest hostile bodies without backtracking", () => {
  const manyKeys = `{${Array.from({ length: 6_000 }, (_, i) => `"k${i}":"\\u0000"`).join(",")}}`.slice(0, bodyMaxBytes);
  const quotes = `{"a":"${'\\"'.repeat(bodyMaxBytes / 2 - 10)}"}`;
  for (const text of [manyKeys, quotes, "[".repeat(bodyMaxBytes)]) {
    const before = process.cpuUsage();
    try {
      parseBody(Buffer.from(text));
    } catch {}
    const { user, system } = process.cpuUsage(before);
    // CPU time, which other processes do not add to: linear parsing takes a few ms, quadratic some seconds.
    assert.ok(user + system < 1_000_000);
  }
});

test.run();
