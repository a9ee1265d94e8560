// Decimals of a currency's minor unit (ISO 4217). The table has the currencies that differ from 2.
const without = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(" ");
const withThree = "BHD IQD JOD KWD LYD OMR TND".split(" ");
const withFour = "CLF UYW".split(" ");

const exponents = new Map([
  ...without.map((code) => [code, 0] as const),
  ...withThree.map((code) => [code, 3] as const),
  ...withFour.map((code) => [code, 4] as const),
]);

/** @param currency ISO 4217 code, upper case */
export function currencyExponent(currency: string): number {
  return exponents.get(currency) ?? 2;
}

/** Formats an amount for the locale. @param minorUnits an integer */
export function formatAmount(minorUnits: number, currency: string, locale: string): string {
  const exponent = currencyExponent(currency);
  const digits = { minimumFractionDigits: exponent, maximumFractionDigits: exponent };
  const format = new Intl.NumberFormat(locale, { style: "currency", currency, ...digits });
  // Formatting the digits as text avoids floating-point division.
  const padded = String(Math.abs(minorUnits)).padStart(exponent + 1, "0");
  const whole = `${minorUnits < 0 ? "-" : ""}${padded.slice(0, padded.length - exponent)}`;
  const text = exponent === 0 ? whole : `${whole}.${padded.slice(-exponent)}`;
  return format.format(text as `${number}`);
}
