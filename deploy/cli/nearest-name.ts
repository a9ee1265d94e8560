// Suggests the nearest known name for a mistyped one.

import { closest } from "fastest-levenshtein";
import { errorCode } from "#platform/values/unchecked.ts";

/** @param known at least one */
export function nearestName(name: string, known: readonly string[]): string {
  return closest(name, [...known]);
}

/** @param known options without dashes, except `help` */
export function unknownOption(option: string, known: readonly string[]): string {
  const [name = option] = option.split("=");
  const nearest = nearestName(
    name,
    [...known, "help"].map((each) => `--${each}`),
  );
  return `there is no option ${name}; did you mean ${nearest}`;
}

/** The option that `parseArgs` of Node rejects; undefined for another error. */
export function optionRefused(error: unknown): string | undefined {
  if (!(error instanceof Error) || errorCode(error) !== "ERR_PARSE_ARGS_UNKNOWN_OPTION") return undefined;
  return /'(--?[^']+)'/.exec(error.message)?.[1];
}
