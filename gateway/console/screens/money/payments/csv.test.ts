// A payment's cells show its state and sum up to the captured money.
import assert from "node:assert/strict";
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { type ListedPayment, ListedPaymentSchema } from "#proto/payments/v1/payments_pb.ts";
import { suite } from "../../../../../test/harness/suite.ts";
import { paymentColumns } from "./csv.ts";

const test = suite("payment CSV");

const manual = { amount: 5_000n, currency: "EUR", status: "succeeded", captureMethod: "manual" } as const;
const authorizedAt = timestampFromDate(new Date("2026-01-01T12:00:00Z"));

function cellOf(change: Partial<Pick<ListedPayment, "status" | "capturedAmount">>, column: string): string {
  const [, cell] = paymentColumns.find(([heading]) => heading === column) ?? [];
  return cell?.(create(ListedPaymentSchema, { ...manual, authorizedAt, ...change })) ?? "";
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
