// The life of a process that runs several parts, each as its own process would: with its own settings (`NAME__SETTING`
// for one part, `SETTING` for all), admin port and host (host.ts). A part that cannot start tries again and does not
// block the others; an unexpected error ends the process.
import { setTimeout as pause } from "node:timers/promises";
import { Registry } from "prom-client";
import { createLog, type Log } from "#platform/telemetry/log.ts";
import { serveAdmin } from "#platform/telemetry/metrics.ts";
import { ConfigError, type Environment, logLevels, readConfig } from "./config.ts";
import { type Drain, drainOf, type Host } from "./host.ts";
import {
  endOnDefect,
  endUnstarted,
  isWrongSetting,
  processSettings,
  type RunningProgram,
  readBoth,
  reportReady,
  startTracing,
  stopOnSignal,
} from "./process.ts";

/** A part that nobody has begun: what its process is made of where it runs alone. */
export interface Program {
  readonly name: string;
  /** Of its own environment. @throws ConfigError. @returns how to start it */
  readonly prepare: (env: Environment) => (hostProcess: Host) => Promise<RunningProgram>;
}

/** @param read its own settings. @throws ConfigError. @param start begins serving and answers how to stop */
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

// A part that cannot start tries again as a supervisor would start its process again.
const retryFirstMs = 200;
const retryMaxMs = 10_000;
// The parts that callers reach wait this long for the others: a start is a second or two, and one whose database is
// away must not keep them shut.
const openAfterMs = 10_000;
// What is left to a part that stops after others have used up the time.
const graceMsMin = 250;

/** What stands before the name of a setting that is for one part. */
export function settingPrefixOf(name: string): string {
  return `${name.toUpperCase().replaceAll("-", "_")}__`;
}

/** What the environment says to one part: what is for all, and over it what is for this one. */
export function programEnvironment(name: string, env: Environment): Environment {
  const prefix = settingPrefixOf(name);
  const entries = Object.entries(env);
  const own = entries
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, value]) => [key.slice(prefix.length), value] as const);
  // A value and the file that holds it are one setting.
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
  /** Shared by all of the process. */
  readonly neighbours: NonNullable<Host["neighbours"]>;
  running?: RunningProgram;
  spans?: Awaited<ReturnType<typeof startTracing>>;
}

/**
 * Runs parts in one process.
 * @param stages of which the last stops first. It opens to the outside when all others, which start together, have
 * started, failed once, or had their time.
 * @param envOf what the environment says to a part
 */
export async function runTogether(
  name: string,
  stages: readonly (readonly Program[])[],
  envOf: (program: string) => Environment,
): Promise<void> {
  const log = createLog(name, levelOf(process.env));
  endOnDefect(log);
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
    endUnstarted(name, error, log);
  }
}

/** @throws ConfigError that names what is wrong with any of them, by part */
function prepareAll(
  stages: readonly (readonly Program[])[],
  envOf: (program: string) => Environment,
): readonly (readonly PreparedProgram[])[] {
  const problems: string[] = [];
  const neighbours: PreparedProgram["neighbours"] = new Map();
  const prepare = ({ name, prepare: read }: Program): PreparedProgram[] => {
    const env = envOf(name);
    try {
      const [settings, begin] = readBoth(
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

/** A wrong one is told with the other settings. */
function levelOf(env: Environment): string {
  return logLevels.find((level) => level === env.LOG_LEVEL) ?? "info";
}

/** Before the start, which waits for the database: the part says meanwhile that it is not ready. */
async function openProgram(each: PreparedProgram, reportsProcess: boolean, stopping: () => boolean): Promise<void> {
  const { name, log, settings, registry } = each;
  each.spans = await startTracing(name, settings, log);
  const ready = async () => each.running !== undefined && !stopping() && (await each.running.ready());
  const { ADMIN_PORT: port, HOST: host } = settings;
  if (port !== undefined) await serveAdmin({ name, port, host, ready, registry, reportsProcess });
}

/** @returns when it has been tried once, and when it has started */
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
        if (isWrongSetting(error) && tries === 1) endUnstarted(each.name, error, each.log);
        each.log.error({ err: error }, "could not start; trying again");
      } finally {
        onTried();
      }
      await pause(pauseMs);
    }
  };
  return { tried, started: start() };
}

/** The last stage first. Callers have been asked to leave, all at once: one lame duck is enough. */
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
  if (problems.length > 0) throw new AggregateError(problems, "parts did not stop cleanly");
}
