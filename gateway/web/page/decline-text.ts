// Four things that a buyer can do after a refusal. The processor's own reason stays with the merchant: it would help
// thieves to test cards, and it says little to an honest buyer.
import type { PageTexts } from "../texts/page-texts.ts";

const details = ["expired_card", "incorrect_cvc", "incorrect_number", "incorrect_zip", "invalid_cvc", "invalid_number"];
const bank = ["authentication_failed", "authentication_required", "payment_intent_authentication_failure"];

/** @param code the processor's; unknown ones get the general text */
export function declineText(code: string | undefined, texts: PageTexts): string {
  if (code === "insufficient_funds") return texts.declinedFunds;
  if (code && (details.includes(code) || code.startsWith("invalid_expiry"))) return texts.declinedDetails;
  if (code && bank.includes(code)) return texts.declinedBank;
  return texts.declinedCard;
}
