// Starts the whole system on this machine: PostgreSQL, NATS and the six processes, migrated and seeded, each part
// restarted when it crashes. `npm start` runs this file; tests and benchmarks call startStack. What it cannot do it
// says in one line.
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Broker } from "#platform/broker/connection.ts";
import { ensureStreams } from "#platform/broker/make-streams.ts";
import { migrate, type ServiceName } from "#platform/database/migrate.ts";
import { nkeyFile } from "#platform/secrets/nkey.ts";
import { type BrokerFiles, brokerFiles, brokerLogins } from "./broker-files.ts";
import { runChild } from "./child-process.ts";
import { runCommand } from "./command.ts";
import { createDatabases, migratedServices, type StackDatabases } from "./databases.ts";
import { freePort, tryListen } from "./free-port.ts";
import { endLeftovers } from "./leftovers.ts";
import { limitedWarnings } from "./log-line.ts";
import { natsUrl, startNats } from "./nats.ts";
import { findNatsServer } from "./nats-binary.ts";
import { helpIfAsked, refuseWords } from "./options.ts";
import { postgresUrl, startPostgres } from "./postgres.ts";
import { rpcFiles } from "./rpc-files.ts";
import type { RunningStack, StackOptions } from "./running-stack.ts";
import { type Secrets, stackSecrets } from "./secrets.ts";
import { sandboxMerchant } from "./seed.ts";
import {
  chooseAdminPorts,
  choosePorts,
  environmentOf,
  processNames,
  type Surroundings,
  scriptOf,
  stopStages,
  urlOf,
} from "./services.ts";
import type { StackSettings } from "./settings.ts";
import { removeStackFile, type StackInfo, writeStackFile } from "./stack-file.ts";
import { reasonOf, StartError } from "./start-error.ts";
import { openStateDir } from "./state-dir.ts";
import { createSupervisor, type Supervisor } from "./supervisor.ts";
import { tlsFiles } from "./tls.ts";

/** Starts a stack; resolves when the main job works. */
export async function startStack(options: StackOptions): Promise<RunningStack> {
  const say = options.quiet ? () => {} : (line: string) => console.error(line);
  const wanted = {
    ...options,
    stateDir: resolve(options.stateDir),
    natsNamespace: options.natsNamespace ?? "tollbooth",
  };
  const dir = await openStateDir(wanted.stateDir);
  let info: StackInfo | undefined;
  let written = Promise.resolve();
  const supervisor = createSupervisor(say, () => {
    if (!info) return;
    const described = Object.assign(info, { pids: pidsOf(supervisor) });
    written = written.then(() => writeStackFile(dir.path, described)).catch((error) => say(reasonOf(error)));
  });
  const stop = async () => {
    for (const stage of stopStages) await supervisor.stop(...stage);
    await written;
    await removeStackFile(dir.path);
    await dir.release();
  };
  try {
    info = await bringUp(wanted, supervisor, say);
    await writeStackFile(dir.path, info);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    stack: info,
    stop,
    halt: (...names) => supervisor.stop(...names),
    resume: (name) => supervisor.resume(name),
    async restart(name) {
      await supervisor.stop(name);
      await supervisor.resume(name);
    },
    kill9: (name) => supervisor.kill9(name),
  };
}

type Wanted = StackOptions & StackSettings;
type Say = (line: string) => void;

/** The steps of a start, in their order. */
async function bringUp(wanted: Wanted, supervisor: Supervisor, say: Say): Promise<StackInfo> {
  const dir = wanted.stateDir;
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    wanted.signal?.throwIfAborted();
    const began = performance.now();
    const result = await work();
    say(`  ${name.padEnd(32)} ${Math.round(performance.now() - began)} ms`);
    return result;
  };
  await endLeftovers(dir);
  await removeStackFile(dir);
  await gatewayPortIsFree(wanted.port);
  const secrets = await stackSecrets(dir);
  const tls = await tlsFiles(dir);
  const rpc = await rpcFiles(dir);
  const broker = await brokerFiles(dir);
  const operatorToken = (await readFile(rpc.tokens.operator, "utf8")).trim();
  const servers = await step("PostgreSQL and NATS", () => startServers(wanted, secrets, broker, supervisor, say));
  const databases = await step("databases, tables and streams", () => prepareStores(wanted, servers, secrets, say));
  const ports = await choosePorts(wanted.port);
  const adminPorts = await chooseAdminPorts();
  const around: Surroundings = {
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
  };
  await step("six processes", () => startProcesses(wanted, around, supervisor, say));
  const { merchantId, apiKey } = await step("sandbox merchant", () =>
    sandboxMerchant(dir, urlOf(ports.merchant), operatorToken),
  );
  return {
    gateway: urlOf(ports.gateway),
    processor: urlOf(ports.simulator),
    api_key: apiKey,
    merchant_id: merchantId,
    rpc: {
      checkout: urlOf(ports.checkout),
      payments: urlOf(ports.payments),
      merchant: urlOf(ports.merchant),
      webhook: urlOf(ports.webhook),
    },
    admin: {
      gateway: urlOf(adminPorts.gateway),
      checkout: urlOf(adminPorts.checkout),
      payments: urlOf(adminPorts.payments),
      merchant: urlOf(adminPorts.merchant),
      webhook: urlOf(adminPorts.webhook),
    },
    rpc_token: operatorToken,
    rpc_files: rpc,
    database: databases.stem,
    nats: servers.broker.url,
    broker_files: broker,
    tls,
    pids: pidsOf(supervisor),
  };
}

function pidsOf(supervisor: Supervisor): Record<string, number> {
  return { supervisor: process.pid, ...supervisor.pids() };
}

async function gatewayPortIsFree(port: number): Promise<void> {
  const problem = port === 0 ? undefined : await tryListen(port, "127.0.0.1");
  if (problem === undefined) return;
  const reason = problem === "EADDRINUSE" ? "is in use" : `cannot be listened on (${problem})`;
  throw new StartError(`port ${port} ${reason}: choose another with PORT`);
}

interface Servers {
  databaseUrl: string;
  /** As migrate logs in. */
  broker: Broker;
}

/** Starts PostgreSQL and NATS side by side, except what the user has given. */
async function startServers(
  wanted: Wanted,
  secrets: Secrets,
  files: BrokerFiles,
  supervisor: Supervisor,
  say: Say,
): Promise<Servers> {
  const logPath = (name: string) => join(wanted.stateDir, "logs", `${name}.log`);
  const keepsParentAlive = wanted.keepsParentAlive ?? true;
  const [postgresPort, natsPort] = [await freePort(), await freePort()];
  const postgres = {
    name: "postgres",
    start: () =>
      startPostgres({
        home: wanted.stateDir,
        port: postgresPort,
        password: secrets.postgresPassword,
        isDurable: wanted.durable ?? true,
        logPath: logPath("postgres"),
        keepsParentAlive,
      }),
  };
  const nats = {
    name: "nats",
    async start() {
      const { path, version } = await findNatsServer({ log: say });
      const storeDir = join(wanted.stateDir, "nats");
      const authorization = await brokerLogins(files, wanted.natsNamespace);
      const place = { program: path, version, storeDir, port: natsPort, logPath: logPath("nats") };
      return startNats({ ...place, authorization, keepsParentAlive });
    },
  };
  await supervisor.start(...(wanted.databaseUrl ? [] : [postgres]), ...(wanted.natsUrl ? [] : [nats]));
  return {
    databaseUrl: wanted.databaseUrl ?? stemUrl(postgresUrl({ port: postgresPort, password: secrets.postgresPassword })),
    broker: {
      url: wanted.natsUrl ?? natsUrl({ port: natsPort }),
      ...((!wanted.natsUrl || wanted.natsKnowsUs) && { nkey: nkeyFile.parse(files.nkeys.migrate) }),
    },
  };
}

/** Our own server: the databases get the default names. */
function stemUrl(serverUrl: string): string {
  return new URL("/", serverUrl).href;
}

async function prepareStores(wanted: Wanted, servers: Servers, secrets: Secrets, say: Say): Promise<StackDatabases> {
  const { broker } = servers;
  const replicas = wanted.streamReplicas ?? 1;
  const streams = ensureStreams({ broker, namespace: wanted.natsNamespace, replicas }).catch((error) => {
    throw new StartError(`NATS_URL: no JetStream at ${new URL(broker.url).host} (${reasonOf(error)})`);
  });
  const databases = createDatabases(servers.databaseUrl, secrets.servicePassword, say).then(async (made) => {
    const bring = (service: ServiceName) =>
      migrate({ databaseUrl: made.of[service], service, serviceRole: made.roles?.[service] });
    await Promise.all(migratedServices.map(bring));
    return made;
  });
  const [made] = await Promise.all([databases, streams]);
  return made;
}

async function startProcesses(wanted: Wanted, around: Surroundings, supervisor: Supervisor, say: Say): Promise<void> {
  const inherited = {
    NODE_COMPILE_CACHE: join(wanted.stateDir, "compile-cache"), // halves the start of each process
    ...process.env,
    ...wanted.env,
  };
  const environment = (name: (typeof processNames)[number]) => {
    const set = environmentOf(name, around);
    return withOwn({ ...inherited, ...set }, wanted.envOf?.(name, set));
  };
  const parts = processNames.map((name) => ({
    name,
    start: () =>
      runChild({
        name,
        script: scriptOf(name),
        env: environment(name),
        logPath: join(wanted.stateDir, "logs", `${name}.log`),
        warn: limitedWarnings((line) => say(`${name} ${line}`)),
        keepsParentAlive: wanted.keepsParentAlive ?? true,
      }),
  }));
  await supervisor.start(...parts);
}

/** What is set for one process comes last; options of Node add up. */
function withOwn(env: NodeJS.ProcessEnv, own: Record<string, string> = {}): NodeJS.ProcessEnv {
  const options = [env.NODE_OPTIONS, own.NODE_OPTIONS].filter(Boolean).join(" ");
  return { ...env, ...own, ...(options && { NODE_OPTIONS: options }) };
}

export type { RunningStack, StackOptions };

const usage = `npm start

Starts PostgreSQL, NATS and every process on this machine, prints the address and an API key, and stops all of it on Ctrl-C.

  PORT             of the API, on loopback; default 8080, 0: a free one
  STATE_DIR        data, secrets and logs; default .local
  DATABASE_URL     a PostgreSQL server of your own; default: one is started
  NATS_URL         a NATS server of your own, with JetStream; default: one is started
  NATS_NAMESPACE   first word of subjects; keeps stacks apart that share a NATS server
  CHECKOUT_ORIGIN  where buyers' pages are served; default: the API's address
  LOG_LEVEL        trace, debug, info, warn, error, fatal or silent; default info

docs/configuration.md has the others.`;

if (import.meta.main) {
  helpIfAsked(usage);
  if (process.argv.length > 2) refuseWords(usage);
  await runCommand(startStack);
}
