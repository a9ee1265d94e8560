// Validates currency, e-mail, URLs and language of a session request beyond the limits of the proto (docs/contract.md
// §4). Pure.
import { isBuyerEmail } from "#platform/values/email.ts";
import type { Violation } from "#platform/values/failure.ts";
import { currencyExponent } from "#platform/values/money.ts";
import { type LineItem, lineItemViolations } from "./line-items.ts";

export interface SessionRequest {
  readonly isSandbox: boolean;
  readonly amount: bigint;
  readonly currency: string;
  readonly description: string;
  readonly orderReference: string;
  readonly customerEmail: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly locale: string;
  readonly lineItems: readonly LineItem[];
}

export function requestViolations(request: SessionRequest): Violation[] {
  const found: Violation[] = [];
  const check = (fits: boolean, field: string, problem: string) => {
    if (!fits) found.push({ field, problem });
  };
  const { isSandbox, customerEmail, locale } = request;
  const urlProblem = isSandbox ? "must be https, or http to localhost" : "must be https";
  check(currencyExponent(request.currency) !== undefined, "currency", "must be an ISO 4217 currency code");
  check(isStorable(request.description), "description", "must not contain NUL");
  check(isStorable(request.orderReference), "reference", "must not contain NUL");
  check(customerEmail === "" || isBuyerEmail(customerEmail), "customer_email", "must be an e-mail address");
  check(isReturnAddress(request.successUrl, isSandbox), "success_url", urlProblem);
  check(isReturnAddress(request.cancelUrl, isSandbox), "cancel_url", urlProblem);
  check(locale === "" || isLanguageTag(locale), "locale", "must be a BCP 47 language tag");
  for (const [key, value] of Object.entries(request.metadata)) {
    check(isStorable(key) && isStorable(value), "metadata", "must not contain NUL");
  }
  return [...found, ...lineItemViolations(request.lineItems, request.amount)];
}

// PostgreSQL's text cannot store NUL.
function isStorable(text: string): boolean {
  return !text.includes("\0");
}

const localHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

function isReturnAddress(text: string, isSandbox: boolean): boolean {
  if (text === "") return true;
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return false;
  return url.protocol === "https:" || (isSandbox && url.protocol === "http:" && localHosts.has(url.hostname));
}

function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}
