// Checks and normalizes a person's fields.
import { isEmail } from "#platform/values/email.ts";
import type { Violation } from "#platform/values/failure.ts";

const nameMax = 100;

/** Lower-cases ASCII letters only: toLowerCase would turn U+212A (Kelvin sign) into "k", another person's address. */
export function normalEmail(text: string): string {
  return text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

export function emailViolations(email: string): Violation[] {
  return isEmail(email) ? [] : [{ field: "email", problem: "must be an e-mail address" }];
}

export function normalName(text: string): string {
  return text.replace(/\p{C}/gu, " ").replace(/\s+/g, " ").trim();
}

export function nameViolations(name: string): Violation[] {
  if (name === "") return [{ field: "name", problem: "is required" }];
  if (name.length > nameMax) return [{ field: "name", problem: `must have at most ${nameMax} characters` }];
  return isPlainName(name) ? [] : [{ field: "name", problem: "must be a name, without a web or mail address" }];
}

/** False if a mail program could show a part of the name as a link; mails to strangers contain names. */
export function isPlainName(name: string): boolean {
  return !/[\p{C}@]|:\S|[\p{L}\p{N}]\.[\p{L}\p{N}]{2}/u.test(name);
}

export type Language = "" | "en" | "de";

/** Empty for a language without texts; pages then use the browser's. */
export function languageOf(text: string): Language {
  return text === "en" || text === "de" ? text : "";
}
