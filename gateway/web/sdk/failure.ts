// The SDK's errors: one code, one kind, one text that a buyer may read. A page in another language brings its own
// texts.
import type { CheckoutError, ErrorCode } from "./contract.ts";

type Row = readonly [type: CheckoutError["type"], retryable: boolean, message: string];

const rows: Readonly<Record<ErrorCode, Row>> = {
  load_failed: ["load", true, "The payment form could not be loaded. Please try again."],
  timeout: ["network", true, "This is taking too long. Please try again."],
  offline: ["network", true, "You seem to be offline. Check your connection and try again."],
  invalid_secret: ["session", false, "This payment link is not valid."],
  incomplete: ["validation", true, "Please check the card details."],
  session_expired: ["session", false, "This payment link has expired. You were not charged."],
  session_canceled: ["session", false, "This payment was canceled. You were not charged."],
  declined: ["declined", true, "Your card was declined. Try another card."],
  connector_error: ["server", true, "The payment did not go through and you were not charged. Please try again."],
  unsupported_surface: ["integration", false, "This payment method cannot be shown here."],
  invalid_target: ["integration", false, "The place for the payment form was not found."],
  not_mounted: ["integration", true, "The payment form is not shown yet."],
  destroyed: ["integration", false, "The payment form was closed."],
  api_key_in_browser: ["integration", false, "This payment cannot be made here."],
  rate_limited: ["server", true, "Too many tries. Please wait a moment."],
  server_error: ["server", true, "Something went wrong on our side. Please try again."],
};

export type Messages = Readonly<Partial<Record<ErrorCode, string>>>;

/** Makes errors in the page's language. */
export type Fail = (code: ErrorCode, more?: Pick<CheckoutError, "requestId" | "declineCode">) => CheckoutError;

export function failer(messages: Messages = {}): Fail {
  return (code, more = {}) => {
    const [type, retryable, message] = rows[code];
    return { name: "CheckoutError", type, code, message: messages[code] ?? message, retryable, ...more };
  };
}
