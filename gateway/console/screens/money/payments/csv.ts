// Formats payments and refunds as CSV.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListedPayment, Refund } from "#proto/payments/v1/payments_pb.ts";
import { type CsvCell, csvHeading, csvRow, majorUnits } from "../../../../../services/public-json/csv.ts";
import { mayCapture } from "../payment/refusal.ts";

/** Of a file. */
export type Columns<T, Cell = string> = readonly (readonly [heading: string, cell: (row: T) => Cell])[];

export const paymentColumns: Columns<ListedPayment> = [
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
  ["payment_method", ({ method }) => method?.type ?? ""],
  ["wallet", ({ method }) => method?.wallet ?? ""],
  ["bank_country", ({ method }) => method?.bankCountry ?? ""],
  ["bank_last4", ({ method }) => method?.bankLast4 ?? ""],
];

export const refundColumns: Columns<Refund> = [
  ["id", ({ id }) => id],
  ["created_at", ({ createdAt }) => (createdAt ? timestampDate(createdAt).toISOString() : "")],
  ["payment_id", ({ paymentId }) => paymentId],
  ["status", ({ status }) => status],
  ["amount", ({ amount, currency }) => majorUnits(amount, currency)],
  ["currency", ({ currency }) => currency],
  ["reason", ({ reason }) => reason],
  ["failure_code", ({ failureCode }) => failureCode],
  ["failure_message", ({ failureMessage }) => failureMessage],
  ["reference", ({ orderReference }) => orderReference],
  ["customer_email", ({ customerEmail }) => customerEmail],
];

/** The format of a list's file, page by page. */
export function csvFileOf<T extends { readonly id: string }, P extends { readonly hasMore: boolean }>(
  columns: Columns<T, CsvCell>,
  rowsOf: (page: P) => readonly T[],
): { head: string; linesOf(page: P): string; nextOf(page: P): string | undefined } {
  return {
    head: csvHeading(columns.map(([heading]) => heading)),
    linesOf: (page) =>
      rowsOf(page)
        .map((row) => csvRow(columns.map(([, cell]) => cell(row))))
        .join(""),
    nextOf: (page) => (page.hasMore ? rowsOf(page).at(-1)?.id : undefined),
  };
}
