// Parses the arguments of `tollbooth`, runs the command and prints its result. Exit codes: 0 done; 1 refused, failed or
// check failed; 2 usage error.

import { parseArgs } from "node:util";
import { StreamRefused } from "#platform/events/consumers.ts";
import { ConfigError } from "#platform/process/config.ts";
import { KeyManagementError } from "#platform/secrets/key-management.ts";
import { CertificateRefused, Failure } from "#platform/values/failure.ts";
import { errorCode } from "#platform/values/unchecked.ts";
import { StatementRefused } from "./books/camt053.ts";
import { type Answer, type Command, type CommandInput, type Commands, UsageError } from "./command.ts";
import { nearestName, optionRefused, unknownOption } from "./nearest-name.ts";
import { nouns } from "./nouns.ts";
import { connectOperator } from "./peers.ts";
import { printAnswer } from "./print.ts";
import { RoleRefused } from "./setup/rights.ts";

const unreachable = new Set(["ECONNREFUSED", "ECONNRESET", "EAI_AGAIN", "ENOTFOUND", "ETIMEDOUT"]);
/** Errors whose message is enough for the operator. */
const plain = [
  UsageError,
  StatementRefused,
  ConfigError,
  CertificateRefused,
  RoleRefused,
  StreamRefused,
  KeyManagementError,
];

/** @param output for help and errors. @returns the exit code */
export async function runCommandLine(
  argv: readonly string[],
  output: Pick<Console, "log" | "error"> = console,
): Promise<number> {
  try {
    const [noun = "", verb = "", ...rest] = argv;
    const commands = nouns[noun];
    if (!commands) {
      if (noun !== "" && noun !== "help" && !isHelp(noun)) throw new UsageError(`${noNoun(noun)}\n\n${overview()}`);
      output.log(overview());
      return 0;
    }
    const own = commands[""];
    const isOwn = own !== undefined && !isHelp(verb);
    const command = isOwn ? own : commands[verb];
    if (!command) {
      if (verb !== "" && !isHelp(verb))
        throw new UsageError(`${noVerb(noun, verb, Object.keys(commands))}\n\n${helpOf(noun, commands)}`);
      output.log(helpOf(noun, commands));
      return 0;
    }
    const args = isOwn ? argv.slice(1) : rest;
    if (args.some(isHelp)) {
      output.log(helpOf(noun, { [isOwn ? "" : verb]: command }));
      return 0;
    }
    const { input, asJson } = read(isOwn ? noun : `${noun} ${verb}`, command, args);
    const answer = await run(command, input);
    printAnswer(answer, asJson);
    return answer.isBad ? 1 : 0;
  } catch (error) {
    output.error(reasonOf(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run(command: Command, input: CommandInput): Promise<Answer> {
  if (command.isAlone) return command.run(Object.create(null), input);
  const peers = await connectOperator(process.env);
  try {
    return await command.run(peers, input);
  } finally {
    peers.close();
  }
}

function read(name: string, command: Command, argv: readonly string[]): { input: CommandInput; asJson: boolean } {
  const wanted = command.options ?? {};
  const options = Object.entries(wanted).map(
    ([option, { value, multiple }]) =>
      [option, { type: value === undefined ? "boolean" : "string", multiple: multiple ?? false }] as const,
  );
  const { values, positionals } = parsed(name, argv, Object.fromEntries(options));
  const args = command.args ?? [];
  const needed = args.filter((each) => !each.startsWith("["));
  if (positionals.length < needed.length || positionals.length > args.length)
    throw new UsageError(`usage: tollbooth ${usage(name, command)}`);
  const missing = Object.entries(wanted).filter(([option, { needed }]) => needed && !values[option]);
  if (missing.length > 0) throw new UsageError(`needed: ${missing.map(([option]) => `--${option}`).join(", ")}`);
  const text = (option: string) => [values[option] ?? ""].flat().map(String).at(-1) ?? "";
  const list = (option: string) => [values[option] ?? []].flat().map(String);
  const arg = (argName: string) => positionals[args.indexOf(argName)] ?? "";
  return { input: { arg, text, list, has: (option) => values[option] === true }, asJson: values.json === true };
}

type OptionTypes = Record<string, { type: "boolean" | "string"; multiple: boolean }>;

function parsed(
  name: string,
  argv: readonly string[],
  options: OptionTypes,
): { values: Readonly<Record<string, unknown>>; positionals: string[] } {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { ...options, json: { type: "boolean", multiple: false } },
    });
  } catch (error) {
    const wrong = optionRefused(error);
    const reason = error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error);
    const why = wrong === undefined ? reason : unknownOption(wrong, [...Object.keys(options), "json"]);
    throw new UsageError(`${why} (tollbooth ${name} --help)`);
  }
}

function noNoun(arg: string): string {
  if (arg.startsWith("-")) return unknownOption(arg, []);
  return `there is no ${arg}; did you mean ${nearestName(arg, Object.keys(nouns))}`;
}

function noVerb(noun: string, arg: string, verbs: readonly string[]): string {
  if (arg.startsWith("-")) return unknownOption(arg, []);
  return `${noun} has no ${arg}; did you mean ${nearestName(arg, verbs)}`;
}

function isHelp(arg: string): boolean {
  return arg === "--help" || arg === "-h";
}

function overview(): string {
  const lines = Object.entries(nouns).map(
    ([noun, commands]) => `  ${noun.padEnd(17)}${Object.keys(commands).join(", ")}`,
  );
  return [
    "usage: tollbooth <noun> <verb> [words] [--options] [--json]",
    "",
    ...lines,
    "",
    "Run it as `npm run tollbooth --` or `npx tollbooth` in the repository, and as `tollbooth` in a container. `<noun> --help` explains its verbs.",
    "--json prints one JSON array. Without RPC_TOKEN_FILE the local stack of STATE_DIR (.local) is used.",
  ].join("\n");
}

function helpOf(noun: string, commands: Commands): string {
  return Object.entries(commands)
    .flatMap(([verb, command]) => [
      `tollbooth ${usage(`${noun} ${verb}`.trim(), command)}`,
      `    ${command.about}`,
      ...Object.entries(command.options ?? {}).map(([option, { value, about }]) => {
        return `    --${`${option}${value === undefined ? "" : ` <${value}>`}`.padEnd(20)} ${about}`;
      }),
    ])
    .join("\n");
}

function usage(name: string, { args = [], options = {} }: Command): string {
  const shown = Object.entries(options).map(([option, { value, needed }]) => {
    const text = `--${option}${value === undefined ? "" : ` <${value}>`}`;
    return needed ? text : `[${text}]`;
  });
  const named = args.map((arg) => (arg.startsWith("[") ? arg : `<${arg}>`));
  return [name, ...named, ...shown].join(" ");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A refusal as advice; an unexpected error with its stack. */
function reasonOf(error: unknown): string {
  if (plain.some((kind) => error instanceof kind) || unreachable.has(errorCode(error))) return messageOf(error);
  if (!(error instanceof Failure)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (error.cause instanceof Failure) {
    if (error.cause.reason === "CALLER_UNKNOWN") {
      return "the service rejects this token: RPC_TOKEN_FILE must contain one that its RPC_CALLERS_FILE lists for the operator";
    }
    if (error.cause.reason === "CALLER_REFUSED") return "permission denied: the token does not belong to the operator";
  }
  switch (error.reason) {
    case "NOT_FOUND":
      return "not found: check the ids, and --live for objects of the live environment";
    case "INVALID_BODY":
      return (
        error.violations.map(({ field, problem }) => `${field}: ${problem}`).join("\n") || "the request is not valid"
      );
    case "CONNECTOR_ERROR":
      return "the processor did not answer; try again";
    case "CONNECTOR_NOT_ELIGIBLE":
      return "another merchant has this account, or the processor does not let it charge yet";
    case "SERVICE_UNAVAILABLE":
      return "the service is unavailable or overloaded, and the outcome is unknown: check, then try again";
    default:
      return `refused: ${error.reason}`;
  }
}
