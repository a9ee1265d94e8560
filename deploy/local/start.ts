// Starts the whole system on this machine: PostgreSQL, NATS and the processes, migrated and seeded. A crashed part is
// restarted. `npm start` runs this file; tests and benchmarks call startStack.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { perSource, type Source, sources } from "../../services/services.ts";
import { prepareBundle } from "../bundle/kept-bundle.ts";
import { ensureStreams } from "../cli/setup/ensure-streams.ts";
import { migrateDatabase } from "../cli/setup/migrate-database.ts";
import { ensureBuilt } from "../generate/output.ts";
import { runCommand } from "./command.ts";
import {
  type ConsolePlan,
  choosePeopleAddresses,
  consoleScript,
  firstInvitations,
  mailboxScript,
  planConsoles,
  startConsoles,
} from "./consoles.ts";
import { createDatabases, type StackDatabases } from "./databases.ts";
import { printHelpIfRequested, refuseExtraArguments } from "./options.ts";
import { endLeftover } from "./process/process-table.ts";
import { createSupervisor, type Supervisor } from "./process/supervisor.ts";
import { type ShopConfig, startDemoShop, startProcesses } from "./processes.ts";
import type { RunningStack, StackOptions, WantedStack } from "./running-stack.ts";
import { sandboxMerchant } from "./seed.ts";
import { type Servers, startServers } from "./servers.ts";
import {
  chooseAdminPorts,
  choosePorts,
  processNames,
  type StackEnvironment,
  scriptOf,
  shopScript,
  stopStages,
  urlOf,
} from "./services.ts";
import { removeStackFile, type StackInfo, stackFile, writeStackFile } from "./stack-file.ts";
import { reasonOf, StartError } from "./start-error.ts";
import { brokerFiles } from "./state/broker-files.ts";
import { keptPorts } from "./state/kept-ports.ts";
import { readObject } from "./state/private-file.ts";
import { rpcFiles } from "./state/rpc-files.ts";
import { type Secrets, stackSecrets } from "./state/secrets.ts";
import { openStateDir } from "./state/state-dir.ts";
import { tlsFiles } from "./state/tls.ts";

const leftoverMsMax = 10_000; // a process drains for at most 9 s

/** Resolves when the stack can take a payment. */
export async function startStack(options: StackOptions): Promise<RunningStack> {
  const log = options.quiet ? () => {} : (line: string) => console.error(line);
  const wanted = {
    ...options,
    stateDir: resolve(options.stateDir),
    natsNamespace: options.natsNamespace ?? "tollbooth",
    shape: options.shape ?? "separate",
  };
  // In parallel with the steps before the first process.
  void prepareBundle();
  const browserFiles = ensureBuilt("web");
  browserFiles.catch(() => {}); // awaited below
  const dir = await openStateDir(wanted.stateDir);
  let info: StackInfo | undefined;
  let written = Promise.resolve();
  const describe = () => {
    if (!info) return;
    const described = Object.assign(info, { pids: pidsOf(supervisor) });
    written = written.then(() => writeStackFile(dir.path, described)).catch((error) => log(reasonOf(error)));
  };
  const supervisor = createSupervisor(log, describe);
  const stop = async () => {
    for (const stage of stopStages) await supervisor.stop(...stage);
    await written;
    await removeStackFile(dir.path);
    await dir.release();
  };
  const orStop = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      await stop();
      throw error;
    }
  };
  const { stack, shop, consoles } = await orStop(() => bringUp(wanted, browserFiles, supervisor, log));
  info = stack;
  await orStop(() => writeStackFile(dir.path, stack));
  return {
    stack,
    stop,
    async openShop() {
      await orStop(() => startDemoShop(wanted, shop, supervisor));
      stack.demo_shop = urlOf(shop.port);
      describe();
      await written;
    },
    async openConsoles() {
      await orStop(() => startConsoles(wanted, consoles, supervisor));
      Object.assign(stack.admin, consoles.admin);
      Object.assign(stack, consoles.addresses, await firstInvitations(stack));
      describe();
      await written;
    },
    halt: (...names) => supervisor.stop(...names),
    resume: (name) => supervisor.resume(name),
    async restart(name) {
      await supervisor.stop(name);
      await supervisor.resume(name);
    },
    kill9: (name) => supervisor.kill9(name),
  };
}

type Log = (line: string) => void;

interface StartedStack {
  stack: StackInfo;
  /** For the demo shop, which starts on request. */
  shop: ShopConfig;
  /** For the consoles, which start on request. */
  consoles: ConsolePlan;
}

/** @param browserFiles settles when the gateway may serve them */
async function bringUp(
  wanted: WantedStack,
  browserFiles: Promise<void>,
  supervisor: Supervisor,
  log: Log,
): Promise<StartedStack> {
  const dir = wanted.stateDir;
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    wanted.signal?.throwIfAborted();
    const began = performance.now();
    const result = await work();
    log(`  ${name.padEnd(32)} ${Math.round(performance.now() - began)} ms`);
    return result;
  };
  await endLeftovers(dir);
  await removeStackFile(dir);
  const kept = await keptPorts(dir, {
    gateway: wanted.port,
    simulator: wanted.simulatorPort,
    shop: wanted.shopPort,
    console: wanted.consolePort,
    operators: wanted.operatorsPort,
    mailbox: wanted.mailboxPort,
  });
  const secrets = await stackSecrets(dir);
  const tls = await tlsFiles(dir);
  const rpc = await rpcFiles(dir);
  const broker = await brokerFiles(dir);
  const operatorToken = (await readFile(rpc.tokens.operator, "utf8")).trim();
  const servers = await step("PostgreSQL and NATS", () => startServers(wanted, secrets, broker, supervisor, log));
  const databases = await step("databases, tables and streams", () => prepareStores(wanted, servers, secrets, log));
  const ports = await choosePorts(kept);
  const adminPorts = await chooseAdminPorts();
  const people = await choosePeopleAddresses(kept);
  const around: StackEnvironment = {
    settings: wanted,
    secrets,
    databases,
    natsUrl: servers.broker.url,
    ...(servers.broker.nkey && { nkeys: broker.nkeys }),
    eventKeys: broker.eventKeys,
    tls,
    rpcFiles: rpc,
    ports,
    adminPorts,
    people,
  };
  const consoles = await planConsoles(kept, around);
  await browserFiles;
  const processes = wanted.shape === "one" ? "two processes" : "six processes";
  await step(processes, () => startProcesses(wanted, around, consoles.environments, supervisor));
  const { merchantId, apiKey } = await step("sandbox merchant", () =>
    sandboxMerchant(dir, urlOf(ports.merchant), operatorToken),
  );
  const shop = { port: kept.shop, gateway: urlOf(ports.gateway), apiKey, tls };
  const stack = {
    gateway: urlOf(ports.gateway),
    processor: urlOf(ports.simulator),
    api_key: apiKey,
    merchant_id: merchantId,
    rpc: perSource((service) => urlOf(ports[service])),
    admin: { gateway: urlOf(adminPorts.gateway), ...perSource((service) => urlOf(adminPorts[service])) },
    rpc_token: operatorToken,
    rpc_files: rpc,
    database: databases.stem,
    nats: servers.broker.url,
    broker_files: broker,
    tls,
    pids: pidsOf(supervisor),
  };
  return { stack, shop, consoles };
}

/**
 * Ends processes of a killed stack, listed in the stack.json that it could not remove. They end by themselves when
 * their supervisor is gone; a hanging one is killed. The start of PostgreSQL and NATS ends their survivors.
 */
async function endLeftovers(stateDir: string): Promise<void> {
  const old = await readObject(stackFile(stateDir));
  const pids = typeof old?.pids === "object" && old.pids !== null ? Object.entries(old.pids) : [];
  const scripts = [
    ...processNames.map((name) => [name, scriptOf(name)] as const),
    ["shop", shopScript] as const,
    ["console", consoleScript] as const,
    ["operators-console", consoleScript] as const,
    ["mailbox", mailboxScript] as const,
  ];
  const ending = scripts.map(async ([name, script]) => {
    const pid: unknown = pids.find(([key]) => key === name)?.[1];
    if (typeof pid === "number") await endLeftover(pid, script, "SIGTERM", leftoverMsMax);
  });
  await Promise.all(ending);
}

function pidsOf(supervisor: Supervisor): Record<string, number> {
  return { supervisor: process.pid, ...supervisor.pids() };
}

async function prepareStores(
  wanted: WantedStack,
  servers: Servers,
  secrets: Secrets,
  log: Log,
): Promise<StackDatabases> {
  const { broker } = servers;
  const replicas = wanted.streamReplicas ?? 1;
  const size = { replicas, ...(wanted.streamGib && { gib: wanted.streamGib }) };
  const streams = ensureStreams({ broker, namespace: wanted.natsNamespace, ...size }).catch((error) => {
    throw new StartError(`NATS_URL: no JetStream at ${new URL(broker.url).host} (${reasonOf(error)})`);
  });
  const databases = createDatabases(servers.databaseUrl, secrets.servicePassword, log).then(async (made) => {
    const bring = (service: Source) =>
      migrateDatabase({ databaseUrl: made.of[service], service, serviceRole: made.roles?.[service] });
    await Promise.all(sources.map(bring));
    return made;
  });
  const [made] = await Promise.all([databases, streams]);
  return made;
}

export type { RunningStack, StackOptions };

const usage = `npm start

Starts PostgreSQL, NATS and every process on this machine, prints the address and an API key, and stops everything on Ctrl-C.

  PORT             of the API, on loopback; default 8080, or the one of the last start; 0: a free one
  SIMULATOR_PORT   of the card processor; default: the next one, kept for the next start
  SHOP_PORT        of the demo shop; likewise
  CONSOLE_PORT     of the merchants' console; likewise
  OPERATORS_PORT   of the operators' console; likewise
  MAILBOX_PORT     of the mailbox; likewise
  STATE_DIR        data, secrets and logs; default .local
  DATABASE_URL     a PostgreSQL server of your own; default: one is started
  NATS_URL         a NATS server of your own, with JetStream; default: one is started
  NATS_NAMESPACE   first word of subjects; keeps stacks apart that share a NATS server
  TOLLBOOTH_SHAPE  one: the API, the services and the consoles in one process; separate (the default): each in its own
  CHECKOUT_ORIGIN  where buyers' pages are served; default: the API's address
  LOG_LEVEL        trace, debug, info, warn, error, fatal or silent; default info

docs/configuration.md has the others.`;

if (import.meta.main) {
  printHelpIfRequested(usage);
  refuseExtraArguments(process.argv.slice(2), usage);
  await runCommand(startStack);
}
