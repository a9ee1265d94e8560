// Creates the SDK's errors: type and English text by code. error-messages.ts loads other languages.
import type { CheckoutError, ErrorCode } from "./contract.ts";
import type { Members } from "./members.ts";

type Row = readonly [type: CheckoutError["type"], retryable: boolean, message: string];

/** `unconfirmed`: declined by 3-D Secure, the same card may work. `retype`: fields of another processor are mounted. */
const rows: Readonly<Record<ErrorCode | "unconfirmed" | "retype", Row>> = {
  load_failed: ["load", true, "The payment form could not be loaded. Please try again."],
  secret_unavailable: ["load", true, "The payment form could not be loaded. Please try again."],
  csp_blocked: ["integration", false, "This payment cannot be made here."],
  timeout: ["network", true, "This is taking too long. Please try again."],
  offline: ["network", true, "You seem to be offline. Check your connection and try again."],
  invalid_secret: ["session", false, "This payment link is not valid."],
  incomplete: ["validation", true, "Please check the card details."],
  session_expired: ["session", false, "This payment link has expired. You were not charged."],
  session_canceled: ["session", false, "This payment was canceled. You were not charged."],
  declined: ["declined", true, "Your card was declined. Try another card."],
  retype: ["declined", true, "Your card was declined. Please enter it again."],
  unconfirmed: ["declined", true, "Your bank did not confirm the payment. Please try again."],
  connector_error: ["server", true, "The payment did not go through and you were not charged. Please try again."],
  unsupported_surface: ["integration", false, "This payment cannot be made here."],
  invalid_target: ["integration", false, "This payment cannot be made here."],
  not_mounted: ["integration", true, "The payment form is not shown."],
  destroyed: ["integration", false, "The payment form is not shown."],
  api_key_in_browser: ["integration", false, "This payment cannot be made here."],
  rate_limited: ["server", true, "Too many attempts. Please wait a moment."],
  server_error: ["server", true, "Something went wrong on our side. Please try again."],
};

export type Fail = (code: ErrorCode, more?: ErrorDetails) => CheckoutError;

export type ErrorDetails = Pick<
  CheckoutError,
  "requestId" | "declineCode" | "advice" | "fieldsReplaced" | "cause" | "directive" | "host"
>;

/** @param messages by error code; read for each error, since they may load later */
export function createFail(messages: Members): Fail {
  return (code, more) => {
    const declined = /authentication|canceled/.test(`${more?.declineCode}`) ? "unconfirmed" : code;
    const name = more?.fieldsReplaced ? "retype" : declined;
    const [type, retryable, message] = rows[name];
    const own = messages[name];
    return { ...more, name: "CheckoutError", type, code, message: typeof own === "string" ? own : message, retryable };
  };
}
