// What a person's fields may be, and how an address is written. Pure.
import { isEmail } from "#platform/values/email.ts";
import type { Violation } from "#platform/values/failure.ts";

const nameMax = 100;

/** The address as it is stored and looked up. */
export function normalEmail(text: string): string {
  return text.trim().toLowerCase();
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
  return name.length > nameMax ? [{ field: "name", problem: `must have at most ${nameMax} characters` }] : [];
}

export type Language = "" | "en" | "de";

/** A language that pages and mails have; anything else: as the browser wishes. */
export function languageOf(text: string): Language {
  return text === "en" || text === "de" ? text : "";
}
