// No text that a buyer or a shop wrote computes anything in a spreadsheet, and every text comes back as it was.
import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { type ListedPayment, ListedPaymentSchema } from "#proto/payments/v1/payments_pb.ts";
import { suite } from "../../../../../test/harness/suite.ts";
import { csvCell, csvHead, csvLine } from "./csv.ts";

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

const manual = { amount: 5_000n, currency: "EUR", status: "succeeded", captureMethod: "manual" } as const;
const authorizedAt = timestampFromDate(new Date("2026-01-01T12:00:00Z"));

/** The cell of a column. */
function cellOf(change: Partial<Pick<ListedPayment, "status" | "capturedAmount">>, column: string): string {
  const line = csvLine(create(ListedPaymentSchema, { ...manual, authorizedAt, ...change }));
  return line.trimEnd().split(",")[csvHead.slice(1).trimEnd().split(",").indexOf(column)] ?? "";
}

test("an authorization, a capture of a part and a payment captured whole are three different lines", () => {
  const cellsFor = (capturedAmount: bigint) =>
    ["status", "amount", "captured_amount"].map((column) => cellOf({ capturedAmount }, column));
  assert.deepEqual(cellsFor(0n), ["authorized", "50.00", "0.00"]);
  assert.deepEqual(cellsFor(100n), ["succeeded", "50.00", "1.00"]);
  assert.deepEqual(cellsFor(5_000n), ["succeeded", "50.00", "50.00"]);
});

test("the captured column adds up to what was taken, whatever became of each payment", () => {
  const status = fc.constantFrom("succeeded", "refunded", "partially_refunded", "disputed", "failed", "canceled");
  const payment = fc.record({ status, capturedAmount: fc.bigInt({ min: 0n, max: 5_000n }) });
  fc.assert(
    fc.property(fc.array(payment), (payments) => {
      const cents = payments.map((one) => BigInt(cellOf(one, "captured_amount").replace(".", "")));
      const sum = (amounts: readonly bigint[]) => amounts.reduce((all, one) => all + one, 0n);
      assert.equal(sum(cents), sum(payments.map(({ capturedAmount }) => capturedAmount)));
    }),
  );
});

test.run();
