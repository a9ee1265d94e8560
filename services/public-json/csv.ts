// CSV (RFC 4180). Customers and shops write some of its texts, so a cell that a spreadsheet would read as a formula
// starts with an apostrophe. Amounts are written exactly.
import { currencyExponent } from "#platform/values/money.ts";

/** The header line. Its byte order mark makes spreadsheets read UTF-8. */
export function csvHeading(names: readonly string[]): string {
  return `\ufeff${csvRow(names)}`;
}

/** A text, or a number of ours, whose minus sign a spreadsheet may read. */
export type CsvCell = string | { readonly number: string };

export function csvRow(cells: readonly CsvCell[]): string {
  return `${cells.map((cell) => (typeof cell === "string" ? csvCell(cell) : cell.number)).join(",")}\r\n`;
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

/** For example `10.50`, without grouping, for fields and files. */
export function majorUnits(amount: bigint, currency: string): string {
  const digits = currencyExponent(currency) ?? 2;
  const [sign, whole] = amount < 0n ? ["-", -amount] : ["", amount];
  const text = String(whole).padStart(digits + 1, "0");
  return digits === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
