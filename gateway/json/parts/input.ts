// Request fields that many operations take, and the checks a schema cannot say. A check throws INVALID_BODY for its one
// field.
import { Type } from "typebox";
import { buyerEmail, withAsciiDomain } from "#platform/values/email.ts";
import { invalid } from "#platform/values/failure.ts";
import { currencyExponent } from "#platform/values/money.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { displayLine } from "../../http/display-text.ts";
import { returnUrl, urlProblem } from "../../http/own-formats.ts";
import { environmentText } from "./field.ts";

/** RFC 5321's longest address; the form is checked, not whether it exists. */
export const emailInput = (description: string) =>
  Type.String({ format: "email", maxLength: 254, description, examples: ["buyer@example.com"] });

export const currencyInput = (description: string) =>
  Type.String({ pattern: "^[A-Za-z]{3}$", description, examples: ["EUR"] });

export const urlInput = (description: string) =>
  Type.String({ format: returnUrl, maxLength: 2048, description, examples: ["https://shop.example.com/thanks"] });

/** The merchant's own order number (docs/contract.md §4). */
export const referenceInput = Type.String({
  format: displayLine,
  maxLength: 100,
  description: "Your own order number; need not be unique. Lists find it by its beginning.",
  examples: ["order-1042"],
});

/** Its filter in lists. */
export const referenceFilter = Type.String({
  maxLength: 100,
  description: "Your order number, exactly.",
  examples: ["order-1042"],
});

/** Text that `null` clears. */
export const clearable = (schema: object) => Type.Unsafe<string | null>({ ...schema, type: ["string", "null"] });

/** The currency in upper case. */
export function currencyOf(field: string, text: string): string {
  const currency = text.toUpperCase();
  if (currencyExponent(currency) === undefined) throw invalid(field, "must be an ISO 4217 currency code");
  return currency;
}

/** An e-mail address in the form in which it is stored. */
export function emailOf(text: string): string {
  return buyerEmail(text) ?? text;
}

/** What a search asks for: blanks and invisible characters around it mean nothing, and ids have small letters. */
export function searchOf(text: string | undefined): string {
  const q = (text ?? "").replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, "").normalize("NFC");
  return /^(?:cs|pay)_[0-9a-z]*$/i.test(q) ? q.toLowerCase() : withAsciiDomain(q);
}

/** An https URL without user information; in sandbox also http to this machine (docs/contract.md §4). */
export function returnUrlOf(field: string, text: string, environment: Environment): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url !== undefined && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  const isAllowed =
    url?.protocol === "https:" || (url?.protocol === "http:" && isLocal && environment === Environment.SANDBOX);
  if (!url || !isAllowed || url.username !== "" || url.password !== "") {
    throw invalid(field, urlProblem);
  }
  return text;
}

/** An https URL without user information; the merchant service wants its scheme in lower case. */
export function httpsUrlOf(field: string, text: string): string {
  return returnUrlOf(field, text, Environment.LIVE).replace(/^https/i, "https");
}

/** What is named is no choice: the key has decided (docs/contract.md §1). */
export function mustBeOwn(environment: Environment, requested: string | undefined): void {
  if (requested !== undefined && requested !== environmentText(environment)) {
    throw invalid("environment", "must be the environment of the API key");
  }
}
