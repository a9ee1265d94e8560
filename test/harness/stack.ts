// The whole system for tests. One stack serves all test files of a run; a test file run alone starts its own. Tests
// that kill or stop parts take a private one.
import { randomBytes } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { withDatabase } from "../../deploy/local/databases.ts";
import type { RunningStack, StackOptions } from "../../deploy/local/running-stack.ts";
import { ownProcessNames } from "../../deploy/local/services.ts";
import { type StackShape, stackShapes } from "../../deploy/local/settings.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { startStack } from "../../deploy/local/start.ts";
import { sources } from "../../services/services.ts";
import { stackDatabases } from "./database.ts";
import type { FalseClocks } from "./false-clock.ts";
import { sharedInfra } from "./infra.ts";
import { tempDir } from "./temp-dir.ts";

let shared: Promise<StackInfo> | undefined;

/** The stack of this run. Its parts must be left alone; its data is shared with other test files (see merchant.ts). */
export function sharedStack(): Promise<StackInfo> {
  const file = process.env.TEST_STACK_FILE;
  shared ??= file ? readFile(file, "utf8").then((text) => JSON.parse(text)) : ownStack();
  return shared;
}

async function ownStack(): Promise<StackInfo> {
  const own = await startTestStack({ keepsParentAlive: false, shape: shapeOfRun() });
  process.once("beforeExit", () => void own.stop());
  return own.stack;
}

/** Which shape the stack has that tests share: `TOLLBOOTH_SHAPE=one npm test -- --only contract`. */
export function shapeOfRun(): StackShape {
  const shape = stackShapes.find((each) => each === (process.env.TOLLBOOTH_SHAPE ?? "separate"));
  if (shape === undefined) throw new Error(`TOLLBOOTH_SHAPE must be one of ${stackShapes.join(", ")}`);
  return shape;
}

/** The process of a stack of that shape that has the part. */
export function processOf(shape: StackShape, service: string): string {
  return shape === "one" && ownProcessNames.some((name) => name === service) ? "one" : service;
}

/** A test's options. */
export interface TestStackOptions extends Partial<StackOptions> {
  /**
   * True: PostgreSQL and NATS of its own, which the test may kill; else databases of its own on the run's server. Its
   * NATS is always its own, with an identity for each process.
   */
  ownServers?: boolean;
  /** Clocks of its processes that the test steps. */
  clocks?: FalseClocks;
}

/** Money stays pending: days pass before the simulator's payouts. */
const unpaid = { SIMULATOR_SETTLEMENT_SECONDS: "172800", SIMULATOR_PAYOUT_SECONDS: "86400" };

/** Starts a private stack on throw-away state; `stop` removes the state too. */
export async function startTestStack(options: TestStackOptions = {}): Promise<RunningStack> {
  const { ownServers, clocks, ...chosen } = options;
  const stateDir = chosen.stateDir ?? (await tempDir("stack"));
  const running = await startStack({
    port: 0,
    quiet: true,
    durable: false,
    ...(ownServers ? {} : await useSharedServers()),
    ...(clocks && { envOf: clocks.environmentOf }),
    ...chosen,
    stateDir,
    // Each connection costs PostgreSQL 20 ms of CPU, and again what each of its first statements reads of the catalog.
    env: { RATE_LIMIT: "off", LOG_LEVEL: "info", DATABASE_CONNECTIONS: "6", ...unpaid, ...chosen.env },
  });
  return {
    ...running,
    async stop() {
      await running.stop();
      if (chosen.stateDir === undefined) await rm(stateDir, { recursive: true, force: true });
    },
  };
}

async function useSharedServers(): Promise<Pick<StackOptions, "databaseUrl">> {
  const servers = await sharedInfra();
  const stem = `stack_${randomBytes(6).toString("hex")}`;
  await stackDatabases(stem, sources);
  return { databaseUrl: withDatabase(servers.databaseUrl, stem) };
}
