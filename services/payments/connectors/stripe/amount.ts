// Amounts as Stripe writes them. Stripe's minor units are ISO 4217's for most currencies, and not for a few: see
// https://docs.stripe.com/currencies (zero-decimal, three-decimal and special cases).
import { currencyExponent } from "#platform/values/money.ts";

// Zero-decimal by ISO 4217, written with two decimals that must be 00 (Stripe's special cases).
const writtenWithTwo = new Set(["ISK", "UGX"]);
// Two decimals by ISO 4217 (a fifth each), charged by Stripe in whole units.
const writtenWithNone = new Set(["MGA"]);
// Three decimals, of which the last must be 0. Others with three (IQD, LYD) Stripe does not take.
const threeDecimals = new Set(["BHD", "JOD", "KWD", "OMR", "TND"]);

/** The amount for a request, or why Stripe cannot take it. @param amount minor units of ISO 4217. */
export function toStripe(amount: bigint, currency: string): number | { readonly refused: string } {
  if (writtenWithTwo.has(currency)) return Number(amount * 100n);
  if (writtenWithNone.has(currency)) {
    return amount % 100n === 0n ? Number(amount / 100n) : { refused: `must be in whole ${currency}` };
  }
  const exponent = currencyExponent(currency);
  if (threeDecimals.has(currency)) {
    return amount % 10n === 0n ? Number(amount) : { refused: `must end in 0 in ${currency}` };
  }
  if (exponent === undefined || exponent > 2)
    return { refused: `must be in a currency that this connector takes, not in ${currency}` };
  return Number(amount);
}

/** Minor units of ISO 4217. @throws RangeError when Stripe's amount has a part that ISO 4217 cannot express. */
export function fromStripe(amount: number, currency: string): bigint {
  const written = BigInt(amount);
  if (writtenWithNone.has(currency)) return written * 100n;
  if (!writtenWithTwo.has(currency)) return written;
  if (written % 100n !== 0n) throw new RangeError(`an amount in ${currency} has a fraction`);
  return written / 100n;
}
