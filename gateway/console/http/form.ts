// A form as a browser sends it: every value is text, some names come several times.
import { parse } from "node:querystring";
import { Failure } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";

/** More than any of ours has; a field costs far more than its bytes. */
export const fieldsMax = 256;

export class TooManyFields extends Error {
  override name = "TooManyFields";
  readonly statusCode = 413;
}

/** @throws TooManyFields */
export function parseFields(text: string): Record<string, unknown> {
  if (text.split("&", fieldsMax + 1).length > fieldsMax) throw new TooManyFields("a form of too many fields");
  return parse(text);
}

export class Form {
  readonly #fields: Readonly<Record<string, unknown>>;

  /** @param body as the parser of forms leaves it */
  constructor(body: unknown) {
    this.#fields = membersOf(body);
  }

  /** The value without blanks around it; empty: it is not there. */
  text(name: string): string {
    return this.raw(name).trim();
  }

  /** The value as it was typed. */
  raw(name: string): string {
    return this.all(name)[0] ?? "";
  }

  /** Every value of the name, as of boxes that are ticked. */
  all(name: string): readonly string[] {
    const value = this.#fields[name];
    return [value].flat().filter((each): each is string => typeof each === "string");
  }

  has(name: string): boolean {
    return this.all(name).length > 0;
  }

  /**
   * Every field but those that the consoles themselves add, and secrets; to carry a form through another page. Whoever
   * takes a secret asks for it again.
   */
  entries(): readonly (readonly [string, string])[] {
    return Object.keys(this.#fields)
      .filter((name) => !ownFields.has(name) && !name.startsWith(secretPrefix))
      .flatMap((name) => this.all(name).map((value) => [name, value] as const));
  }
}

/** Names of fields with a secret begin so: no page carries them. */
export const secretPrefix = "secret_";

/** Names of the fields that the consoles add to forms. */
export const formFields = {
  token: "form_token",
  challenge: "proof_challenge",
  response: "proof_response",
  code: "proof_code",
} as const;
const ownFields = new Set<string>(Object.values(formFields));

/** Names of the fields that the service did not take; not empty. @throws whatever is no such refusal */
export function refusedFields(error: unknown): ReadonlySet<string> {
  if (!(error instanceof Failure) || error.reason !== "INVALID_BODY") throw error;
  return new Set(error.violations.length > 0 ? error.violations.map(({ field }) => field) : ["form"]);
}

/** True when the field, or an entry of it, was not taken. */
export function isRefused(wrong: ReadonlySet<string>, name: string): boolean {
  return [...wrong].some((field) => field === name || field.startsWith(`${name}[`));
}

/** The answer, or undefined when the service refused for this reason. @throws whatever else went wrong */
export async function unlessRefused<T>(ask: Promise<T>, reason: Failure["reason"]): Promise<T | undefined> {
  try {
    return await ask;
  } catch (error) {
    if (error instanceof Failure && error.reason === reason) return undefined;
    throw error;
  }
}
