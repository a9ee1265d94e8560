// No spreadsheet computes a text of a customer or a shop, and every harmless text survives a round trip.
import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { type ListedPayment, ListedPaymentSchema } from "#proto/payments/v1/payments_pb.ts";
import { suite } from "../../../../../test/harness/suite.ts";
import { csvCell, csvHead, csvLine } from "./csv.ts";

const test = suite("payment CSV");

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

const manual = { amount: 5_000n, currency: "EUR", status: "succeeded", captureMethod: "manual" } as const;
const authorizedAt = timestampFromDate(new Date("2026-01-01T12:00:00Z"));

function cellOf(change: Partial<Pick<ListedPayment, "status" | "capturedAmount">>, column: string): string {
  const line = csvLine(create(ListedPaymentSchema, { ...manual, authorizedAt, ...change }));
  return line.trimEnd().split(",")[csvHead.slice(1).trimEnd().split(",").indexOf(column)] ?? "";
}

test("distinguishes an authorization, a partial and a full capture", () => {
  const cellsFor = (capturedAmount: bigint) =>
    ["status", "amount", "captured_amount"].map((column) => cellOf({ capturedAmount }, column));
  assert.deepEqual(cellsFor(0n), ["authorized", "50.00", "0.00"]);
  assert.deepEqual(cellsFor(100n), ["succeeded", "50.00", "1.00"]);
  assert.deepEqual(cellsFor(5_000n), ["succeeded", "50.00", "50.00"]);
});

test("sums the captured column to the captured amounts", () => {
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
