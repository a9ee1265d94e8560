// The life of a process: start, say that it is ready, drain on SIGTERM or SIGINT or when its supervisor is gone, exit. A
// setting that is wrong ends it with one clear message and exit code 1.
import { ConfigError, optional, port, readConfig, text, withDefault } from "./config.ts";
import { createLog } from "./log.ts";
import { serveAdmin } from "./metrics.ts";

// What every process reads besides its own settings.
const processSettings = { ADMIN_PORT: optional(port), HOST: withDefault(text, "127.0.0.1") } as const;

// A supervisor waits 10 s before it kills; this leaves time to say why.
const stopMaxMs = 9_000;

/** Runs a process. `start` begins serving and answers how to stop. */
export async function runProcess(name: string, start: () => Promise<{ stop(): Promise<void> }>): Promise<void> {
  const log = createLog(name, process.env.LOG_LEVEL ?? "info");
  process.on("unhandledRejection", (error) => {
    log.fatal({ err: error }, "unhandled rejection");
    process.exit(1);
  });
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "uncaught exception");
    process.exit(1);
  });
  try {
    const { ADMIN_PORT, HOST } = readConfig(processSettings);
    const running = await start();
    if (ADMIN_PORT !== undefined) await serveAdmin({ port: ADMIN_PORT, host: HOST });
    stopOnSignal(log, running);
    process.send?.({ ready: true });
    log.info("ready");
  } catch (error) {
    if (error instanceof ConfigError)
      process.stderr.write(`${name}: ${error.message.replaceAll("\n", `\n${name}: `)}\n`);
    else log.fatal({ err: error }, "could not start");
    process.exit(1);
  }
}

function stopOnSignal(log: ReturnType<typeof createLog>, running: { stop(): Promise<void> }): void {
  let stopping = false;
  const stop = (why: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ why }, "stopping");
    const limit = setTimeout(() => process.exit(1), stopMaxMs);
    running.stop().then(
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
}
