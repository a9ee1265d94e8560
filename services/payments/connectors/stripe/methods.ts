// How a buyer paid, from Stripe's charges and payment methods: both name the type, and describe it under its name.
import type { PaymentMethod } from "../../rules/payment.ts";

/** Members that several types share. */
interface Details {
  readonly country?: string | null;
  readonly last4?: string | null;
  readonly iban_last4?: string | null;
  readonly wallet?: { readonly type: string } | null;
}

/** @param described `payment_method_details` of a charge, or a payment method; undefined: not known */
export function methodOf(described: { readonly type: string } | null | undefined): PaymentMethod | undefined {
  if (!described) return undefined;
  const { type } = described;
  // Only a few types have these members, so Stripe's own types do not offer them.
  const details = (described as Readonly<Record<string, unknown>>)[type] as Details | null | undefined;
  if (type === "card" || !details) return { type, ...(details?.wallet && { wallet: details.wallet.type }) };
  const last4 = details.iban_last4 ?? details.last4 ?? "";
  const country = details.country ?? bankCountries[type] ?? "";
  return { type, ...(last4 !== "" && { bank: { country, last4 } }) };
}

/** Of schemes with one country. */
const bankCountries: Readonly<Record<string, string>> = { ideal: "NL", bancontact: "BE", us_bank_account: "US" };
