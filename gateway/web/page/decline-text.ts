// What a buyer can do after a refusal, from the failure table (docs/contract.md §5) as far as it is told to buyers, and
// from processors' own words where the service could not say.

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

/** Unknown codes go by their advice, and without one get the general text. */
export function declineText({ declineCode = "", advice = "" }: CheckoutError, own: PageTexts): string {
  const name = Object.hasOwn(texts, declineCode) ? texts[declineCode] : advices[advice];
  return own[name ?? "declinedCard"];
}
