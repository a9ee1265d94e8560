// A merchant's profile and standing (docs/contract.md §8), and the checks of their fields.
import { isEmail } from "#platform/values/email.ts";
import type { Violation } from "#platform/values/failure.ts";
import { currencyExponent } from "#platform/values/money.ts";

export type MerchantStatus = "pending" | "active" | "suspended" | "closed";

/** The fields that the merchant may change. */
export interface Profile {
  readonly name: string;
  readonly legalName: string;
  readonly email: string;
  /** E.164, or empty. */
  readonly phone: string;
  /** https URL, or empty. */
  readonly website: string;
}

/** The fields that an operator may change. */
export interface Standing {
  readonly status: MerchantStatus;
  readonly refundsEnabled: boolean;
  /** Whether a new session may use another active connector in an outage, where no routing is stored. */
  readonly failoverEnabled: boolean;
}

const websiteLengthMax = 2_048;

/** Violations of the present fields, by wire name. */
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

export interface Home {
  readonly country: string;
  readonly currency: string;
}

/** Country and currency never change: amounts, fees and contracts depend on them. */
export function movedHome(home: Home, change: Partial<Home>): Violation[] {
  return (["country", "currency"] as const).flatMap((field) =>
    change[field] === undefined || change[field] === home[field]
      ? []
      : [{ field, problem: `cannot be changed; it is ${home[field]}` }],
  );
}

/** @param names the wire names of the fields */
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

// Codes that CLDR names but ISO 3166-1 does not assign: parts of countries, unions, and test codes.
const notCountries = new Set("AC CP CQ DG EA EU EZ IC QO TA UN XA XB XK ZZ".split(" "));
const countryNames = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** Whether ISO 3166-1 alpha-2 assigns the upper-case code, by Node's CLDR data. */
export function isCountry(code: string): boolean {
  if (!/^[A-Z]{2}$/.test(code) || notCountries.has(code)) return false;
  // Intl.Locale replaces a withdrawn code (SU, YU …) by its successor.
  return new Intl.Locale(`und-${code}`).region === code && countryNames.of(code) !== undefined;
}

/** Whether Node knows the IANA time zone. Names and offsets such as `+01:00` are no zones. */
export function isTimeZone(name: string): boolean {
  if (/^[+-]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Whether the text is an https URL with a host and without credentials. */
export function isHttpsAddress(text: string, lengthMax: number): boolean {
  if (text.length > lengthMax || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === "https:" && url.username === "" && url.password === "";
}
