// The options of our own commands, `--name value`. An unknown option ends the command with the list of known ones.
import { type ParseArgsConfig, parseArgs } from "node:util";
import { nearestName, optionRefused, unknownOption } from "../cli/nearest-name.ts";

/** Prints the usage and exits on `--help`. */
export function printHelpIfRequested(usage: string): void {
  if (!process.argv.slice(2).some((arg) => arg === "--help" || arg === "-h")) return;
  console.log(usage);
  process.exit(0);
}

export function endWithUsageError(why: string): never {
  console.error(why);
  process.exit(2);
}

/** Exits when a command without arguments gets one. */
export function refuseExtraArguments(words: readonly string[], usage: string): void {
  const [arg] = words;
  if (arg === undefined) return;
  endWithUsageError(`${arg.startsWith("-") ? unknownOption(arg, []) : `takes no argument: ${arg}`}\n\n${usage}`);
}

/** Exits because of an unknown argument. @param kind of the known arguments, for the message */
export function refuseUnknownArgument(arg: string, known: readonly string[], kind: string, usage: string): never {
  if (arg === "") endWithUsageError(usage);
  if (arg.startsWith("-")) endWithUsageError(`${unknownOption(arg, [])}\n\n${usage}`);
  endWithUsageError(`there is no ${kind} ${arg}; did you mean ${nearestName(arg, known)}\n\n${usage}`);
}

/** `parseArgs` of Node; exits with one line on an unknown option. */
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

/** @param names of the options, without dashes. @returns the values by name */
export function readOptions<Name extends string>(...names: Name[]): ReadonlyMap<Name, string> {
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" } as const]));
  const { values } = parseOptions({ options });
  return new Map(names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));
}
