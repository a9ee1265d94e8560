// Formats minor units with the decimals of ISO 4217. Browsers' tables differ for some currencies, so exceptions from
// two decimals are listed here; a test compares them with the service's table.
export interface Money {
  readonly minor: number;
  readonly currency: string;
  /** Decimals by ISO 4217. */
  readonly exponent: number;
  /** In the handle's locale. */
  readonly formatted: string;
}

const withoutDecimals = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF";
const withThree = "BHD IQD JOD KWD LYD OMR TND";
const withFour = "CLF UYW";

/** Decimals of a currency. @param currency upper case */
export function exponentOf(currency: string): number {
  if (withoutDecimals.includes(currency)) return 0;
  if (withThree.includes(currency)) return 3;
  return withFour.includes(currency) ? 4 : 2;
}

/** @param locale BCP 47; an unknown one becomes the browser's own */
export function moneyOf(minor: number, currency: string, locale: string): Money {
  const exponent = exponentOf(currency);
  const style = {
    style: "currency",
    currency,
    minimumFractionDigits: exponent,
    maximumFractionDigits: exponent,
  } as const;
  return { minor, currency, exponent, formatted: format(minor / 10 ** exponent, style, locale) };
}

function format(amount: number, style: Intl.NumberFormatOptions, locale: string): string {
  try {
    return new Intl.NumberFormat(locale, style).format(amount);
  } catch {
    return new Intl.NumberFormat(undefined, style).format(amount);
  }
}
