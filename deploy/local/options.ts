// The options of our own commands, `--name value`. One that is not taken ends the command with a line that names those
// that are.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { nearestName, optionRefused, unknownOption } from "../cli/nearest-name.ts";

/** Prints how the command is used and ends it, where `--help` is given. */
export function printHelpIfRequested(usage: string): void {
  if (!process.argv.slice(2).some((arg) => arg === "--help" || arg === "-h")) return;
  console.log(usage);
  process.exit(0);
}

/** Ends the command: a word was wrong. */
export function endWithUsageError(why: string): never {
  console.error(why);
  process.exit(2);
}

/** Ends a command that takes no words, where one is given. */
export function refuseExtraArguments(words: readonly string[], usage: string): void {
  const [arg] = words;
  if (arg === undefined) return;
  endWithUsageError(`${arg.startsWith("-") ? unknownOption(arg, []) : `takes no word, and ${arg} is one`}\n\n${usage}`);
}

/** Ends a command that takes one of these words, where another one was given. @param kind what the words are */
export function refuseUnknownArgument(arg: string, known: readonly string[], kind: string, usage: string): never {
  if (arg === "") endWithUsageError(usage);
  if (arg.startsWith("-")) endWithUsageError(`${unknownOption(arg, [])}\n\n${usage}`);
  endWithUsageError(`there is no ${kind} ${arg}; the nearest one is ${nearestName(arg, known)}\n\n${usage}`);
}

/** What was given, by `parseArgs` of Node. Ends the command with a line when an option is not one of them. */
export function parseOptions<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const wrong = optionRefused(error);
    const known = Object.entries(config.options ?? {});
    const reason = error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error);
    const why = wrong === undefined ? reason : unknownOption(wrong, Object.keys(config.options ?? {}));
    const names = known.map(([name, { type }]) => `--${name}${type === "string" ? " <value>" : ""}`);
    return endWithUsageError(`${why}\noptions: ${names.join(" ")}`);
  }
}

/** @param names of the options, without dashes. @returns what was given, by name. */
export function readOptions<Name extends string>(...names: Name[]): ReadonlyMap<Name, string> {
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" } as const]));
  const { values } = parseOptions({ options });
  return new Map(names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));
}
