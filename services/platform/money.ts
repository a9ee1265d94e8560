// Currencies and the bounds of an amount. Amounts are integers in minor units; no floating point touches them (CONTRACT.md §3).
import currencyCodes from "currency-codes";

/** Largest amount of one payment, minor units (CONTRACT.md §4). */
export const amountMax = 99_999_999n;

const exponents: ReadonlyMap<string, number> = new Map(
  currencyCodes.data
    // Codes X.. are funds, metals and test codes of ISO 4217, not money a card can be charged in.
    .filter((entry) => !(entry.code.startsWith("X") && !["XAF", "XCD", "XCG", "XOF", "XPF"].includes(entry.code)))
    .map((entry) => [entry.code, entry.digits]),
);

/** The number of decimals of a currency (ISO 4217); undefined when there is no such currency. */
export function currencyExponent(currency: string): number | undefined {
  return exponents.get(currency);
}

/** Every currency code that can be charged, upper case. */
export function currencies(): readonly string[] {
  return [...exponents.keys()];
}
