// Structured logs: one JSON line per entry on standard output, with the request id and trace of the call, and without
// secrets: known secret fields are removed, and secret-looking text is masked wherever it stands.
import pino from "pino";
import { callContext } from "./call-context.ts";

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
  "token",
  "url.search",
];

// Every secret of this system has a telling prefix (CONTRACT.md §3); anything after it is masked. So is who logs in, in a URL.
const secretText =
  /\b(sk_(?:test|live)_|cs_secret_|whsec_|sim_sk_|pi_[a-z0-9]+_secret_)[A-Za-z0-9_-]+|(postgres(?:ql)?:\/\/[^:/\s]+:)[^@\s]+|((?:nats|tls|https?):\/\/)[^@/\s]+(?=@)/g;

/** The text without secrets. */
export function masked(text: string): string {
  return text.replace(
    secretText,
    (_all, prefix: string | undefined, dsn: string | undefined, scheme: string | undefined) =>
      `${prefix ?? dsn ?? scheme ?? ""}…`,
  );
}

/**
 * The logger of a process. `service` is in every line. Lines go through process.stdout and not through pino's own stream: that one
 * repeats its last write for ever once nobody reads, and a process whose supervisor was killed would never end.
 */
export function createLog(service: string, level: string): Log {
  const options = optionsOf(service, level);
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", () => {}); // nobody reads, nobody to tell
  return pino(options, process.stdout);
}

function optionsOf(service: string, level: string): pino.LoggerOptions {
  return {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: secretFields.flatMap((f) => [f, `*.${f}`]), censor: "[redacted]" },
    serializers: { err: errorFields, error: errorFields },
    mixin: () => {
      const call = callContext.getStore();
      if (!call) return {};
      const trace = { trace_id: call.traceparent.split("-")[1] };
      return call.requestId === "" ? trace : { request_id: call.requestId, ...trace };
    },
    hooks: {
      logMethod(args, method) {
        method.apply(this, args.map((a) => (typeof a === "string" ? masked(a) : a)) as typeof args);
      },
    },
  };
}

/** An error as log fields: message, stack and causes, masked. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: masked(String(error)) };
  const code = "code" in error ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: errorFields(error.cause) };
  return { type: error.name, message: masked(error.message), ...code, stack: masked(error.stack ?? ""), ...cause };
}
