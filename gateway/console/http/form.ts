// A form as a browser sends it: texts by name, some names with several values.
import { parse } from "node:querystring";
import { Failure } from "#platform/values/failure.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { displayFormats, displayLine, displayText } from "../../http/display-text.ts";

/** More fields than any form has; a field costs far more memory than its bytes. */
export const fieldsMax = 256;

class TooManyFields extends Error {
  override name = "TooManyFields";
  readonly statusCode = 413;
}

/** @throws TooManyFields */
export function parseFields(text: string): Record<string, unknown> {
  if (text.split("&", fieldsMax + 1).length > fieldsMax) throw new TooManyFields("form has too many fields");
  return parse(text);
}

export class Form {
  readonly #fields: Readonly<Record<string, unknown>>;

  /** @param body output of parseFields or readUpload */
  constructor(body: unknown) {
    this.#fields = membersOf(body);
  }

  /** The trimmed value; empty if it is missing. */
  text(name: string): string {
    return this.raw(name).trim();
  }

  raw(name: string): string {
    return this.all(name)[0] ?? "";
  }

  /** Every value, for example of checkboxes. */
  all(name: string): readonly string[] {
    return [this.#fields[name]].flat().filter((each): each is string => typeof each === "string");
  }

  has(name: string): boolean {
    return this.all(name).length > 0;
  }

  /** Fields to carry through another page: all but the consoles' own fields and secrets. */
  entries(): readonly (readonly [string, string])[] {
    return Object.keys(this.#fields)
      .filter((name) => !ownFields.has(name) && !name.startsWith(secretPrefix))
      .flatMap((name) => this.all(name).map((value) => [name, value] as const));
  }
}

/** Starts the names of secret fields, which no page carries. */
export const secretPrefix = "secret_";

export const formFields = {
  token: "form_token",
  challenge: "proof_challenge",
  response: "proof_response",
  code: "proof_code",
} as const;
const ownFields = new Set<string>(Object.values(formFields));

/** True for one line without control characters. */
export function isLine(text: string, lengthMax: number): boolean {
  return [...text].length <= lengthMax && displayFormats[displayLine]?.(text) === true;
}

/** True for a text without control characters, apart from line breaks and tabs. */
export function isText(text: string, lengthMax: number): boolean {
  return [...text].length <= lengthMax && displayFormats[displayText]?.(text) === true;
}

/** Fields that the service rejected, at least one. @throws any other error */
export function refusedFields(error: unknown): ReadonlySet<string> {
  if (!(error instanceof Failure) || error.reason !== "INVALID_BODY") throw error;
  return new Set(error.violations.length > 0 ? error.violations.map(({ field }) => field) : ["form"]);
}

/**
 * Problems of the wrong fields.
 * @param texts by the service's field, or the start of an entry in it: the form's field and the problem
 */
export function problemsOf(
  wrong: ReadonlySet<string>,
  texts: Readonly<Record<string, readonly [field: string, text: string]>>,
): readonly (readonly [field: string, text: string])[] {
  const isWrong = (name: string) => [...wrong].some((field) => field === name || field.startsWith(`${name}[`));
  return Object.entries(texts).flatMap(([name, problem]) => (isWrong(name) ? [problem] : []));
}

/** The answer, or undefined if the service refused for one of the reasons. @throws any other error */
export async function unlessRefused<T>(
  answer: Promise<T>,
  ...reasons: readonly Failure["reason"][]
): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Failure && reasons.includes(error.reason)) return undefined;
    throw error;
  }
}
