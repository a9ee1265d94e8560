// No text that a buyer or a shop wrote computes anything in a spreadsheet, and every text comes back as it was.
import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../../../test/harness/suite.ts";
import { csvCell } from "./csv.ts";

const test = suite("cells of the file of payments");

/** As a reader of RFC 4180 takes it. */
function read(cell: string): string {
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

test("a cell never begins as a formula does", () => {
  const begin = fc.constantFrom("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "", '"', "'");
  fc.assert(
    fc.property(begin, fc.string(), (first, rest) => {
      assert.ok(!/^[=+\-@\t\r\n＝＋－＠]/.test(read(csvCell(first + rest))));
    }),
  );
  assert.equal(csvCell("\t+1"), `"'\t'+1"`);
});

test("no cell begins as a formula for a spreadsheet that parts cells by semicolon or tab", () => {
  const piece = fc.constantFrom(";", "\t", "\r\n", "=1", "-1", "@", "＋", '"', " ", "a", "'");
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      for (const cell of csvCell(pieces.join("")).split(/[;\t\r\n]/))
        assert.ok(!/^[" ]*[=+\-@＝＋－＠]/.test(cell), cell);
    }),
  );
  assert.equal(csvCell(";=cmd|'/C calc'!A0;"), `";'=cmd|'/C calc'!A0;"`);
});

test("a harmless text comes back as it was, whatever commas, quotes and line breaks it has", () => {
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
