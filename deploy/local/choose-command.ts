// One command for many scripts: `npm run prove -- walk …` runs test/chaos/walk.ts with the remaining arguments.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { printHelpIfRequested, refuseExtraArguments, refuseUnknownArgument } from "./options.ts";

export interface Choice {
  readonly about: string;
  /** Run one after another, each with the remaining arguments. */
  readonly scripts: readonly string[];
  /** Arguments before the caller's. */
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Printed for scripts that take no arguments and have no help of their own. */
  readonly usage?: string;
}

const root = join(import.meta.dirname, "../..");
const nameWidth = 16;

/**
 * Runs the scripts of the first argument. Exit code: 2 for an unknown name, else the script's own.
 * @param byDefault names to run without an argument; undefined: prints the list
 */
export async function chooseCommand(
  name: string,
  choices: Readonly<Record<string, Choice>>,
  byDefault?: readonly string[],
): Promise<never> {
  const [choice = "", ...words] = process.argv.slice(2);
  const isHelp = choice === "--help" || choice === "-h";
  const isOption = choice.startsWith("-");
  const chosen = choices[choice] ? [choice] : choice === "" || (isOption && !isHelp) ? byDefault : undefined;
  if (!chosen) {
    const lines = Object.entries(choices).map(([each, { about }]) => `  ${each.padEnd(nameWidth)}${about}`);
    const usage = [
      `usage: npm run ${name} -- <name> [--options]`,
      "",
      ...lines,
      "",
      "<name> --help explains its options.",
    ];
    if (!isHelp && choice !== "") refuseUnknownArgument(choice, Object.keys(choices), "name", usage.join("\n"));
    console.log(usage.join("\n"));
    process.exit(0);
  }
  const rest = choices[choice] ? words : process.argv.slice(2);
  const wanted = chosen.flatMap((each) => choices[each] ?? []);
  for (const { usage } of wanted) {
    if (usage === undefined) continue;
    printHelpIfRequested(usage);
    refuseExtraArguments(rest, usage);
  }
  for (const { scripts, words: own = [], env = {} } of wanted) {
    for (const script of scripts) {
      const code = await run(script, [...own, ...rest], env);
      if (code !== 0) process.exit(code);
    }
  }
  process.exit(0);
}

async function run(script: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(process.execPath, [join(root, script), ...words], {
    // The IPC channel closes with this process, also after kill -9.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, ...env },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
