// The options of a proof's command, `--name value`. One that it does not take ends it with a line that names those that it takes.
import { parseArgs } from "node:util";

/** Prints how the command is used and ends it, where `--help` is given. */
export function helpIfAsked(usage: string): void {
  if (!process.argv.slice(2).some((word) => word === "--help" || word === "-h")) return;
  console.log(usage);
  process.exit(0);
}

/** @param names of the options, without dashes. @returns what was given, by name. */
export function readOptions<Name extends string>(...names: Name[]): ReadonlyMap<Name, string> {
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" } as const]));
  try {
    const { values } = parseArgs({ options });
    return new Map(names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));
  } catch (error) {
    console.error(error instanceof Error ? error.message.split(". ")[0] : error);
    console.error(`options: ${names.map((name) => `--${name} <value>`).join(" ")}`);
    process.exit(2);
  }
}
