// Formats payments as CSV (RFC 4180). Customers and shops write some of its texts, so a cell that a spreadsheet would
// read as a formula starts with an apostrophe.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListedPayment } from "#proto/payments/v1/payments_pb.ts";
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

/** The header line. Its byte order mark makes spreadsheets read UTF-8. */
export const csvHead = `\ufeff${lineOf(columns.map(([name]) => name))}`;

export function csvLine(payment: ListedPayment): string {
  return lineOf(columns.map(([, of]) => csvCell(of(payment))));
}

// Most cells start unlike a formula and hold no separator.
const plain = /^[a-z0-9][\w.:@-]*$/i;

/** Escapes a text so that no spreadsheet computes it. */
export function csvCell(text: string): string {
  if (text === "" || plain.test(text)) return text;
  // A spreadsheet that separates cells by semicolon or tab, such as a German one, ignores quotes within a line. For it,
  // a cell can start inside the text.
  const inner = text.replace(/(^|[;\t\r\n])(?=[" ]*[=+\-@＝＋－＠])/g, "$1'");
  const safe = /^[\t\r\n]/.test(inner) ? `'${inner}` : inner;
  return /["',;\r\n\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function lineOf(cells: readonly string[]): string {
  return `${cells.join(",")}\r\n`;
}
