// The life of a process: start, say that it is ready, drain on SIGTERM or SIGINT or when its supervisor is gone, exit.
// A wrong settings end it with a line for each of them and exit code 1.
import { flushCompileCache } from "node:module";
import { createLog, type Log } from "#platform/telemetry/log.ts";
import { serveAdmin } from "#platform/telemetry/metrics.ts";
import { CertificateRefused } from "#platform/values/certificate-refusal.ts";
import {
  ConfigError,
  type Configured,
  logLevels,
  optional,
  pairs,
  port,
  readConfig,
  share,
  text,
  url,
  withDefault,
} from "./config.ts";
import { type Drain, drainOf, drainSettings } from "./drain.ts";
import { productionSettings } from "./production.ts";

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
export interface Running {
  /** Whether it can take calls now; asked by `/readyz` on the admin port. */
  ready(): Promise<boolean>;
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
  start: (config: C) => Promise<Running>,
): Promise<void> {
  // A wrong one is told with the other settings.
  const log = createLog(name, logLevels.find((level) => level === process.env.LOG_LEVEL) ?? "info");
  process.on("unhandledRejection", (error) => {
    log.fatal({ err: error }, "unhandled rejection");
    process.exit(1);
  });
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "uncaught exception");
    process.exit(1);
  });
  try {
    const [{ ADMIN_PORT, HOST, ...settings }, config] = readBoth(() => readConfig(processSettings), read);
    const spans = await startTracing(name, settings, log);
    let running: Running | undefined;
    let stopping = false;
    const ready = async () => running !== undefined && !stopping && (await running.ready());
    // Before the start, which waits for the database: the process lives meanwhile, and says that it is not ready.
    if (ADMIN_PORT !== undefined) await serveAdmin({ name, port: ADMIN_PORT, host: HOST, ready });
    const started = await start(config);
    running = {
      ...started,
      stop: async (drain) => {
        await started.stop(drain);
        await spans?.stop();
      },
    };
    const stop = stopOnSignal(log, running, drainOf(settings), () => (stopping = true));
    if (process.connected === false) return stop("supervisor gone"); // while we were starting
    process.send?.({ ready: true });
    log.info("ready");
    // Node does so only at an orderly end, which a killed process has not: its successor would compile everything
    // again.
    flushCompileCache();
  } catch (error) {
    if (error instanceof ConfigError || error instanceof CertificateRefused)
      process.stderr.write(`${name}: ${error.message.replaceAll("\n", `\n${name}: `)}\n`);
    else log.fatal({ err: error }, "could not start");
    process.exit(1);
  }
}

/** @throws ConfigError that names what is wrong with either, each thing once: an operator mends it in one round. */
function readBoth<A, B>(readOne: () => A, readOther: () => B): [A, B] {
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

async function startTracing(
  name: string,
  settings: Omit<Configured<typeof processSettings>, "ADMIN_PORT" | "HOST">,
  log: Log,
) {
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  const { exportSpans } = await import("#platform/telemetry/trace-export.ts");
  const [share, attributes] = [settings.OTEL_TRACES_SAMPLER_ARG, settings.OTEL_RESOURCE_ATTRIBUTES];
  return exportSpans(name, { endpoint, share, attributes }, log);
}

type Stop = (why: string) => void;

function stopOnSignal(log: Log, running: Running, drain: ReturnType<typeof drainOf>, onStop: () => void): Stop {
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
    running.stop(drain).then(
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
