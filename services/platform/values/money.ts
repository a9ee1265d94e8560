// Currencies and the bounds of an amount. Amounts are integers in minor units; no floating point touches them
// (docs/contract.md §3).
import currencyCodes from "currency-codes";

/** Largest amount of one payment, minor units (docs/contract.md §4). */
export const amountMax = 99_999_999n;

// In ISO 4217's list, but marked there as funds: units that banks keep accounts in, which nobody pays with.
const funds = new Set(["BOV", "CHE", "CHW", "CLF", "COU", "MXV", "USN", "UYI"]);
// Codes X.. are metals, funds and test codes, but for the currencies that several countries have in common.
const shared = new Set(["XAF", "XCD", "XCG", "XOF", "XPF"]);
// Money has these; four decimals have units that contracts are indexed by (CLF, UYW).
const moneyDigits = new Set([0, 2, 3]);
// Newer than the package's list (published 2024-06-25): the Caribbean guilder, ISO 4217 amendment 176, in effect since
// 2025-03-31.
const newer = [{ code: "XCG", digits: 2 }];

const exponents: ReadonlyMap<string, number> = new Map(
  [...currencyCodes.data, ...newer]
    .filter(({ code, digits }) => moneyDigits.has(digits) && !funds.has(code))
    .filter(({ code }) => !code.startsWith("X") || shared.has(code))
    .map(({ code, digits }) => [code, digits]),
);

/** The number of decimals of a currency (ISO 4217): 0, 2 or 3; undefined when there is no such money. */
export function currencyExponent(currency: string): number | undefined {
  return exponents.get(currency);
}

/** Every currency code that can be charged, upper case. */
export function currencies(): readonly string[] {
  return [...exponents.keys()];
}

/** Networks of cards by the codes of the contract (docs/contract.md §5), as people call them everywhere. */
export const cardNetworks: ReadonlyMap<string, string> = new Map([
  ["visa", "Visa"],
  ["mastercard", "Mastercard"],
  ["amex", "American Express"],
  ["discover", "Discover"],
  ["diners", "Diners Club"],
  ["jcb", "JCB"],
  ["unionpay", "UnionPay"],
]);
