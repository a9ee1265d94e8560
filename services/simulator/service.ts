// Puts the processor together: database, fault switches, jobs and HTTP server. Tests build it from here too.
import { pino } from "pino";
import { Faults } from "./flows/faults.ts";
import { startClock } from "./jobs/clock.ts";
import { type SenderContext, startSender } from "./jobs/send-events.ts";
import { startSweeper } from "./jobs/sweep-old-rows.ts";
import { Later } from "./later.ts";
import type { Processor } from "./processor.ts";
import { buildServer } from "./server.ts";
import { releaseClaims } from "./store/events.ts";
import { fingerprintKey } from "./store/installation.ts";
import { migrateSchema } from "./store/migrate.ts";
import { type Db, openPool } from "./store/pool.ts";

/** For requests under way when it stops. */
const graceMs = 2_000;

export interface SimulatorOptions {
  /** 0: a free one. */
  readonly port: number;
  readonly host?: string;
  readonly databaseUrl: string;
  /** Our origin as others see it. Absent: the address that we listen on. */
  readonly publicUrl?: string;
  /** The API key that callers must have. */
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Where webhooks go; `{account}` stands for the account's name. */
  readonly webhookUrl: string;
  readonly logLevel?: string;
  /** Milliseconds until what happens by itself happens. */
  readonly delayMs?: number;
  /** How long an authorization can be captured. */
  readonly authorizationSeconds?: number;
  /** How long idempotency keys are kept. */
  readonly keySeconds?: number;
  /** How long the page of a new intent lives; 0: for ever. */
  readonly pageSeconds?: number;
  /** Whether the form wants the cardholder's name. */
  readonly requiresName?: boolean;
  /** Whether /test/… exists. */
  readonly testControls?: boolean;
}

export interface Simulator {
  readonly url: string;
  /** Answers what is under way, then ends. */
  stop(): Promise<void>;
}

const delayMsDefault = 1_000;
const authorizationSecondsDefault = 604_800; // 7 days, as card networks give for most
const keySecondsDefault = 86_400; // as long as processors keep theirs

/** @throws when the database is away or the port is taken; nothing is left running then */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const log = simulatorLog(options.logLevel ?? "info");
  const db = openPool(options.databaseUrl, log);
  const senderDb = openPool(options.databaseUrl, log, { isRelaxed: true });
  const endPools = async () => void (await Promise.all([db.end(), senderDb.end()]));
  try {
    await migrateSchema(db);
    const faults = new Faults(db);
    await faults.load();
    await releaseClaims(senderDb);
    const basis = { db, log, faults, fingerprintKey: await fingerprintKey(db) };
    return await serveSimulator(options, basis, senderDb, endPools);
  } catch (error) {
    await endPools();
    throw error;
  }
}

/** Through process.stdout, since pino's own stream hangs in its last words when nobody reads any more. */
function simulatorLog(level: string) {
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", () => {});
  return pino({ name: "simulator", level }, process.stdout);
}

async function serveSimulator(
  options: SimulatorOptions,
  basis: Pick<Processor, "db" | "log" | "faults" | "fingerprintKey">,
  senderDb: Db,
  endPools: () => Promise<void>,
): Promise<Simulator> {
  const stopping = new AbortController();
  const later = new Later(basis.log, stopping.signal);
  let address = "";
  let jobs: ReturnType<typeof startJobs> | undefined;
  const processor: Processor = {
    ...basis,
    get publicUrl() {
      return options.publicUrl ?? address;
    },
    delayMs: options.delayMs ?? delayMsDefault,
    authorizationSeconds: options.authorizationSeconds ?? authorizationSecondsDefault,
    keySeconds: options.keySeconds ?? keySecondsDefault,
    pageSeconds: options.pageSeconds ?? 0,
    requiresName: options.requiresName ?? false,
    keysInUse: new Set(),
    later,
    stopping: stopping.signal,
    wakeSender: () => jobs?.sender.wake(),
    wakeClock: (ms) => jobs?.clock.wakeIn(ms),
  };
  const server = buildServer(processor, options);
  const listenTextResolver = (listening: string) => `ready at ${listening}`;
  address = await server.listen({ port: options.port, host: options.host ?? "127.0.0.1", listenTextResolver });
  jobs = startJobs(processor, { ...options, ...basis, db: senderDb });
  const { sender, clock, sweeper } = jobs;
  return {
    url: address,
    async stop() {
      stopping.abort();
      // A connection that a browser opened in advance has no request that could end, and is not idle either.
      const limit = setTimeout(() => server.server.closeAllConnections(), graceMs);
      await server.close();
      clearTimeout(limit);
      await later.done();
      await Promise.all([sender.stop(), clock.stop(), sweeper.stop()]);
      await endPools();
    },
  };
}

function startJobs(processor: Processor, sending: SenderContext) {
  return { sender: startSender(sending), clock: startClock(processor), sweeper: startSweeper(processor) };
}
