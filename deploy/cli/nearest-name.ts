// A wrong word of a command, told with the word that there is: most wrong words are slips of the fingers.
import { closest } from "fastest-levenshtein";

/** The known word that is written most alike. @param known at least one */
export function nearestName(name: string, known: readonly string[]): string {
  return closest(name, [...known]);
}

/** @param known options without their dashes, `help` apart */
export function unknownOption(option: string, known: readonly string[]): string {
  const [name = option] = option.split("=");
  const nearest = nearestName(
    name,
    [...known, "help"].map((each) => `--${each}`),
  );
  return `there is no option ${name}; the nearest one is ${nearest}`;
}

/** The option that Node's `parseArgs` does not know; undefined: something else was wrong. */
export function optionRefused(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_PARSE_ARGS_UNKNOWN_OPTION")
    return undefined;
  return /'(--?[^']+)'/.exec(error.message)?.[1];
}
