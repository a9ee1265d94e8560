// Structured logs: one JSON line per entry on standard output, with the call's request id and trace. Known secret
// fields are removed, and text that looks like a secret is masked.
import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import pino from "pino";
import { callContext } from "#platform/values/call-context.ts";

export type Log = pino.Logger;

const secretFields = [
  "api_key",
  "apiKey",
  "authorization",
  "client_secret",
  "clientSecret",
  "credentials",
  "password",
  "secret",
  "session_secret",
  "sessionSecret",
  "signing_secret",
  "signingSecret",
  "standard_secret",
  "standardSecret",
  "token",
  "url.search",
];

// The text before a secret, and the secret itself: with a known prefix (docs/contract.md §3), after a keyword, or
// before the host in a URL. Repetitions are bounded because every line is scanned.
const secretForms: readonly (readonly [before: RegExp, secret: RegExp])[] = [
  [/\b(?:[sr]k_(?:test|live)|tb_team|cs_secret|whsec|sim_(?:sk|wh)|(?:pi|seti)_[a-z0-9]{1,64}_secret)_/, /[\w+/=-]+/],
  [/\bpostgres(?:ql)?:\/\/[^:/\s]{1,256}:/, /[^@\s]+/],
  [/\b(?:nats|tls|https?):\/\//, /[^@/\s]{1,512}(?=@)/],
  [/\b(?:bearer|basic)\s{1,4}/, /[\w.~+/=-]{8,}/],
  [/(?:password|passwd|secret|token)["']?\s{0,4}=\s{0,4}["']?/, /[^\s"'&;,]+/],
];
const secretText = new RegExp(
  secretForms.map(([before, secret]) => `(${before.source})${secret.source}`).join("|"),
  "gi",
);
// Digits of a whole number, not of an id or a fraction.
const longNumber = /(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)/g;

/** Masks secrets and card numbers. */
export function maskSecrets(text: string): string {
  return text
    .replace(secretText, (_all, ...befores: (string | undefined)[]) => {
      const before = befores.slice(0, secretForms.length).find((each) => each !== undefined);
      return `${before ?? ""}…`;
    })
    .replace(longNumber, (number) => (isCardNumber(number) ? "…" : number));
}

/** Luhn check digit (ISO/IEC 7812); one random number in ten passes it. */
function isCardNumber(number: string): boolean {
  const digits = number.replace(/\D/g, "").split("").reverse().map(Number);
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 1 ? 2 * digit : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

function maskedFields(fields: Record<string, unknown>): Record<string, unknown> {
  const maskedValue = (value: unknown): unknown => {
    if (typeof value === "string") return maskSecrets(value);
    return Array.isArray(value) ? value.map(maskedValue) : value;
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, maskedValue(value)]));
}

/**
 * Creates a process's logger; every line contains `service`. Lines go through process.stdout because pino's own stream
 * retries its last write without end after the reader is gone, so an orphaned process would never exit.
 */
export function createLog(service: string, level: string): Log {
  const options = optionsOf(service, level);
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", () => {}); // without a reader there is nowhere to report it
  return pino(options, process.stdout);
}

function optionsOf(service: string, level: string): pino.LoggerOptions {
  return {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: maskedFields },
    redact: { paths: secretFields.flatMap((f) => [f, `*.${f}`]), censor: "[redacted]" },
    serializers: { err: errorFields, error: errorFields },
    mixin: () => {
      const call = callContext.getStore();
      if (!call) return {};
      const trace = { trace_id: call.traceparent.split("-")[1], ...(call.team && { actor: call.actor }) };
      return call.requestId === "" ? trace : { request_id: call.requestId, ...trace };
    },
    hooks: {
      logMethod(args, method) {
        method.apply(this, args.map((a) => (typeof a === "string" ? maskSecrets(a) : a)) as typeof args);
      },
    },
  };
}

/** An error as log fields: message, stack and causes, masked. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: maskSecrets(String(error)) };
  const code = "code" in error ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: errorFields(error.cause) };
  return {
    type: error.name,
    message: maskSecrets(error.message),
    ...code,
    stack: maskSecrets(sourceStack(error.stack ?? "")),
    ...cause,
  };
}

// Maps the stack of a bundled error (deploy/bundle) to source positions by the map files next to the bundle. Maps are
// read when an error is logged; Node's own source-map support costs a fifth of the start time and 3 MB per process.

/** Matches `    at f (file:///…/chunk.mjs:12:34`; a message may contain lines of any length. */
const frameForm = /^( {4}at .{0,500}?)(file:\/\/\/[^\s()]{1,500}\.mjs):(\d+):(\d+)/gm;

/** Only positions that exist: text that looks like a stack may contain any number. */
const maps = new Map<string, SourceMap>();

/** Unmapped frames stay as they are. */
export function sourceStack(stack: string): string {
  return stack.replace(frameForm, (whole, before: string, url: string, line: string, column: string) => {
    const origin = mapOf(url)?.findOrigin(Number(line), Number(column));
    if (!origin || !("fileName" in origin)) return whole;
    return `${before}${new URL(origin.fileName, url).href}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}

function mapOf(url: string): SourceMap | undefined {
  try {
    const map = maps.get(url) ?? new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, "utf8")));
    maps.set(url, map);
    return map;
  } catch {
    return undefined; // not of a bundle
  }
}
