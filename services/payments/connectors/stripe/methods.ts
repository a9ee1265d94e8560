// Stripe's methods: their terms, and how a buyer paid, from charges and payment methods, which name the type and
// describe it under its name.
import type { PaymentMethod } from "../../rules/payment.ts";
import type { MethodTerms } from "../../rules/payment-method.ts";

const atOnce = { refund: "partial", delayed: false, disputes: false, manualCapture: false } as const;
const debit = { refund: "partial", delayed: true, disputes: true, manualCapture: false } as const;
const account = { refund: "partial", delayed: false, disputes: true, manualCapture: true } as const;
const common = ["AUD", "CAD", "CHF", "CZK", "DKK", "EUR", "GBP", "NOK", "NZD", "PLN", "SEK", "USD"];

/** By Stripe's documentation of each method. Apple Pay and Google Pay are wallets of `card`. */
export const stripeMethods: readonly MethodTerms[] = [
  { type: "card", currencies: [], ...account },
  { type: "ideal", currencies: ["EUR"], ...atOnce },
  { type: "bancontact", currencies: ["EUR"], ...atOnce },
  { type: "eps", currencies: ["EUR"], ...atOnce },
  { type: "p24", currencies: ["EUR", "PLN"], ...atOnce },
  { type: "blik", currencies: ["PLN"], ...atOnce },
  { type: "klarna", currencies: [...common, "RON"], ...account },
  { type: "paypal", currencies: [...common, "HKD", "SGD"], ...account },
  { type: "sepa_debit", currencies: ["EUR"], ...debit },
  { type: "bacs_debit", currencies: ["GBP"], ...debit },
  { type: "us_bank_account", currencies: ["USD"], ...debit },
  { type: "boleto", currencies: ["BRL"], ...debit, refund: "none", disputes: false },
];

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
