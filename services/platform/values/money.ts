// Currencies and amount bounds. Amounts are integers in minor units; no floating point is used (docs/contract.md §3).
import currencyCodes from "currency-codes";

/** Largest amount of one payment, in minor units (docs/contract.md §4). */
export const amountMax = 99_999_999n;

// Marked as funds in ISO 4217: units of account that buyers cannot pay with.
const funds = new Set(["BOV", "CHE", "CHW", "CLF", "COU", "MXV", "USN", "UYI"]);
// X.. codes are metals, funds and test codes, except for currencies shared by several countries.
const shared = new Set(["XAF", "XCD", "XCG", "XOF", "XPF"]);
// Units with four decimals are index units (CLF, UYW), not money.
const moneyDigits = new Set([0, 2, 3]);
// Missing in the package's list of 2024-06-25: the Caribbean guilder (ISO 4217 amendment 176), in effect since
// 2025-03-31.
const newer = [{ code: "XCG", digits: 2 }];

const exponents: ReadonlyMap<string, number> = new Map(
  [...currencyCodes.data, ...newer]
    .filter(({ code, digits }) => moneyDigits.has(digits) && !funds.has(code))
    .filter(({ code }) => !code.startsWith("X") || shared.has(code))
    .map(({ code, digits }) => [code, digits]),
);

/** Decimals of a currency (ISO 4217): 0, 2 or 3; undefined for an unknown currency. */
export function currencyExponent(currency: string): number | undefined {
  return exponents.get(currency);
}

/** Every chargeable currency code, upper case. */
export function knownCurrencies(): readonly string[] {
  return [...exponents.keys()];
}

/** Display names of card networks by the contract's codes (docs/contract.md §5). */
export const cardNetworks: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ visa: "Visa", mastercard: "Mastercard", amex: "American Express", discover: "Discover" }),
  ...Object.entries({ diners: "Diners Club", jcb: "JCB", unionpay: "UnionPay" }),
]);
const methodNames = new Map(Object.entries({ ideal: "iDEAL", sepa_debit: "SEPA Direct Debit", paypal: "PayPal" }));

/** Display name of a payment method or wallet: `apple_pay` is Apple Pay. */
export const methodName = (code: string): string =>
  methodNames.get(code) ?? code.replace(/(^|_)(\w)/g, (part) => part.replace("_", " ").toUpperCase());
