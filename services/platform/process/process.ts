// The life of a process: start, say that it is ready, drain on SIGTERM or SIGINT or when its supervisor is gone, exit.
// A wrong settings end it with a line for each of them and exit code 1.
import { flushCompileCache } from "node:module";
import { createLog, type Log } from "#platform/telemetry/log.ts";
import { serveAdmin } from "#platform/telemetry/metrics.ts";
import { CertificateRefused } from "#platform/values/failure.ts";
import {
  ConfigError,
  type ConfigValues,
  logLevels,
  optional,
  pairs,
  port,
  productionSettings,
  readConfig,
  share,
  text,
  url,
  withDefault,
} from "./config.ts";
import { type Drain, drainOf, drainSettings, type Host, ownHost } from "./host.ts";

// What every process reads besides its own settings.
export const processSettings = {
  ADMIN_PORT: optional(port),
  HOST: withDefault(text, "127.0.0.1"),
  /** Where spans go; without it none are recorded. OTEL_EXPORTER_OTLP_HEADERS is read by the exporter itself. */
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(url("http", "https")),
  OTEL_TRACES_SAMPLER_ARG: withDefault(share, 1),
  OTEL_RESOURCE_ATTRIBUTES: withDefault(pairs, {}),
  ...drainSettings,
  ...productionSettings,
} as const;

/** What a process runs. */
export interface RunningProgram {
  /** Whether it can take calls now; asked by `/readyz` on the admin port. */
  ready(): Promise<boolean>;
  /** Asks callers to leave, and still answers them. */
  leave?(): void;
  stop(drain: Drain): Promise<void>;
}

/**
 * Runs a process.
 * @param read its own settings. @throws ConfigError
 * @param start begins serving and answers how to stop
 */
export async function runProcess<C>(
  name: string,
  read: () => C,
  start: (config: C, hostProcess: Host) => Promise<RunningProgram>,
): Promise<void> {
  // A wrong one is told with the other settings.
  const log = createLog(name, logLevels.find((level) => level === process.env.LOG_LEVEL) ?? "info");
  endOnDefect(log);
  try {
    const [{ ADMIN_PORT, HOST, ...settings }, config] = readBoth(() => readConfig(processSettings), read);
    const spans = await startTracing(name, settings, log);
    const { registry } = ownHost;
    let running: RunningProgram | undefined;
    let stopping = false;
    const ready = async () => running !== undefined && !stopping && (await running.ready());
    // Before the start, which waits for the database: the process lives meanwhile, and says that it is not ready.
    if (ADMIN_PORT !== undefined) await serveAdmin({ name, port: ADMIN_PORT, host: HOST, ready, registry });
    const started = await start(config, { registry, tracing: spans?.tracing });
    running = started;
    const stopAll = async (drain: Drain) => {
      await started.stop(drain);
      await spans?.stop();
    };
    const stop = stopOnSignal(log, stopAll, drainOf(settings), () => (stopping = true));
    reportReady(log, stop);
  } catch (error) {
    endUnstarted(name, error, log);
  }
}

/** A process that has met what nobody thought of starts anew. */
export function endOnDefect(log: Log): void {
  process.on("unhandledRejection", (error) => {
    log.fatal({ err: error }, "unhandled rejection");
    process.exit(1);
  });
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "uncaught exception");
    process.exit(1);
  });
}

export function reportReady(log: Log, stop: Stop): void {
  if (process.connected === false) {
    stop("supervisor gone"); // while we were starting
    return;
  }
  process.send?.({ ready: true });
  log.info("ready");
  // Node does so only at an orderly end, which a killed process has not: its successor would compile everything again.
  flushCompileCache();
}

/** What is wrong with the settings is a line for each of them, on standard error. */
export function endUnstarted(name: string, error: unknown, log: Log): never {
  if (isWrongSetting(error)) process.stderr.write(`${name}: ${error.message.replaceAll("\n", `\n${name}: `)}\n`);
  else log.fatal({ err: error }, "could not start");
  process.exit(1);
}

export function isWrongSetting(error: unknown): error is Error {
  return error instanceof ConfigError || error instanceof CertificateRefused;
}

/** @throws ConfigError that names what is wrong with either, each thing once: an operator mends it in one round. */
export function readBoth<A, B>(readOne: () => A, readOther: () => B): [A, B] {
  const problems: string[] = [];
  const attempt = <T>(read: () => T): T[] => {
    try {
      return [read()];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.message.split("\n"));
      return [];
    }
  };
  const [ones, others] = [attempt(readOne), attempt(readOther)];
  for (const one of ones) for (const other of others) return [one, other];
  throw new ConfigError([...new Set(problems)].join("\n"));
}

/** Begins to record spans, if they are wanted. @returns how to end it */
export async function startTracing(
  name: string,
  settings: Omit<ConfigValues<typeof processSettings>, "ADMIN_PORT" | "HOST">,
  log: Log,
) {
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  const { exportSpans } = await import("#platform/telemetry/trace-export.ts");
  const [share, attributes] = [settings.OTEL_TRACES_SAMPLER_ARG, settings.OTEL_RESOURCE_ATTRIBUTES];
  return exportSpans(name, { endpoint, share, attributes }, log);
}

type Stop = (why: string) => void;

/** Stops in order when the process is told to, and ends it. @returns how to do so for another reason */
export function stopOnSignal(
  log: Log,
  stopAll: (drain: Drain) => Promise<void>,
  drain: ReturnType<typeof drainOf>,
  onStop: () => void,
): Stop {
  let stopping = false;
  const stop = (why: string) => {
    if (stopping) return;
    stopping = true;
    onStop();
    log.info({ why }, "stopping");
    const limit = setTimeout(() => {
      log.error("did not stop in time");
      process.exit(1);
    }, drain.stopMaxMs);
    stopAll(drain).then(
      () => {
        clearTimeout(limit);
        process.exit(0);
      },
      (error) => {
        log.error({ err: error }, "did not stop cleanly");
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", () => stop("SIGTERM"));
  process.once("SIGINT", () => stop("SIGINT"));
  process.once("disconnect", () => stop("supervisor gone"));
  return stop;
}
