import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import { afterAllThatBegin } from "./condition.ts";

const test = suite("list conditions");
// Characters at the ends of the UTF-8 and surrogate ranges, so carries occur.
const letter = fc.constantFrom(
  "a",
  "b",
  "%",
  "_",
  "\u007f",
  "\u0080",
  "\ud7ff",
  "\ue000",
  "\uffff",
  "\u{10000}",
  "\u{10ffff}",
);
const text = fc.string({ unit: letter, maxLength: 4 });

test("the bounds of a prefix match exactly the texts with that prefix, by bytes", () => {
  fc.assert(
    fc.property(text, text, (beginning, other) => {
      const end = afterAllThatBegin(beginning);
      const isBetween = order(beginning, other) <= 0 && (end === undefined || order(other, end) < 0);
      assert.equal(isBetween, other.startsWith(beginning));
      assert.equal(
        order(beginning, beginning + other) <= 0 && (end === undefined || order(beginning + other, end) < 0),
        true,
      );
    }),
    { numRuns: 2_000 },
  );
});

/** Compares like a pattern index, by UTF-8 bytes. */
function order(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

test.run();
