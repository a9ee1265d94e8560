// Chooses the text after a decline: by the public failure codes (docs/contract.md §5), or by the processor's own code.

import type { PageTexts } from "../languages.ts";
import type { CheckoutError } from "../sdk/contract.ts";

const texts: Readonly<Record<string, keyof PageTexts>> = {
  expired_card: "declinedDetails",
  incorrect_cvc: "declinedDetails",
  incorrect_number: "declinedDetails",
  incorrect_zip: "declinedDetails",
  invalid_cvc: "declinedDetails",
  invalid_number: "declinedDetails",
  invalid_expiry_month: "declinedDetails",
  invalid_expiry_year: "declinedDetails",
  insufficient_funds: "declinedFunds",
  limit_exceeded: "declinedLimit",
  card_not_supported: "declinedUnsupported",
  currency_not_supported: "declinedUnsupported",
  processing_error: "declinedLater",
  authentication_failed: "declinedBank",
  authentication_required: "declinedBank",
  payment_intent_authentication_failure: "declinedBank",
  canceled_by_buyer: "givenUp",
};
const advices: Readonly<Record<string, keyof PageTexts>> = {
  retry_later: "declinedLater",
  contact_issuer: "declinedBank",
};

/** An unknown code uses the advice, or else the general text. */
export function declineText({ declineCode = "", advice = "" }: CheckoutError, own: PageTexts): string {
  const name = Object.hasOwn(texts, declineCode) ? texts[declineCode] : advices[advice];
  return own[name ?? "declinedCard"];
}
