// Lifecycle of a process: start, report ready, drain on SIGTERM, SIGINT or loss of the supervisor, exit. Invalid
// settings print one line each; exit code 1.
import { flushCompileCache } from "node:module";
import { createLog, type Log } from "#platform/telemetry/log.ts";
import { serveAdmin } from "#platform/telemetry/metrics.ts";
import { CertificateRefused } from "#platform/values/failure.ts";
import {
  ConfigError,
  type ConfigValues,
  logLevels,
  optionalSetting,
  port,
  productionSettings,
  readConfig,
  share,
  text,
  urlSetting,
  withDefault,
} from "./config.ts";
import { type Drain, drainOf, drainSettings, type Host, ownHost } from "./host.ts";

// Settings that every process reads.
export const processSettings = {
  ADMIN_PORT: optionalSetting(port),
  HOST: withDefault(text, "127.0.0.1"),
  /** Endpoint for spans; none are recorded without it. The SDK itself reads its headers and attributes. */
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalSetting(urlSetting("http", "https")),
  OTEL_TRACES_SAMPLER_ARG: withDefault(share, 1),
  ...drainSettings,
  ...productionSettings,
} as const;

export interface RunningProgram {
  /** Whether it accepts calls now; `/readyz` on the admin port asks. */
  ready(): Promise<boolean>;
  /** Asks callers to leave, and still answers them. */
  leave?(): void;
  stop(drain: Drain): Promise<void>;
}

/** @param read reads the program's settings; throws ConfigError @param start starts serving and returns how to stop */
export async function runProcess<C>(
  name: string,
  read: () => C,
  start: (config: C, hostProcess: Host) => Promise<RunningProgram>,
): Promise<void> {
  // An invalid level is reported together with the other settings.
  const log = createLog(name, logLevels.find((level) => level === process.env.LOG_LEVEL) ?? "info");
  exitOnDefect(log);
  try {
    const [{ ADMIN_PORT, HOST, ...settings }, config] = readTogether(() => readConfig(processSettings), read);
    const spans = await startTracing(name, settings, log);
    const { registry } = ownHost;
    let running: RunningProgram | undefined;
    let stopping = false;
    const ready = async () => running !== undefined && !stopping && (await running.ready());
    // Before the start, which waits for the database: the process is alive and not ready.
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
    exitUnstarted(name, error, log);
  }
}

/** Ends the process on an unexpected error. */
export function exitOnDefect(log: Log): void {
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
  // Node flushes it only at an orderly exit; after a kill the next process would compile everything again.
  flushCompileCache();
}

export function exitUnstarted(name: string, error: unknown, log: Log): never {
  if (isConfigurationError(error)) process.stderr.write(`${name}: ${error.message.replaceAll("\n", `\n${name}: `)}\n`);
  else log.fatal({ err: error }, "start failed");
  process.exit(1);
}

export function isConfigurationError(error: unknown): error is Error {
  return error instanceof ConfigError || error instanceof CertificateRefused;
}

/** @throws ConfigError with the problems of both, each once, so an operator fixes them in one round */
export function readTogether<A, B>(readOne: () => A, readOther: () => B): [A, B] {
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

/** Starts recording spans if configured. @returns how to stop */
export async function startTracing(
  name: string,
  settings: Omit<ConfigValues<typeof processSettings>, "ADMIN_PORT" | "HOST">,
  log: Log,
) {
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  const { exportSpans } = await import("#platform/telemetry/trace-export.ts");
  return exportSpans(name, { endpoint, share: settings.OTEL_TRACES_SAMPLER_ARG }, log);
}

type Stop = (why: string) => void;

/** Stops in order on a signal, then exits. @returns how to stop for another reason */
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
      log.error("stop timed out");
      process.exit(1);
    }, drain.stopMaxMs);
    stopAll(drain).then(
      () => {
        clearTimeout(limit);
        process.exit(0);
      },
      (error) => {
        log.error({ err: error }, "stop failed");
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", () => stop("SIGTERM"));
  process.once("SIGINT", () => stop("SIGINT"));
  process.once("disconnect", () => stop("supervisor gone"));
  return stop;
}
