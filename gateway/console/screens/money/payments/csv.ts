// Payments as lines of a file for spreadsheets (RFC 4180). Buyers and shops write some of its texts: a cell that a
// spreadsheet would take for a formula begins with an apostrophe.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListedPayment } from "#proto/payments/v1/payments_pb.ts";
import { majorUnits } from "../../../view/values.ts";
import { mayCapture } from "../payment/open-acts.ts";

const columns: readonly (readonly [string, (payment: ListedPayment) => string])[] = [
  ["id", ({ id }) => id],
  ["created_at", ({ createdAt }) => (createdAt ? timestampDate(createdAt).toISOString() : "")],
  // An authorization has taken nothing, though the API calls it `succeeded`.
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

/** Names of the columns. The mark before them makes spreadsheets read UTF-8. */
export const csvHead = `\ufeff${lineOf(columns.map(([name]) => name))}`;

export function csvLine(payment: ListedPayment): string {
  return lineOf(columns.map(([, of]) => csvCell(of(payment))));
}

// Begins as no formula does and has nothing in it that parts cells: nearly every cell.
const plain = /^[a-z0-9][\w.:@-]*$/i;

/** A text as a cell that computes nothing, whatever stands in it. */
export function csvCell(text: string): string {
  if (text === "" || plain.test(text)) return text;
  // A spreadsheet that parts cells by semicolon or tab, as German ones do, knows no quotes in the middle of a line: for
  // it a cell begins in the text.
  const inner = text.replace(/(^|[;\t\r\n])(?=[" ]*[=+\-@＝＋－＠])/g, "$1'");
  const safe = /^[\t\r\n]/.test(inner) ? `'${inner}` : inner;
  return /["',;\r\n\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function lineOf(cells: readonly string[]): string {
  return `${cells.join(",")}\r\n`;
}
