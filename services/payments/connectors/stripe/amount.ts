// Converts amounts. Stripe's minor units differ from ISO 4217's in a few currencies:
// https://docs.stripe.com/currencies (zero-decimal, three-decimal and special cases).
import { currencyExponent } from "#platform/values/money.ts";

// Zero-decimal in ISO 4217; two decimals at Stripe, which must be 00.
const writtenWithTwo = new Set(["ISK", "UGX"]);
// Two decimals in ISO 4217 (a fifth each); whole units at Stripe.
const writtenWithNone = new Set(["MGA"]);
// Three decimals, the last of which must be 0. Stripe does not support IQD and LYD.
const threeDecimals = new Set(["BHD", "JOD", "KWD", "OMR", "TND"]);

/** The amount for a request, or why Stripe does not accept it. @param amount minor units of ISO 4217 */
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
    return { refused: `must be in a currency that this connector supports, not in ${currency}` };
  return Number(amount);
}

/** Minor units of ISO 4217. @throws RangeError: the amount has a fraction that ISO 4217 lacks. */
export function fromStripe(amount: number, currency: string): bigint {
  const written = BigInt(amount);
  if (writtenWithNone.has(currency)) return written * 100n;
  if (!writtenWithTwo.has(currency)) return written;
  if (written % 100n !== 0n) throw new RangeError(`an amount in ${currency} has a fraction`);
  return written / 100n;
}
