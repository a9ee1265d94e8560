// The options of our own commands, `--name value`. One that is not taken ends the command with a line that names those
// that are.
import { type ParseArgsConfig, parseArgs } from "node:util";

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

/** What was given, by `parseArgs` of Node. Ends the command with a line when an option is not one of them. */
export function parseWords<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error);
    const names = Object.entries(config.options ?? {}).map(
      ([name, { type }]) => `--${name}${type === "string" ? " <value>" : ""}`,
    );
    return refuseWords(`${why}\noptions: ${names.join(" ")}`);
  }
}

/** @param names of the options, without dashes. @returns what was given, by name. */
export function readOptions<Name extends string>(...names: Name[]): ReadonlyMap<Name, string> {
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" } as const]));
  const { values } = parseWords({ options });
  return new Map(names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));
}
