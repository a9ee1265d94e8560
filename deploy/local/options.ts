// The options of our own commands, `--name value`. One that is not taken ends the command with a line that names those
// that are.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { nearestWord, optionRefused, unknownOption } from "../cli/nearest-word.ts";

/** Prints how the command is used and ends it, where `--help` is given. */
export function helpIfAsked(usage: string): void {
  if (!process.argv.slice(2).some((word) => word === "--help" || word === "-h")) return;
  console.log(usage);
  process.exit(0);
}

/** Ends the command: a word was wrong. */
export function refuseWords(why: string): never {
  console.error(why);
  process.exit(2);
}

/** Ends a command that takes no words, where one is given. */
export function refuseAnyWord(words: readonly string[], usage: string): void {
  const [word] = words;
  if (word === undefined) return;
  refuseWords(`${word.startsWith("-") ? unknownOption(word, []) : `takes no word, and ${word} is one`}\n\n${usage}`);
}

/** Ends a command that takes one of these words, where another one was given. @param kind what the words are */
export function refuseWord(word: string, known: readonly string[], kind: string, usage: string): never {
  if (word === "") refuseWords(usage);
  if (word.startsWith("-")) refuseWords(`${unknownOption(word, [])}\n\n${usage}`);
  refuseWords(`there is no ${kind} ${word}; the nearest one is ${nearestWord(word, known)}\n\n${usage}`);
}

/** What was given, by `parseArgs` of Node. Ends the command with a line when an option is not one of them. */
export function parseWords<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const wrong = optionRefused(error);
    const known = Object.entries(config.options ?? {});
    const told = error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error);
    const why = wrong === undefined ? told : unknownOption(wrong, Object.keys(config.options ?? {}));
    const names = known.map(([name, { type }]) => `--${name}${type === "string" ? " <value>" : ""}`);
    return refuseWords(`${why}\noptions: ${names.join(" ")}`);
  }
}

/** @param names of the options, without dashes. @returns what was given, by name. */
export function readOptions<Name extends string>(...names: Name[]): ReadonlyMap<Name, string> {
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" } as const]));
  const { values } = parseWords({ options });
  return new Map(names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));
}
