// Lifecycle of a process that runs several programs, each with its own settings (`NAME__SETTING` for one, `SETTING` for
// all), admin port and host (host.ts). A program that fails to start is retried and does not block the others; an
// unexpected error stops the process.
import { setTimeout as pause } from "node:timers/promises";
import { Registry } from "prom-client";
import { ConfigError, type Environment, logLevels, readConfig } from "#platform/process/config.ts";
import { type Drain, drainOf, type Host } from "#platform/process/host.ts";
import {
  exitOnDefect,
  exitUnstarted,
  isConfigurationError,
  processSettings,
  type RunningProgram,
  readTogether,
  reportReady,
  startTracing,
  stopOnSignal,
} from "#platform/process/process.ts";
import { createLog, type Log } from "#platform/telemetry/log.ts";
import { serveAdmin } from "#platform/telemetry/metrics.ts";

/** A program that is not started yet. */
export interface Program {
  readonly name: string;
  /** Reads its own environment. @throws ConfigError @returns how to start it */
  readonly prepare: (env: Environment) => (hostProcess: Host) => Promise<RunningProgram>;
}

/** @param read reads its settings; throws ConfigError @param start starts serving and returns how to stop */
export function defineProgram<C>(
  name: string,
  read: (env: Environment) => C,
  start: (config: C, hostProcess: Host) => Promise<RunningProgram>,
): Program {
  return {
    name,
    prepare: (env) => {
      const config = read(env);
      return (hostProcess) => start(config, hostProcess);
    },
  };
}

// Restarts like a supervisor would restart a process.
const retryFirstMs = 200;
const retryMaxMs = 10_000;
// Public programs wait this long for the others. A start takes a second or two; one without its database must not keep
// them closed.
const openAfterMs = 10_000;
// Minimum for a program that stops after others have used up the time.
const graceMsMin = 250;

/** Prefix of settings that belong to one program. */
export function settingPrefixOf(name: string): string {
  return `${name.toUpperCase().replaceAll("-", "_")}__`;
}

/** The environment of one program: shared settings, overridden by its own. */
export function programEnvironment(name: string, env: Environment): Environment {
  const prefix = settingPrefixOf(name);
  const entries = Object.entries(env);
  const own = entries
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, value]) => [key.slice(prefix.length), value] as const);
  // A value and the file that contains it are one setting.
  const overridden = new Set(own.map(([key]) => key.replace(/_FILE$/, "")));
  const shared = entries.filter(([key]) => !key.includes("__") && !overridden.has(key.replace(/_FILE$/, "")));
  return Object.fromEntries([...shared, ...own]);
}

interface PreparedProgram {
  readonly name: string;
  readonly log: Log;
  readonly begin: ReturnType<Program["prepare"]>;
  readonly settings: ReturnType<typeof readConfig<typeof processSettings>>;
  readonly registry: Registry;
  /** Shared by the whole process. */
  readonly neighbours: NonNullable<Host["neighbours"]>;
  running?: RunningProgram;
  spans?: Awaited<ReturnType<typeof startTracing>>;
}

/**
 * Runs programs in one process.
 * @param stages the last one stops first. It opens after all others, which start together, have started, failed once or
 * timed out.
 * @param envOf environment of a program
 */
export async function runTogether(
  name: string,
  stages: readonly (readonly Program[])[],
  envOf: (program: string) => Environment,
): Promise<void> {
  const log = createLog(name, levelOf(process.env));
  exitOnDefect(log);
  try {
    const prepared = prepareAll(stages, envOf);
    let isStopping = false;
    const stopping = () => isStopping;
    const drain = drainOf(readConfig(processSettings));
    const all = prepared.flat();
    const reporter = prepared.findLast((stage) => stage.length > 0)?.[0];
    await Promise.all(all.map((each) => openProgram(each, each === reporter, stopping)));
    const stop = stopOnSignal(
      log,
      (drainNow) => stopAll(prepared, drainNow),
      drain,
      () => {
        isStopping = true;
        for (const { running } of all) running?.leave?.();
      },
    );
    const start = (some: readonly PreparedProgram[]) => some.map((each) => startProgram(each, stopping));
    const inner = start(prepared.slice(0, -1).flat());
    await Promise.race([Promise.all(inner.map(({ tried }) => tried)), pause(openAfterMs, undefined, { ref: false })]);
    const outer = start(prepared.slice(-1).flat());
    await Promise.all([...inner, ...outer].map(({ started }) => started));
    if (!isStopping) reportReady(log, stop);
  } catch (error) {
    exitUnstarted(name, error, log);
  }
}

/** @throws ConfigError with every problem, by program */
function prepareAll(
  stages: readonly (readonly Program[])[],
  envOf: (program: string) => Environment,
): readonly (readonly PreparedProgram[])[] {
  const problems: string[] = [];
  const neighbours: PreparedProgram["neighbours"] = new Map();
  const prepare = ({ name, prepare: read }: Program): PreparedProgram[] => {
    const env = envOf(name);
    try {
      const [settings, begin] = readTogether(
        () => readConfig(processSettings, env),
        () => read(env),
      );
      return [{ name, settings, begin, log: createLog(name, levelOf(env)), registry: new Registry(), neighbours }];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.message.split("\n").map((line) => `${name}: ${line}`));
      return [];
    }
  };
  const prepared = stages.map((stage) => stage.flatMap(prepare));
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return prepared;
}

/** An invalid level is reported together with the other settings. */
function levelOf(env: Environment): string {
  return logLevels.find((level) => level === env.LOG_LEVEL) ?? "info";
}

/** Before the start, which waits for the database: the program reports that it is not ready. */
async function openProgram(each: PreparedProgram, reportsProcess: boolean, stopping: () => boolean): Promise<void> {
  const { name, log, settings, registry } = each;
  each.spans = await startTracing(name, settings, log);
  const ready = async () => each.running !== undefined && !stopping() && (await each.running.ready());
  const { ADMIN_PORT: port, HOST: host } = settings;
  if (port !== undefined) await serveAdmin({ name, port, host, ready, registry, reportsProcess });
}

/** @returns promises of the first try and of success */
function startProgram(
  each: PreparedProgram,
  stopping: () => boolean,
): { tried: Promise<void>; started: Promise<void> } {
  const { promise: tried, resolve: onTried } = Promise.withResolvers<void>();
  const { registry, neighbours } = each;
  const start = async () => {
    for (let tries = 1, pauseMs = retryFirstMs; !stopping(); tries += 1, pauseMs = Math.min(2 * pauseMs, retryMaxMs)) {
      try {
        each.running = await each.begin({ registry, neighbours, tracing: each.spans?.tracing });
        each.log.info("ready");
        return;
      } catch (error) {
        if (isConfigurationError(error) && tries === 1) exitUnstarted(each.name, error, each.log);
        each.log.error({ err: error }, "start failed: retrying");
      } finally {
        onTried();
      }
      await pause(pauseMs);
    }
  };
  return { tried, started: start() };
}

/** The last stage first. All callers were asked to leave before, so one lame-duck pause is enough. */
async function stopAll(
  prepared: readonly (readonly PreparedProgram[])[],
  { lameDuckMs, graceMs }: Drain,
): Promise<void> {
  const endsAt = performance.now() + lameDuckMs + graceMs;
  const problems: unknown[] = [];
  for (const [at, stage] of [...prepared].reverse().entries()) {
    const drain = {
      lameDuckMs: at === 0 ? lameDuckMs : 0,
      graceMs: Math.max(graceMsMin, Math.min(graceMs, endsAt - performance.now())),
    };
    const ends = await Promise.allSettled(
      stage.map(async ({ running, spans, log }) => {
        await running?.stop(drain);
        await spans?.stop();
        log.info("stopped");
      }),
    );
    problems.push(...ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : [])));
  }
  if (problems.length > 0) throw new AggregateError(problems, "parts stop failed");
}
