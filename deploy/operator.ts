// `npm run operator -- <noun> <verb> …`: what operators do over the internal API, from a terminal or a script. Exit code 0: done; 1: refused,
// failed or not well; 2: a wrong word. Reads the stack.json of a local stack, or RPC_TOKEN_FILE and the services' addresses.
import { parseArgs } from "node:util";
import { ConfigError } from "#platform/config.ts";
import { Failure } from "#platform/failure.ts";
import { applications, connectors } from "./operator/accounts.ts";
import { audit } from "./operator/audit.ts";
import { type Answer, type Command, type Commands, type Given, UsageError } from "./operator/command.ts";
import { deliveries, endpoints } from "./operator/deliveries.ts";
import { journal } from "./operator/journal.ts";
import { keys } from "./operator/keys.ts";
import { merchants } from "./operator/merchants.ts";
import { operations } from "./operator/operations.ts";
import { connectOperator } from "./operator/peers.ts";
import { print } from "./operator/print.ts";
import { status } from "./operator/status.ts";
import { suspense } from "./operator/suspense.ts";
import { tokens } from "./operator/tokens.ts";

const nouns: Readonly<Record<string, Commands>> = {
  merchants,
  keys,
  connectors,
  applications,
  endpoints,
  deliveries,
  operations,
  suspense,
  journal,
  audit,
  status,
  tokens,
};

/** Commands that call no service. */
const needNobody = new Set<Command | undefined>([...Object.values(tokens), journal.check]);

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  try {
    const [noun = "", verb = "", ...rest] = argv;
    const commands = nouns[noun];
    if (!commands) {
      if (noun !== "" && noun !== "help" && !isHelp(noun)) throw new UsageError(`there is no ${noun}\n\n${overview()}`);
      console.log(overview());
      return 0;
    }
    const command = commands[verb];
    if (!command) {
      if (verb !== "" && !isHelp(verb)) throw new UsageError(`${noun} has no ${verb}\n\n${helpOf(noun, commands)}`);
      console.log(helpOf(noun, commands));
      return 0;
    }
    if (rest.some(isHelp)) {
      console.log(helpOf(noun, { [verb]: command }));
      return 0;
    }
    const { given, asJson } = read(`${noun} ${verb}`, command, rest);
    const answer = await run(command, given);
    print(answer, asJson);
    return answer.isBad ? 1 : 0;
  } catch (error) {
    console.error(told(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run(command: Command, given: Given): Promise<Answer> {
  if (needNobody.has(command)) return command.run(Object.create(null), given);
  const peers = await connectOperator(process.env);
  try {
    return await command.run(peers, given);
  } finally {
    peers.close();
  }
}

function read(name: string, command: Command, argv: string[]): { given: Given; asJson: boolean } {
  const wanted = command.options ?? {};
  const options = Object.entries(wanted).map(
    ([option, { value, multiple }]) =>
      [option, { type: value === undefined ? "boolean" : "string", multiple: multiple ?? false }] as const,
  );
  const { values, positionals } = parsed(name, argv, Object.fromEntries(options));
  const words = command.words ?? [];
  const needed = words.filter((each) => !each.startsWith("["));
  if (positionals.length < needed.length || positionals.length > words.length)
    throw new UsageError(`usage: operator ${usage(name, command)}`);
  const missing = Object.entries(wanted).filter(([option, { needed }]) => needed && !values[option]);
  if (missing.length > 0) throw new UsageError(`needed: ${missing.map(([option]) => `--${option}`).join(", ")}`);
  const text = (option: string) => [values[option] ?? ""].flat().map(String).at(-1) ?? "";
  const list = (option: string) => [values[option] ?? []].flat().map(String);
  const word = (wordName: string) => positionals[words.indexOf(wordName)] ?? "";
  return { given: { word, text, list, has: (option) => values[option] === true }, asJson: values.json === true };
}

type OptionTypes = Record<string, { type: "boolean" | "string"; multiple: boolean }>;

function parsed(
  name: string,
  argv: string[],
  options: OptionTypes,
): { values: Readonly<Record<string, unknown>>; positionals: string[] } {
  try {
    return parseArgs({
      args: argv,
      allowPositionals: true,
      options: { ...options, json: { type: "boolean", multiple: false } },
    });
  } catch (error) {
    const why = error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error);
    throw new UsageError(`${why} (operator ${name} --help)`);
  }
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}

function overview(): string {
  const lines = Object.entries(nouns).map(
    ([noun, commands]) => `  ${noun.padEnd(14)}${Object.keys(commands).join(", ")}`,
  );
  return [
    "usage: npm run operator -- <noun> <verb> [words] [--options] [--json]",
    "",
    ...lines,
    "",
    "`<noun> --help` explains its verbs. --json prints one JSON array. Without RPC_TOKEN_FILE the local stack of STATE_DIR (.local) is used.",
  ].join("\n");
}

function helpOf(noun: string, commands: Commands): string {
  return Object.entries(commands)
    .flatMap(([verb, command]) => [
      `operator ${usage(`${noun} ${verb}`, command)}`,
      `    ${command.about}`,
      ...Object.entries(command.options ?? {}).map(([option, { value, about }]) => {
        return `    --${`${option}${value === undefined ? "" : ` <${value}>`}`.padEnd(20)} ${about}`;
      }),
    ])
    .join("\n");
}

function usage(name: string, { words = [], options = {} }: Command): string {
  const shown = Object.entries(options).map(([option, { value, needed }]) => {
    const text = `--${option}${value === undefined ? "" : ` <${value}>`}`;
    return needed ? text : `[${text}]`;
  });
  const named = words.map((word) => (word.startsWith("[") ? word : `<${word}>`));
  return [name, ...named, ...shown].join(" ");
}

/** A refusal in words that say what to do; anything unexpected with its stack. */
function told(error: unknown): string {
  if (error instanceof UsageError || error instanceof ConfigError) return error.message;
  if (!(error instanceof Failure)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (error.cause instanceof Failure) {
    if (error.cause.reason === "CALLER_UNKNOWN") {
      return "the service does not accept this token: RPC_TOKEN_FILE must hold one that its RPC_CALLERS_FILE lists for the operator";
    }
    if (error.cause.reason === "CALLER_REFUSED") return "the token is not the operator's: its caller may not do this";
  }
  switch (error.reason) {
    case "NOT_FOUND":
      return "not found: check the ids, and --live for objects of the live environment";
    case "INVALID_BODY":
      return (
        error.violations.map(({ field, problem }) => `${field}: ${problem}`).join("\n") || "the request is not valid"
      );
    case "SERVICE_UNAVAILABLE":
      return "the service cannot be reached or is overloaded; nothing is known to have been done: look, then try again";
    default:
      return `refused: ${error.reason}`;
  }
}
