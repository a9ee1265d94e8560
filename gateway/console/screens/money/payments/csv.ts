// Formats payments as CSV.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListedPayment } from "#proto/payments/v1/payments_pb.ts";
import { csvHeading, csvRow } from "../../../view/csv.ts";
import { majorUnits } from "../../../view/values.ts";
import { mayCapture } from "../payment/refusal.ts";

const columns: readonly (readonly [string, (payment: ListedPayment) => string])[] = [
  ["id", ({ id }) => id],
  ["created_at", ({ createdAt }) => (createdAt ? timestampDate(createdAt).toISOString() : "")],
  // An authorization has not taken money, although the API calls it `succeeded`.
  ["status", (payment) => (mayCapture(payment) ? "authorized" : payment.status)],
  ["amount", ({ amount, currency }) => majorUnits(amount, currency)],
  ["captured_amount", ({ capturedAmount, currency }) => majorUnits(capturedAmount, currency)],
  ["currency", ({ currency }) => currency],
  ["fee_amount", ({ feeAmount, currency }) => majorUnits(feeAmount, currency)],
  ["refunded_amount", ({ refundedAmount, currency }) => majorUnits(refundedAmount, currency)],
  ["reference", ({ orderReference }) => orderReference],
  ["customer_email", ({ customerEmail }) => customerEmail],
  ["connector", ({ connector }) => connector],
  ["card_brand", ({ card }) => card?.brand ?? ""],
  ["card_last4", ({ card }) => card?.last4 ?? ""],
];

export const csvHead = csvHeading(columns.map(([name]) => name));

export function csvLine(payment: ListedPayment): string {
  return csvRow(columns.map(([, of]) => of(payment)));
}
