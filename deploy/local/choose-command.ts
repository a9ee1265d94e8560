// One command for many: `npm run prove -- walk …` runs test/chaos/walk.ts with the words that follow.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { printHelpIfRequested, refuseExtraArguments, refuseUnknownArgument } from "./options.ts";

/** One of the commands behind a name. */
export interface Choice {
  readonly about: string;
  /** Scripts, one after another; each gets the words that follow the name. */
  readonly scripts: readonly string[];
  /** Words that come before the caller's. */
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** How it is used, for scripts that take no words and do not say it themselves. */
  readonly usage?: string;
}

const root = join(import.meta.dirname, "../..");
const nameWidth = 16;

/**
 * Runs what the first word names. Ends the process: 2 for a wrong word, else as the command ended.
 * @param byDefault runs without a word; undefined: the list is shown
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
    // The channel tells it when this process is gone, however it ended.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, ...env },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
