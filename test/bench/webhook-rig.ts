// The processes of the webhook benchmark on this machine: PostgreSQL with fsync on, NATS, the webhook service and the
// receivers. This process is the payments service: it commits events to an outbox and relays them.
import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Database } from "#platform/database/database.ts";
import { EventBus } from "#platform/events/event-bus.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { outboxJobs } from "#platform/events/relay.ts";
import { startJobs } from "#platform/process/job.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { callersFile, tokenFile } from "#platform/secrets/callers.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import { ensureStreams } from "../../deploy/cli/setup/ensure-streams.ts";
import { migrateDatabase } from "../../deploy/cli/setup/migrate-database.ts";
import { createDatabases } from "../../deploy/local/databases.ts";
import { freePort } from "../../deploy/local/free-port.ts";
import { startNats } from "../../deploy/local/nats.ts";
import { findNatsServer } from "../../deploy/local/nats-binary.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import { webhookHeap } from "../../deploy/local/services.ts";
import { rpcFiles } from "../../deploy/local/state/rpc-files.ts";
import { tlsFiles } from "../../deploy/local/state/tls.ts";
import { startAnnouncingPayments } from "../harness/payments/announcing-payments.ts";
import { tempDir } from "../harness/temp-dir.ts";
import type { ReceiverReport } from "./webhook-receiver.ts";

/** A subscribed endpoint. */
export interface BenchEndpoint {
  readonly merchantId: string;
  readonly id: string;
}

/** Everything that runs. */
export interface Rig {
  readonly db: Database;
  /** Of payments, which is asked what it announced. */
  readonly paymentsDb: Database;
  readonly bus: EventBus;
  readonly namespace: string;
  readonly service: WatchedProcess;
  /** Where the receivers are, and the file of who vouches for them. */
  readonly receivers: { readonly url: string; readonly ca: string };
  /** Deliveries that the receivers have answered so far. */
  answered(): number;
  /** Arrivals of payments' events, by payment id; cleared when read. */
  takeArrivals(): Map<string, number>;
  /** The measured processes, without this one. */
  readonly pids: Record<string, number>;
  endpoints(count: number, path: string): Promise<BenchEndpoint[]>;
  /** An endpoint of a merchant of its own. */
  endpoint(url: string): Promise<BenchEndpoint>;
  /** Starts the misbehaving receivers. @returns the URL of each kind */
  hostileUrls(): Promise<string[]>;
  /**
   * Commits one succeeded payment's event to the outbox, as the payments service does.
   * @returns the payment's id, and when the commit was over: milliseconds since 1970 with fractions
   */
  commit(merchantId: string): Promise<{ id: string; at: number }>;
  stop(): Promise<void>;
}

/** A process whose memory is watched. */
export interface WatchedProcess {
  residentMb(): number;
  /** The most that it has been so far. */
  peakMb(): number;
}

/** A part of the benchmark. */
export interface Phase {
  /** All phases together, with their stacks, take less than eight minutes at their limits. */
  readonly limitSeconds: number;
  /** Settings of the service that differ from the usual ones. */
  readonly serviceEnv: Readonly<Record<string, string>>;
  readonly run: (rig: Rig, report: Report) => Promise<void>;
}

export interface Report {
  /** A line of the table. */
  row(what: string, value: string): void;
  /** Prints the phase's progress. */
  progress(text: string): void;
  /** The phase's limit; loops end with it. */
  readonly deadline: AbortSignal;
  /** How much of the usual amount is to be done, 0 to 1. */
  readonly share: number;
}

/** Starts all processes. @param serviceEnv settings of the service that differ from the usual ones */
export async function startRig(serviceEnv: Readonly<Record<string, string>>): Promise<Rig> {
  const home = await tempDir("bench");
  const program = await findNatsServer();
  const [postgres, nats] = await Promise.all([
    startPostgres({ home, port: await freePort(), password: "bench", isDurable: true }),
    startNats({ program: program.path, storeDir: join(home, "nats"), port: await freePort() }),
  ]);
  const databases = await createDatabases(postgres.url, "bench");
  const { roles } = databases;
  await migrateDatabase({ databaseUrl: databases.of.webhook, service: "webhook", serviceRole: roles?.webhook });
  await migrateDatabase({ databaseUrl: databases.of.payments, service: "payments" });
  await ensureStreams({ broker: { url: nats.url }, namespace: "bench" });
  const tls = await tlsFiles(home);
  const rpc = await rpcFiles(home);
  const receiverEnv = { TLS_CERT: tls.cert, TLS_KEY: tls.key };
  const children: ChildProcess[] = [];
  const forked = (script: string, env: Record<string, string>) => startChild(script, env, children);
  const receiver = await forked("test/bench/webhook-receiver.ts", receiverEnv);
  // Dead endpoints have a process of their own, so their sockets cannot delay the healthy ones.
  const dead = await forked("test/bench/webhook-receiver.ts", receiverEnv);
  const port = await freePort();
  const log = createLog("bench", "warn");
  const payments = await Database.open({ url: databases.of.payments, name: "bench", log });
  const announcing = await startAnnouncingPayments(payments, callersFile.parse(rpc.callers));
  const service = await forked("services/webhook/main.ts", {
    PORT: String(port),
    LOG_LEVEL: "warn",
    DATABASE_URL: databases.usedBy.webhook,
    NATS_URL: nats.url,
    NATS_NAMESPACE: "bench",
    RPC_CALLERS_FILE: rpc.callers,
    RPC_TOKEN_FILE: rpc.tokens.webhook,
    CHECKOUT_URL: announcing.url,
    PAYMENTS_URL: announcing.url,
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`,
    HASH_KEY: randomBytes(32).toString("base64"),
    WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    WEBHOOK_EXTRA_CA: tls.ca,
    NODE_OPTIONS: webhookHeap,
    ...serviceEnv,
  });
  const db = await Database.open({ url: databases.of.webhook, name: "bench", log });
  const bus = new EventBus({ broker: { url: nats.url }, namespace: "bench", name: "bench", log });
  const outbox = new Outbox({ namespace: "bench", source: "payments" });
  const jobs = startJobs(outboxJobs(payments, bus, outbox, { replicas: 1, log }), log);
  const peer = connectPeer({ url: `http://127.0.0.1:${port}`, token: tokenFile.parse(rpc.tokens.gateway) });
  const webhooks = peer.client(WebhookService);
  let answered = 0;
  let arrivals = new Map<string, number>();
  receiver.child.on("message", (report: ReceiverReport) => {
    answered = report.count;
    for (const [id, at] of report.arrivals) arrivals.set(id, at);
  });
  const register = async (url: string): Promise<BenchEndpoint> => {
    const merchantId = newId("merchant");
    const input = { merchantId, environment: 1 as const, url, eventTypes: ["payment.succeeded"] };
    return { merchantId, id: (await webhooks.createEndpoint(input)).endpoint?.id ?? "" };
  };
  const pids: Record<string, number> = {
    postgres: postgres.pid,
    nats: nats.pid,
    service: service.child.pid ?? 0,
    receiver: receiver.child.pid ?? 0,
    dead: dead.child.pid ?? 0,
  };
  return {
    pids,
    endpoint: register,
    receivers: { url: `https://localhost:${receiver.ready.port}`, ca: tls.ca },
    async hostileUrls() {
      const { child, ready } = await forked("test/bench/webhook-hostile.ts", { ...receiverEnv, TLS_CA: tls.ca });
      pids.hostile = child.pid ?? 0;
      return ready.urls ?? [];
    },
    db,
    paymentsDb: payments,
    bus,
    namespace: "bench",
    service: watched(service.child),
    answered: () => answered,
    takeArrivals() {
      const drained = arrivals;
      arrivals = new Map();
      return drained;
    },
    async endpoints(count, path) {
      const { ready } = path.startsWith("/hang") ? dead : receiver;
      const made: BenchEndpoint[] = [];
      for (let i = 0; i < count; i++) made.push(await register(`https://localhost:${ready.port}${path}/${i}`));
      return made;
    },
    async commit(merchantId) {
      const objectId = newId("payment");
      const event = {
        type: "payment.succeeded",
        merchantId,
        environment: 1,
        objectId,
        status: "succeeded",
        at: new Date(),
      };
      await payments.transaction((tx) => outbox.append(tx, [{ ...event, environment: 1 }]));
      const at = performance.timeOrigin + performance.now();
      outbox.wake();
      return { id: objectId, at };
    },
    async stop() {
      peer.close();
      await jobs.stop();
      await bus.close();
      await announcing.stop();
      await Promise.all([db.close(), payments.close()]);
      await Promise.all(children.map(ended));
      await Promise.all([postgres.stop(), nats.stop()]);
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** A process's message once it serves. */
interface Ready {
  readonly ready: true;
  readonly port?: number;
  readonly urls?: string[];
}

/** Starts a script in its own process; resolves when it serves. */
export async function startChild(
  script: string,
  env: Record<string, string>,
  children: ChildProcess[],
): Promise<{ child: ChildProcess; ready: Ready }> {
  const child = fork(join(import.meta.dirname, "../..", script), {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  children.push(child);
  const ready = await new Promise<Ready>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${script} ended with ${code}`)));
    child.on("message", (message: Partial<Ready>) => {
      if (message.ready) resolve({ ...message, ready: true });
    });
  });
  return { child, ready };
}

async function ended(child: ChildProcess): Promise<void> {
  if (!child.connected) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.disconnect();
  await exit;
}

function watched(child: ChildProcess): WatchedProcess {
  const megabytes = (field: string) => {
    const text = readFileSync(`/proc/${child.pid}/status`, "utf8");
    return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1_024);
  };
  return { residentMb: () => megabytes("VmRSS"), peakMb: () => megabytes("VmHWM") };
}
