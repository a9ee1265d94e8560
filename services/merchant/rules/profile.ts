// A merchant's profile and standing (docs/contract.md §8): what may be written into it, and how its state moves. Pure.
import { isEmail } from "#platform/values/email.ts";
import type { Violation } from "#platform/values/failure.ts";
import { currencyExponent } from "#platform/values/money.ts";
import { isCountry } from "./country.ts";

export type MerchantStatus = "pending" | "active" | "suspended" | "closed";

/** What the merchant may change; country and currency stay as they were when it became active. */
export interface Profile {
  readonly name: string;
  readonly legalName: string;
  readonly email: string;
  /** E.164, or empty. */
  readonly phone: string;
  /** https URL, or empty. */
  readonly website: string;
}

/** What an operator may change. */
export interface Standing {
  readonly status: MerchantStatus;
  readonly refundsEnabled: boolean;
  /** A new session may go to another active connector when nothing can be sent to the primary one. */
  readonly failoverEnabled: boolean;
}

const websiteLengthMax = 2_048;

/** What is wrong with the fields that are there, in the caller's names. */
export function profileViolations(profile: Partial<Profile>): Violation[] {
  const found: Violation[] = [];
  const { name, email, phone, website } = profile;
  if (name !== undefined && name.trim() === "") found.push({ field: "name", problem: "must not be blank" });
  if (email !== undefined && !isEmail(email)) found.push({ field: "email", problem: "must be an e-mail address" });
  if (phone && !/^\+[1-9][0-9]{6,14}$/.test(phone)) found.push({ field: "phone", problem: "must be an E.164 number" });
  if (website && !isHttpsAddress(website, websiteLengthMax)) {
    found.push({ field: "website", problem: "must be an https URL" });
  }
  return found;
}

/** Where a merchant is at home. */
export interface Home {
  readonly country: string;
  readonly currency: string;
}

/** A merchant stays where it is at home: amounts, fees and contracts hang on it. */
export function movedHome(home: Home, change: Partial<Home>): Violation[] {
  return (["country", "currency"] as const).flatMap((field) =>
    change[field] === undefined || change[field] === home[field]
      ? []
      : [{ field, problem: `cannot be changed; it is ${home[field]}` }],
  );
}

/** What is wrong with where a merchant is at home. @param names the fields in the caller's words. */
export function homeViolations(
  home: Home,
  names: { country: string; currency: string } = { country: "country", currency: "currency" },
): Violation[] {
  const found: Violation[] = [];
  if (!isCountry(home.country)) {
    found.push({ field: names.country, problem: "must be an ISO 3166-1 alpha-2 country code" });
  }
  if (currencyExponent(home.currency) === undefined) {
    found.push({ field: names.currency, problem: "must be an ISO 4217 currency code" });
  }
  return found;
}

/** True for an https URL with a host and without credentials. */
export function isHttpsAddress(text: string, lengthMax: number): boolean {
  if (text.length > lengthMax || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === "https:" && url.username === "" && url.password === "";
}
