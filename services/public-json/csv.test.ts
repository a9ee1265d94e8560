// No spreadsheet computes a text of a customer or a shop, and every harmless text survives a round trip.
import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../test/harness/suite.ts";
import { csvCell } from "./csv.ts";

const test = suite("CSV");

/** Reads a cell by RFC 4180. */
function read(cell: string): string {
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

test("starts no cell like a formula", () => {
  const begin = fc.constantFrom("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "", '"', "'");
  fc.assert(
    fc.property(begin, fc.string(), (first, rest) => {
      assert.ok(!/^[=+\-@\t\r\n＝＋－＠]/.test(read(csvCell(first + rest))));
    }),
  );
  assert.equal(csvCell("\t+1"), `"'\t'+1"`);
});

test("starts no cell like a formula when separated by semicolon or tab", () => {
  const piece = fc.constantFrom(";", "\t", "\r\n", "=1", "-1", "@", "＋", '"', " ", "a", "'");
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      for (const cell of csvCell(pieces.join("")).split(/[;\t\r\n]/))
        assert.ok(!/^[" ]*[=+\-@＝＋－＠]/.test(cell), cell);
    }),
  );
  assert.equal(csvCell(";=cmd|'/C calc'!A0;"), `";'=cmd|'/C calc'!A0;"`);
});

test("keeps a harmless text with commas, quotes and line breaks", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!/(^|[;\t\r\n])[" ]*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text));
      const cell = csvCell(text);
      assert.equal(read(cell), text);
      if (/[",\r\n]/.test(text)) assert.ok(cell.startsWith('"') && cell.endsWith('"'));
    }),
  );
});

test.run();
