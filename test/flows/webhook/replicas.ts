// Replicas of the webhook service as processes on their own PostgreSQL and NATS, all of which a test may kill; and
// payments' outbox, whose events are relayed.
import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { Database } from "#platform/database/database.ts";
import { migrate } from "#platform/database/migrate.ts";
import { EventBus } from "#platform/events/event-bus.ts";
import { ensureStreams } from "#platform/events/make-streams.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { outboxJobs } from "#platform/events/relay.ts";
import { startJobs } from "#platform/process/job.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { callersFile, tokenFile } from "#platform/secrets/callers.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import { createDatabases } from "../../../deploy/local/databases.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import { startNats } from "../../../deploy/local/nats.ts";
import { findNatsServer } from "../../../deploy/local/nats-binary.ts";
import { startPostgres } from "../../../deploy/local/postgres.ts";
import { rpcFiles } from "../../../deploy/local/state/rpc-files.ts";
import { type TlsFiles, tlsFiles } from "../../../deploy/local/state/tls.ts";
import { eventually } from "../../harness/eventually.ts";
import { startAnnouncingPayments } from "../../harness/payments/announcing-payments.ts";
import { tempDir } from "../../harness/temp-dir.ts";

/** A running replica. */
export interface Replica {
  readonly webhooks: Client<typeof WebhookService>;
  /** Kills it at any instruction. */
  kill9(): Promise<void>;
  /** Stops it as a deployment does. */
  stop(): Promise<void>;
}

export interface Replicas {
  readonly tls: TlsFiles;
  replica(): Promise<Replica>;
  /** Commits a succeeded payment's event, retrying while the database is down. @returns the payment's id */
  commit(merchantId: string): Promise<string>;
  /** The merchant's payments whose events are committed. */
  committed(merchantId: string): Promise<Set<string>>;
  /** Kills the server and starts it again on the same data. */
  restart(server: "postgres" | "nats"): Promise<void>;
  stop(): Promise<void>;
}

const namespace = "replicas";
// Attempts end within a second, so claims of a killed replica end within three.
const patience = {
  WEBHOOK_TIMEOUT_MS: "1000",
  WEBHOOK_RETRY_BASE_MS: "100",
  WEBHOOK_RETRY_CAP_MS: "500",
};

/** Starts the servers without a replica. */
export async function startReplicas(): Promise<Replicas> {
  const home = await tempDir("replicas");
  const program = (await findNatsServer()).path;
  const ports = { postgres: await freePort(), nats: await freePort() };
  const start = {
    postgres: () => startPostgres({ home, port: ports.postgres, password: "test", isDurable: true }),
    nats: () => startNats({ program, storeDir: join(home, "nats"), port: ports.nats }),
  };
  const [postgres, nats] = await Promise.all([start.postgres(), start.nats()]);
  const servers = { postgres, nats };
  const databases = await createDatabases(postgres.url, "test");
  await migrate({ databaseUrl: databases.of.webhook, service: "webhook", serviceRole: databases.roles?.webhook });
  await migrate({ databaseUrl: databases.of.payments, service: "payments" });
  await ensureStreams({ broker: { url: nats.url }, namespace });
  const tls = await tlsFiles(home);
  const rpc = await rpcFiles(home);
  const log = createLog("test", "fatal");
  const payments = await Database.open({ url: databases.of.payments, name: "test", log });
  const announcing = await startAnnouncingPayments(payments, callersFile.parse(rpc.callers));
  const environment = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOST: "127.0.0.1",
    LOG_LEVEL: "error",
    NODE_ENV: "test",
    DATABASE_URL: databases.usedBy.webhook,
    NATS_URL: nats.url,
    NATS_NAMESPACE: namespace,
    RPC_CALLERS_FILE: rpc.callers,
    RPC_TOKEN_FILE: rpc.tokens.webhook,
    CHECKOUT_URL: announcing.url,
    PAYMENTS_URL: announcing.url,
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}`,
    HASH_KEY: randomBytes(32).toString("base64"),
    WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    WEBHOOK_EXTRA_CA: tls.ca,
    ...patience,
  };
  const bus = new EventBus({ broker: { url: nats.url }, namespace, name: "test", log });
  const outbox = new Outbox({ namespace, source: "payments" });
  const jobs = startJobs(outboxJobs(payments, bus, outbox, { replicas: 1, ackWaitSeconds: 2, log }), log);
  const running = new Set<ChildProcess>();
  return {
    tls,
    async replica() {
      const port = await freePort();
      const child = await startReplica({ ...environment, PORT: String(port) }, running);
      const peer = connectPeer({ url: `http://127.0.0.1:${port}`, token: tokenFile.parse(rpc.tokens.gateway) });
      const end = async (signal: NodeJS.Signals) => {
        peer.close();
        await ended(child, signal);
      };
      return {
        webhooks: peer.client(WebhookService),
        kill9: () => end("SIGKILL"),
        stop: () => end("SIGTERM"),
      };
    },
    commit: (merchantId) => commitSucceeded(payments, outbox, merchantId),
    committed: (merchantId) => committedPayments(payments, merchantId),
    async restart(name) {
      process.kill(servers[name].pid, "SIGKILL");
      await servers[name].exited;
      servers[name] = await start[name]();
    },
    async stop() {
      for (const child of running) await ended(child, "SIGKILL");
      await jobs.stop();
      await bus.close();
      await announcing.stop();
      await payments.close();
      await Promise.all([servers.postgres.stop(), servers.nats.stop()]);
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function commitSucceeded(payments: Database, outbox: Outbox, merchantId: string): Promise<string> {
  const objectId = newId("payment");
  const event = { type: "payment.succeeded", merchantId, environment: 1, objectId, status: "succeeded" } as const;
  await eventually(
    "an event to be committed",
    async () => {
      await payments.transaction((tx) => outbox.append(tx, [{ ...event, at: new Date() }]));
      return true;
    },
    { limitMs: 30_000, everyMs: 100 },
  );
  outbox.wake();
  return objectId;
}

/** From the outbox, which keeps its rows for days. */
async function committedPayments(payments: Database, merchantId: string): Promise<Set<string>> {
  const rows = await payments.rows<{ body: Buffer }>("select body from outbox");
  const events = rows.map((row) => fromBinary(EventSchema, row.body));
  return new Set(events.filter((event) => event.merchantId === merchantId).map((event) => event.objectId));
}

async function startReplica(env: Record<string, string | undefined>, running: Set<ChildProcess>) {
  const child = fork(join(import.meta.dirname, "../../../services/webhook/main.ts"), {
    env,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the replica ended with ${code}`)));
    child.once("message", () => resolve());
  });
  return child;
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await exit;
}
