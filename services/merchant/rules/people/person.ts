// What a person's fields may be, and how an address is written. Pure.
import { isEmail } from "#platform/values/email.ts";
import type { Violation } from "#platform/values/failure.ts";

const nameMax = 100;

/**
 * The address as it is stored and looked up. Only ASCII letters change: toLowerCase would turn U+212A, the Kelvin sign,
 * into a "k" and so one address into somebody else's.
 */
export function normalEmail(text: string): string {
  return text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

export function emailViolations(email: string): Violation[] {
  return isEmail(email) ? [] : [{ field: "email", problem: "must be an e-mail address" }];
}

/** The name on one line, as it is stored. */
export function normalName(text: string): string {
  return text.replace(/\p{C}/gu, " ").replace(/\s+/g, " ").trim();
}

export function nameViolations(name: string): Violation[] {
  if (name === "") return [{ field: "name", problem: "is required" }];
  if (name.length > nameMax) return [{ field: "name", problem: `must have at most ${nameMax} characters` }];
  return isPlainName(name) ? [] : [{ field: "name", problem: "must be a name, without a web or mail address" }];
}

/** False where a mail program could show a part of the name as a link: names are shown in mails to strangers. */
export function isPlainName(name: string): boolean {
  return !/[\p{C}@]|:\S|[\p{L}\p{N}]\.[\p{L}\p{N}]{2}/u.test(name);
}

export type Language = "" | "en" | "de";

/** A language that pages and mails have; anything else: as the browser wishes. */
export function languageOf(text: string): Language {
  return text === "en" || text === "de" ? text : "";
}
