// Stands in for a Kubernetes cluster: every service behind an address of its own, its replicas as processes, each in the balancer
// while its readiness probe says so. A rollout adds a replica, waits until it is ready, and ends an old one with SIGTERM.
import { randomBytes } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ensureStreams } from "#platform/streams.ts";
import { runChild } from "../../deploy/local/child-process.ts";
import type { StackDatabases } from "../../deploy/local/databases.ts";
import { freePort } from "../../deploy/local/free-port.ts";
import { rpcFiles } from "../../deploy/local/rpc-files.ts";
import type { RunningProcess } from "../../deploy/local/running-process.ts";
import { stackSecrets } from "../../deploy/local/secrets.ts";
import { sandboxMerchant } from "../../deploy/local/seed.ts";
import { environmentOf, type ProcessName, type Surroundings, scriptOf } from "../../deploy/local/services.ts";
import { tlsFiles } from "../../deploy/local/tls.ts";
import { type Balancer, startBalancer } from "./balancer.ts";
import { freshDatabase } from "./database.ts";
import { eventually } from "./eventually.ts";
import { infra } from "./infra.ts";
import { tempDir } from "./temp-dir.ts";

/** What is rolled out. */
export const services = ["merchant", "payments", "checkout", "webhook", "gateway"] as const;
export type Service = (typeof services)[number];

interface Pod {
  readonly port: number;
  readonly process: RunningProcess;
  /** Ends its readiness probe. */
  readonly unwatch: () => void;
}

export interface Cluster {
  /** Of the gateway. */
  readonly url: string;
  readonly apiKey: string;
  readonly databases: StackDatabases;
  /** Replaces every replica of the service, one after the other. */
  roll(service: Service): Promise<void>;
  stop(): Promise<void>;
}

// As in deploy/base, with times that fit a test: the callers of a test keep no idle connection for longer than this.
const stopping = { LAME_DUCK_SECONDS: "3", DRAIN_SECONDS: "20" };
const probeEveryMs = 100;
const startMsMax = 60_000;

/** Starts the simulator and `replicas` of every service. */
export async function startCluster(replicas: number): Promise<Cluster> {
  const dir = await tempDir("pods");
  const around = await surroundings(dir);
  const balancers = new Map<Service, Balancer>();
  for (const service of services) balancers.set(service, await startBalancer());
  for (const [service, balancer] of balancers) around.ports[service] = balancer.port;
  const simulator = await startPodProcess("simulator", around, {});
  const pods = new Map<Service, Pod[]>();
  const add = async (service: Service) => {
    const pod = await startPod(service, around, balancers.get(service)?.replicas ?? new Set());
    pods.set(service, [...(pods.get(service) ?? []), pod]);
  };
  await Promise.all(services.flatMap((service) => Array.from({ length: replicas }, () => add(service))));
  const token = (await readFile(around.rpcFiles.tokens.operator, "utf8")).trim();
  const { apiKey } = await sandboxMerchant(dir, balancers.get("merchant")?.url ?? "", token);
  return {
    url: balancers.get("gateway")?.url ?? "",
    apiKey,
    databases: around.databases,
    async roll(service) {
      const old = pods.get(service) ?? [];
      const ending: Promise<void>[] = [];
      for (const pod of old) {
        await add(service);
        ending.push(endPod(pod));
      }
      pods.set(service, pods.get(service)?.slice(old.length) ?? []);
      await Promise.all(ending);
    },
    async stop() {
      for (const service of [...services].reverse()) await Promise.all((pods.get(service) ?? []).map(killPod));
      await simulator.stop();
      for (const balancer of balancers.values()) await balancer.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Databases, streams and secrets of its own on the run's servers. */
async function surroundings(dir: string): Promise<Surroundings> {
  const { natsUrl } = await infra();
  const natsNamespace = `pods${randomBytes(4).toString("hex")}`;
  await ensureStreams({ natsUrl, namespace: natsNamespace });
  const of = {
    checkout: (await freshDatabase("checkout")).url,
    payments: (await freshDatabase("payments")).url,
    merchant: (await freshDatabase("merchant")).url,
    webhook: (await freshDatabase("webhook")).url,
    simulator: (await freshDatabase()).url,
  };
  return {
    settings: { port: 0, stateDir: dir, natsNamespace },
    secrets: await stackSecrets(dir),
    databases: { stem: "", of },
    natsUrl,
    tls: await tlsFiles(dir),
    rpcFiles: await rpcFiles(dir),
    ports: { simulator: await freePort(), merchant: 0, payments: 0, checkout: 0, webhook: 0, gateway: 0 },
    // Each pod has its own.
    adminPorts: { merchant: 0, payments: 0, checkout: 0, webhook: 0, gateway: 0 },
  };
}

function startPodProcess(
  name: ProcessName,
  around: Surroundings,
  own: Record<string, string>,
): Promise<RunningProcess> {
  const env = { NODE_COMPILE_CACHE: ".local-test/compile-cache", LOG_LEVEL: "warn", RATE_LIMIT: "off" };
  return runChild({
    name,
    script: scriptOf(name),
    env: { ...process.env, ...env, ...environmentOf(name, around), ...own },
    logPath: join(around.settings.stateDir, `${name}-${own.PORT ?? "0"}.log`),
    warn: () => {},
    keepsParentAlive: false,
  });
}

async function startPod(service: Service, around: Surroundings, balanced: Set<number>): Promise<Pod> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const own = { PORT: String(port), ADMIN_PORT: String(adminPort), ...stopping };
  const running = await startPodProcess(service, around, own);
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
  await eventually(`${service} to be ready`, () => balanced.has(port), { limitMs: startMsMax });
  const unwatch = () => {
    watched = false;
    balanced.delete(port);
  };
  return { port, process: running, unwatch };
}

/** As a kubelet ends a pod: the balancer hears of it by the readiness probe, which is late by nature. */
async function endPod(pod: Pod): Promise<void> {
  process.kill(pod.process.pid, "SIGTERM");
  const ended = await pod.process.exited;
  pod.unwatch();
  if (ended !== "exit code 0") throw new Error(`a replica did not stop cleanly: ${ended}`);
}

/** The test is over: nobody calls any more. */
async function killPod(pod: Pod): Promise<void> {
  pod.unwatch();
  process.kill(pod.process.pid, "SIGKILL");
  await pod.process.exited;
}
