// A stored card without its number. `behaviour` names the test card.
import type { CardEntry } from "./card-entry.ts";
import type { CardFacts } from "./intent.ts";
import { testBank, testCardOf } from "./test-card.ts";

export interface PaymentMethod extends CardFacts {
  /** Name of the test card, see test-card.ts. */
  readonly behaviour: string;
  readonly has_postal_code: boolean;
}

export interface StoredPaymentMethod extends PaymentMethod {
  /** `pm_…`; valid only for its account. */
  readonly id: string;
  readonly account: string;
  readonly created_at: string;
  readonly expires_at: string;
}

/** @param fingerprint keyed hash of the number */
export function paymentMethodOf(entry: CardEntry, fingerprint: string): PaymentMethod {
  return {
    method: "card",
    bank_country: null,
    brand: entry.brand,
    last4: entry.number.slice(-4),
    funding: "credit",
    fingerprint,
    exp_month: entry.exp_month,
    exp_year: entry.exp_year,
    behaviour: testCardOf(entry.number).behaviour,
    has_postal_code: entry.postal_code !== null,
  };
}

const noCard = { brand: "", funding: "", fingerprint: "", exp_month: 0, exp_year: 0, has_postal_code: false };

/** An account at the test bank, where the buyer decides. */
export const bankMethod: PaymentMethod = {
  ...{ ...noCard, method: "ideal", bank_country: "NL", last4: "0300", behaviour: testBank.behaviour },
};

/** @returns undefined: not a valid IBAN */
export function debitMethod(input: unknown): PaymentMethod | undefined {
  const iban = typeof input === "string" ? input.replace(/\s/g, "").toUpperCase() : "";
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban) || !passesMod97(iban)) return undefined;
  const { behaviour } = testCardOf(iban);
  return { ...noCard, method: "sepa_debit", bank_country: iban.slice(0, 2), last4: iban.slice(-4), behaviour };
}

/** Check digits of ISO 13616. */
function passesMod97(iban: string): boolean {
  const digits = `${iban.slice(4)}${iban.slice(0, 4)}`.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return BigInt(digits) % 97n === 1n;
}
