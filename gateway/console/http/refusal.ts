// What a service refused of a form, so that the form is shown again with what was typed.
import { Failure } from "#platform/values/failure.ts";

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
