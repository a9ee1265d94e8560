// A Kubernetes cluster: every service behind its own address, its replicas as processes of one release or of several. A
// rollout adds a replica, waits until it is ready, and ends an old one with SIGTERM.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { ensureStreams } from "../../../deploy/cli/setup/ensure-streams.ts";
import type { StackDatabases } from "../../../deploy/local/databases.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import { runChild } from "../../../deploy/local/process/child-process.ts";
import type { RunningProcess } from "../../../deploy/local/process/running-process.ts";
import { sandboxMerchant } from "../../../deploy/local/seed.ts";
import { environmentOf, type ProcessName, type StackEnvironment, scriptOf } from "../../../deploy/local/services.ts";
import { writePrivate } from "../../../deploy/local/state/private-file.ts";
import { type RpcFiles, rpcFiles } from "../../../deploy/local/state/rpc-files.ts";
import { stackSecrets } from "../../../deploy/local/state/secrets.ts";
import { type TlsFiles, tlsFiles } from "../../../deploy/local/state/tls.ts";
import { freshDatabase, serviceLogin, serviceRoles } from "../database.ts";
import { eventually } from "../eventually.ts";
import { sharedInfra } from "../infra.ts";
import { tempDir } from "../temp-dir.ts";
import { type Balancer, startBalancer } from "./balancer.ts";

/** The services of a rollout. */
export const services = ["merchant", "payments", "checkout", "webhook", "gateway"] as const;
export type Service = (typeof services)[number];

/** The code that a replica runs. */
export interface Release {
  readonly name: string;
  /** The folder of its code, with the packages that it needs. */
  readonly root: string;
}

/** A command of a release. @param before the file that it was in releases that had one for each. */
export function commandOf({ root }: Release, before: string, words: readonly string[]): string[] {
  const command = join(root, "deploy/cli/main.ts");
  return existsSync(command) ? [command, ...words] : [join(root, `deploy/${before}.ts`)];
}

/** The code that this file is part of. */
export const thisRelease: Release = { name: "this release", root: join(import.meta.dirname, "../../..") };

export interface Cluster {
  /** Of the gateway. */
  readonly url: string;
  readonly apiKey: string;
  readonly databases: StackDatabases;
  /** Of the certificate that deliveries trust. */
  readonly tls: TlsFiles;
  /** Addresses of the services' RPC ports. */
  readonly rpc: Readonly<Record<Service, string>>;
  readonly rpcFiles: RpcFiles;
  readonly natsNamespace: string;
  /** Logs of all processes. */
  readonly dir: string;
  /** Runs the release's migrate command. */
  migrate(release: Release): Promise<void>;
  /** Adds a replica, and waits until it is balanced. */
  add(service: Service, release?: Release): Promise<void>;
  /** Ends every replica that runs the release. */
  end(service: Service, release: Release): Promise<void>;
  /** Replaces every replica of the service, one after the other. */
  roll(service: Service): Promise<void>;
  /** SIGKILL to every replica of the service, then as many new ones. */
  kill(service: Service): Promise<void>;
  /** How many connections the services of one release made to the replicas of another (or its own). */
  connections(from: Release, to: Release, service: Service): Promise<number>;
  stop(): Promise<void>;
}

// As in deploy/kubernetes/base, with times that fit a test: the callers of a test keep no idle connection for longer
// than this.
const stopping = { LAME_DUCK_SECONDS: "3", DRAIN_SECONDS: "20" };

/**
 * Starts the simulator and `replicas` of every service. Another release than this one migrates its databases by its own
 * command.
 * @param ownNatsUrl a broker for this cluster alone; absent: the one of the run
 */
export async function startCluster(
  replicas: number,
  first: Release = thisRelease,
  ownNatsUrl?: string,
): Promise<Cluster> {
  const dir = await tempDir("pods");
  const around = await surroundings(dir, first === thisRelease, ownNatsUrl ?? (await sharedInfra()).natsUrl);
  const balanced = new Map(services.map((service) => [service, new Set<number>()]));
  const pods = new Map<Service, (Pod & { readonly release: Release })[]>(services.map((service) => [service, []]));
  const releaseAt = new Map<number, Release>();
  // Each release's services call through their own balancers, so that their calls can be distinguished.
  const networks = new Map<Release, Promise<Network>>();
  const networkOf = (release: Release): Promise<Network> => {
    const network = networks.get(release) ?? startNetwork(balanced);
    networks.set(release, network);
    return network;
  };
  const outside = await networkOf({ name: "callers from outside", root: "" });
  const seenBy = (network: Network): StackEnvironment => {
    const own = Object.fromEntries([...network].map(([service, balancer]) => [service, balancer.port]));
    return { ...around, ports: { ...around.ports, ...own } };
  };
  const add = async (service: Service, release = thisRelease) => {
    const view = seenBy(await networkOf(release));
    const pod = await startPod(`${service} of ${release.name}`, balanced.get(service) ?? new Set(), (ports) => {
      releaseAt.set(ports.port, release);
      const own = { PORT: String(ports.port), ADMIN_PORT: String(ports.adminPort), ...stopping };
      return startProcess(service, view, own, release);
    });
    pods.get(service)?.push({ ...pod, release });
  };
  const endAll = async (service: Service, isOver: (pod: { release: Release }) => boolean) => {
    const all = pods.get(service) ?? [];
    pods.set(
      service,
      all.filter((pod) => !isOver(pod)),
    );
    await Promise.all(all.filter(isOver).map((pod) => pod.end()));
  };
  if (first !== thisRelease) await runMigrate(first, around);
  const simulator = await startProcess("simulator", seenBy(outside), {}, thisRelease);
  await Promise.all(services.flatMap((service) => Array.from({ length: replicas }, () => add(service, first))));
  const token = (await readFile(around.rpcFiles.tokens.operator, "utf8")).trim();
  const { apiKey } = await sandboxMerchant(dir, outside.get("merchant")?.url ?? "", token);
  return {
    url: outside.get("gateway")?.url ?? "",
    apiKey,
    databases: around.databases,
    tls: around.tls,
    rpc: Object.fromEntries([...outside].map(([service, { url }]) => [service, url])) as Record<Service, string>,
    rpcFiles: around.rpcFiles,
    natsNamespace: around.settings.natsNamespace,
    dir,
    migrate: (release) => runMigrate(release, around),
    add,
    end: (service, release) => endAll(service, (pod) => pod.release === release),
    async roll(service) {
      const ending: Promise<void>[] = [];
      for (const old of [...(pods.get(service) ?? [])]) {
        await add(service, old.release);
        ending.push(endAll(service, (pod) => pod === old));
      }
      await Promise.all(ending);
    },
    async kill(service) {
      const killed = pods.get(service) ?? [];
      pods.set(service, []);
      await Promise.all(killed.map((pod) => pod.kill()));
      for (const { release } of killed) await add(service, release);
    },
    async connections(from, to, service) {
      const counts = (await networkOf(from)).get(service)?.connectionCounts ?? new Map<number, number>();
      return [...counts].reduce((sum, [port, count]) => (releaseAt.get(port) === to ? sum + count : sum), 0);
    },
    async stop() {
      for (const service of [...services].reverse())
        await Promise.all((pods.get(service) ?? []).map((pod) => pod.kill()));
      await simulator.stop();
      for (const network of networks.values()) for (const balancer of (await network).values()) await balancer.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** An address for each service. */
type Network = ReadonlyMap<Service, Balancer>;

async function startNetwork(balanced: ReadonlyMap<Service, Set<number>>): Promise<Network> {
  const network = new Map<Service, Balancer>();
  for (const [service, replicas] of balanced) network.set(service, await startBalancer(replicas));
  return network;
}

/**
 * Databases, streams and secrets of its own on the run's servers. @param migrated false: a migrate command comes later
 */
async function surroundings(dir: string, migrated: boolean, natsUrl: string): Promise<StackEnvironment> {
  const natsNamespace = `pods${randomBytes(4).toString("hex")}`;
  if (migrated) await ensureStreams({ broker: { url: natsUrl }, namespace: natsNamespace });
  const databaseOf = async (service: Exclude<Service, "gateway">) =>
    (await freshDatabase(migrated ? service : undefined)).url;
  const of = {
    checkout: await databaseOf("checkout"),
    payments: await databaseOf("payments"),
    merchant: await databaseOf("merchant"),
    webhook: await databaseOf("webhook"),
    simulator: (await freshDatabase()).url,
  };
  const usedBy = {
    checkout: await serviceLogin(of.checkout, "checkout"),
    payments: await serviceLogin(of.payments, "payments"),
    merchant: await serviceLogin(of.merchant, "merchant"),
    webhook: await serviceLogin(of.webhook, "webhook"),
  };
  return {
    settings: { port: 0, stateDir: dir, natsNamespace, shape: "separate" },
    secrets: await stackSecrets(dir),
    databases: { stem: "", of, usedBy },
    natsUrl,
    tls: await tlsFiles(dir),
    rpcFiles: await rpcFiles(dir),
    ports: { simulator: await freePort(), merchant: 0, payments: 0, checkout: 0, webhook: 0, gateway: 0 },
    // Each pod has its own.
    adminPorts: { merchant: 0, payments: 0, checkout: 0, webhook: 0, gateway: 0 },
    people: { console: "http://localhost:1", operators: "http://localhost:2", smtpPort: await freePort() },
  };
}

async function runMigrate(release: Release, { databases, natsUrl, settings }: StackEnvironment): Promise<void> {
  const { checkout, payments, merchant, webhook } = databases.of;
  const env = {
    ...process.env,
    CHECKOUT_DATABASE_URL: checkout,
    PAYMENTS_DATABASE_URL: payments,
    MERCHANT_DATABASE_URL: merchant,
    WEBHOOK_DATABASE_URL: webhook,
    SERVICE_ROLES: serviceRoles,
    NATS_URL: natsUrl,
    NATS_NAMESPACE: settings.natsNamespace,
  };
  await promisify(execFile)(process.execPath, commandOf(release, "migrate", ["migrate"]), { env });
}

async function startProcess(
  name: ProcessName,
  current: StackEnvironment,
  own: Record<string, string>,
  release: Release,
): Promise<RunningProcess> {
  const around = release === thisRelease ? current : await asBefore(current, release);
  const env = { NODE_COMPILE_CACHE: ".local-test/compile-cache", LOG_LEVEL: "warn", RATE_LIMIT: "off" };
  return runChild({
    name,
    script: scriptOf(name, release.root),
    env: { ...process.env, ...env, ...environmentOf(name, around), ...own },
    logPath: join(around.settings.stateDir, `${name}-${own.PORT ?? "0"}.log`),
    warn: () => {},
    keepsParentAlive: false,
  });
}

/** The previous release's environment: the tables' owner as login, since it may migrate, and the callers it knows. */
async function asBefore(current: StackEnvironment, release: Release): Promise<StackEnvironment> {
  const { databases, rpcFiles: files, settings } = current;
  const lines = (await readFile(files.callers, "utf8")).split("\n");
  const callers = join(settings.stateDir, "callers-before");
  const known = await readFile(join(release.root, "proto/access/v1/access.proto"), "utf8");
  const isKnown = (line: string) => known.includes(`CALLER_${line.split(" ")[0]?.toUpperCase()} = `);
  await writePrivate(callers, lines.filter(isKnown).join("\n"));
  return { ...current, databases: { ...databases, usedBy: databases.of }, rpcFiles: { ...files, callers } };
}

interface Pod {
  readonly port: number;
  /** As Kubernetes ends it. The balancer notices by the readiness probe, with its delay. */
  end(): Promise<void>;
  /** For after the last call. */
  kill(): Promise<void>;
}

const probeEveryMs = 100;
const startMsMax = 60_000;

/**
 * Starts a replica as a kubelet runs it: balanced while its readiness probe passes. Waits until it is balanced.
 * @param name for messages
 * @param balanced the ports of the service's replicas that are ready
 * @param start runs the process on these ports
 */
async function startPod(
  name: string,
  balanced: Set<number>,
  start: (ports: { port: number; adminPort: number }) => Promise<RunningProcess>,
): Promise<Pod> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const running = await start({ port, adminPort });
  let watched = true;
  void (async () => {
    while (watched) {
      const isReady = await fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
        (answer) => answer.ok,
        () => false,
      );
      if (isReady && watched) balanced.add(port);
      else balanced.delete(port);
      await pause(probeEveryMs);
    }
  })();
  const unwatch = () => {
    watched = false;
    balanced.delete(port);
  };
  await eventually(`${name} to be ready`, () => balanced.has(port), { limitMs: startMsMax });
  return {
    port,
    async end() {
      process.kill(running.pid, "SIGTERM");
      const ended = await running.exited;
      unwatch();
      if (ended !== "exit code 0") throw new Error(`a replica of ${name} did not stop cleanly: ${ended}`);
    },
    async kill() {
      unwatch();
      process.kill(running.pid, "SIGKILL");
      await running.exited;
    },
  };
}
