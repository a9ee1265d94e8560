// A stored card without its number. `behaviour` names the test card.
import type { CardEntry } from "./card-entry.ts";
import type { CardFacts } from "./intent.ts";
import { testCardOf } from "./test-card.ts";

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
