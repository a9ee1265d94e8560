// Failure codes of attempts, the same for every processor, with advice (docs/contract.md §5). Connectors map their
// processor's codes to them. Pure.

/** Advice to the merchant or the buyer. */
type Advice = "retry_later" | "use_another_card" | "contact_issuer" | "do_not_retry";

/** @param meaning shown if the processor gives no message */
const entry = <A extends Advice>(advice: A, meaning: string) => ({ advice, meaning });

export const failureCodes = {
  card_declined: entry("use_another_card", "The issuer declined the card."),
  insufficient_funds: entry("use_another_card", "The account has not enough money."),
  expired_card: entry("use_another_card", "The card has expired."),
  incorrect_cvc: entry("retry_later", "The security code is wrong."),
  incorrect_number: entry("retry_later", "The card number is wrong."),
  processing_error: entry("retry_later", "The issuer or the processor could not work on it."),
  authentication_failed: entry("retry_later", "The buyer did not pass 3-D Secure."),
  authentication_required: entry("retry_later", "The issuer asks for the buyer, who was absent."),
  blocked: entry("do_not_retry", "The processor judged it too risky."),
  lost_or_stolen: entry("do_not_retry", "The card was reported lost or stolen."),
  card_not_supported: entry("use_another_card", "The card does not allow this kind of payment."),
  currency_not_supported: entry("use_another_card", "The card does not allow this currency."),
  limit_exceeded: entry("contact_issuer", "The card's limit is reached."),
  duplicate: entry("do_not_retry", "The same payment was made a moment ago."),
  canceled_by_buyer: entry("retry_later", "The buyer gave it up."),
  expired: entry("retry_later", "It was not finished in time: not paid, or authorized and not captured."),
  not_processed: entry("retry_later", "It never came to be at the processor: nothing was charged."),
  returned: entry("use_another_card", "A debit that had succeeded was returned."),
  unknown: entry("contact_issuer", "The processor gives no reason."),
} as const;

export type FailureCode = keyof typeof failureCodes;

/** Our code by the processor's code, where they differ. */
export type FailureNames = Readonly<Record<string, FailureCode>>;

/** @param code the processor's code; empty: it gave none. */
export function failureCodeOf(names: FailureNames, code: string): FailureCode {
  if (Object.hasOwn(names, code)) return names[code] ?? "unknown";
  return isFailureCode(code) ? code : "unknown";
}

function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(failureCodes, code);
}
