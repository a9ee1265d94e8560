// Converts amounts. Adyen's minor units differ from ISO 4217's in four currencies:
// https://docs.adyen.com/development-resources/currency-codes
import { currencyExponent } from "#platform/values/money.ts";

// No decimals in ISO 4217; two at Adyen, which must be 00.
const writtenWithTwo = new Set(["CLP", "ISK"]);
// Two decimals in ISO 4217; none at Adyen.
const writtenWithNone = new Set(["CVE", "IDR"]);

/** The amount for a request, or why Adyen does not accept it. @param amount minor units of ISO 4217 */
export function toAdyen(amount: bigint, currency: string): number | { readonly refused: string } {
  if (currencyExponent(currency) === undefined) {
    return { refused: `must be in a currency that this connector supports, not in ${currency}` };
  }
  if (writtenWithTwo.has(currency)) return Number(amount * 100n);
  if (!writtenWithNone.has(currency)) return Number(amount);
  return amount % 100n === 0n ? Number(amount / 100n) : { refused: `must be in whole ${currency}` };
}

/** Minor units of ISO 4217. @throws RangeError: the amount has a fraction that ISO 4217 lacks. */
export function fromAdyen(amount: number, currency: string): bigint {
  const written = BigInt(amount);
  if (writtenWithNone.has(currency)) return written * 100n;
  if (!writtenWithTwo.has(currency)) return written;
  if (written % 100n !== 0n) throw new RangeError(`an amount in ${currency} has a fraction`);
  return written / 100n;
}
