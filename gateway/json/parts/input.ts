// Shared request fields, and the checks that a schema cannot express. A check throws INVALID_BODY for its field.
import { Type } from "typebox";
import { buyerEmail, withAsciiDomain } from "#platform/values/email.ts";
import { invalidField } from "#platform/values/failure.ts";
import { currencyExponent } from "#platform/values/money.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { environmentText } from "../../../services/public-json/field.ts";
import { displayLine } from "../../http/display-text.ts";
import { returnUrl, urlProblem } from "../../http/own-formats.ts";

/** 254 is RFC 5321's longest address. */
export const emailInput = (description: string) =>
  Type.String({ format: "email", maxLength: 254, description, examples: ["buyer@example.com"] });

export const currencyInput = (description: string) =>
  Type.String({ pattern: "^[A-Za-z]{3}$", description, examples: ["EUR"] });

export const urlInput = (description: string) =>
  Type.String({ format: returnUrl, maxLength: 2048, description, examples: ["https://shop.example.com/thanks"] });

export const referenceInput = Type.String({
  format: displayLine,
  maxLength: 100,
  description: "Your own order number; need not be unique. Lists can search for its prefix.",
  examples: ["order-1042"],
});

export const referenceFilter = Type.String({
  maxLength: 100,
  description: "Your order number, exact match.",
  examples: ["order-1042"],
});

export const clearable = (schema: object) => Type.Unsafe<string | null>({ ...schema, type: ["string", "null"] });

export function currencyOf(field: string, text: string): string {
  const currency = text.toUpperCase();
  if (currencyExponent(currency) === undefined) throw invalidField(field, "must be an ISO 4217 currency code");
  return currency;
}

/** A field of a change for a service: undefined keeps it, and `null` clears it. */
export function changeOf(
  value: string | null | undefined,
  convert: (text: string) => string = (text) => text,
): string | undefined {
  if (value === undefined) return undefined;
  return value ? convert(value) : "";
}

/** An e-mail address in its stored form. */
export function emailOf(text: string): string {
  return buyerEmail(text) ?? text;
}

/** Trims blanks and invisible characters, and lower-cases ids. */
export function searchOf(text: string | undefined): string {
  const q = (text ?? "").replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, "").normalize("NFC");
  return /^(?:cs|pay)_[0-9a-z]*$/i.test(q) ? q.toLowerCase() : withAsciiDomain(q);
}

/** Checks an https URL without user information; in sandbox also http to localhost (docs/contract.md §4). */
export function returnUrlOf(field: string, text: string, environment: Environment): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url !== undefined && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  const isAllowed =
    url?.protocol === "https:" || (url?.protocol === "http:" && isLocal && environment === Environment.SANDBOX);
  if (!url || !isAllowed || url.username !== "" || url.password !== "") {
    throw invalidField(field, urlProblem);
  }
  return text;
}

/** Checks an https URL without user information; the merchant service expects a lower-case scheme. */
export function httpsUrlOf(field: string, text: string): string {
  return returnUrlOf(field, text, Environment.LIVE).replace(/^https/i, "https");
}

/** The API key determines the environment; a request may only repeat it (docs/contract.md §1). */
export function assertOwnEnvironment(environment: Environment, requested: string | undefined): void {
  if (requested !== undefined && requested !== environmentText(environment)) {
    throw invalidField("environment", "must be the environment of the API key");
  }
}
