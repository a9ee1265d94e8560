// Wires the simulator: database, fault switches, jobs and HTTP server.
import { pino } from "pino";
import type { SimulatorOptions } from "./config.ts";
import { Faults } from "./flows/faults.ts";
import { startClock } from "./jobs/apply-delayed-facts.ts";
import { startPayer } from "./jobs/pay-out.ts";
import { type SenderContext, startSender } from "./jobs/send-events.ts";
import { startSweeper } from "./jobs/sweep-old-rows.ts";
import { Later } from "./later.ts";
import type { Processor } from "./processor.ts";
import { buildServer } from "./server.ts";
import { releaseClaims } from "./store/events.ts";
import { type Db, fingerprintKey, migrateSchema, openPool } from "./store/pool.ts";

/** For requests in progress at a stop. */
const graceMs = 2_000;

export interface Simulator {
  readonly url: string;
  /** Answers requests in progress, then stops. */
  stop(): Promise<void>;
}

const delayMsDefault = 1_000;
const authorizationSecondsDefault = 604_800; // 7 days, as for most cards
const keySecondsDefault = 86_400; // as long as processors do
const settlementSecondsDefault = 172_800; // two days, as for most cards
const payoutSecondsDefault = 86_400;

/** @throws if the database is unavailable or the port is in use; then nothing keeps running */
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

/** Uses process.stdout, since pino's own stream hangs at exit if the reader is gone. */
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
    settlementSeconds: options.settlementSeconds ?? settlementSecondsDefault,
    payoutSeconds: options.payoutSeconds ?? payoutSecondsDefault,
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
  const { sender, clock, payer, sweeper } = jobs;
  return {
    url: address,
    async stop() {
      stopping.abort();
      // A browser's preopened connection has no request to finish and is not idle either.
      const limit = setTimeout(() => server.server.closeAllConnections(), graceMs);
      await server.close();
      clearTimeout(limit);
      await later.done();
      await Promise.all([sender.stop(), clock.stop(), payer.stop(), sweeper.stop()]);
      await endPools();
    },
  };
}

function startJobs(processor: Processor, sending: SenderContext) {
  return {
    sender: startSender(sending),
    clock: startClock(processor),
    payer: startPayer(processor),
    sweeper: startSweeper(processor),
  };
}
