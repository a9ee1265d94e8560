// The webhook service, wired by hand: endpoints over RPC, events from JetStream in, signed deliveries out.
import { randomBytes } from "node:crypto";
import { brokerOf } from "#platform/broker-connection.ts";
import { EncryptionCount } from "#platform/encryption-count.ts";
import { EventBus } from "#platform/event-bus.ts";
import { startJobs } from "#platform/job.ts";
import { createLog, type Log } from "#platform/log.ts";
import { MappedDatabase } from "#platform/mapped-database.ts";
import { checkSchema } from "#platform/migrate.ts";
import { Outbox, outboxJobs } from "#platform/outbox.ts";
import { connectPeer } from "#platform/rpc-client.ts";
import { type RunningService, serveRpc } from "#platform/rpc-server.ts";
import { Vault } from "#platform/secret.ts";
import { durableConsumers, heardEvents } from "#platform/streams.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import { Dispatcher } from "./jobs/dispatch.ts";
import { fanOut } from "./jobs/fan-out.ts";
import { ensurePartitions, keepPartitionsJob } from "./jobs/keep-partitions.ts";
import { measureQueueJob } from "./jobs/measure-queue.ts";
import { AttemptRecorder } from "./jobs/record-attempts.ts";
import { retryFailedJob } from "./jobs/retry-failed.ts";
import { sweepJobs } from "./jobs/sweep.ts";
import { watchSlots } from "./metrics.ts";
import { webhookRoutes } from "./rpc.ts";
import { EndpointCache } from "./sender/endpoint-cache.ts";
import { type Lookup, Resolver } from "./sender/resolver.ts";
import { Sender, trustOf } from "./sender/send.ts";
import type { WebhookConfig } from "./settings.ts";
import { endpointEntities } from "./store/endpoints.ts";

// A database that is away at the start is waited for; a supervisor deals with a longer outage.
const databaseWaitMs = 30_000;
const databasePauseMs = 500;

// A claim outlasts whatever can happen to an attempt, so that none needs to be prolonged.
const leaseAttempts = 3;

/**
 * Starts the service.
 * @param options.lookup asks for host names instead of DNS; for tests
 * @param options.ttlSecondsMin how long what it answers is kept at least; for tests
 */
export async function startWebhook(
  config: WebhookConfig,
  options: { readonly lookup?: Lookup; readonly ttlSecondsMin?: number } = {},
): Promise<RunningService> {
  const log = createLog("webhook", config.LOG_LEVEL);
  const db = await MappedDatabase.open({ url: config.DATABASE_URL, name: "webhook", log, entities: endpointEntities });
  await whenDatabaseAnswers(db, log);
  const owner = randomBytes(8).toString("hex");
  const leaseSeconds = (config.WEBHOOK_TIMEOUT_MS / 1_000) * leaseAttempts;
  const allow = config.WEBHOOK_ALLOW_CIDRS;
  const encryptions = await EncryptionCount.begin(db, config.ENCRYPTION_KEYS);
  const vault = new Vault(config.ENCRYPTION_KEYS, encryptions);
  const outbox = new Outbox({ namespace: config.NATS_NAMESPACE, source: "webhook" });
  const bus = new EventBus({
    broker: brokerOf(config),
    keys: config.EVENT_KEYS_FILE,
    namespace: config.NATS_NAMESPACE,
    name: "webhook",
    log,
    ackWaitSeconds: config.EVENT_ACK_WAIT_SECONDS,
  });
  const resolver = new Resolver(options);
  const proxy = config.WEBHOOK_EGRESS_PROXY === undefined ? undefined : new URL(config.WEBHOOK_EGRESS_PROXY);
  const sender = new Sender(
    { resolver, allow, trust: trustOf(config.WEBHOOK_EXTRA_CA), proxy },
    config.WEBHOOK_TIMEOUT_MS,
  );
  const endpoints = new EndpointCache({ sql: db, vault, log, allow });
  const schedule = {
    baseMs: config.WEBHOOK_RETRY_BASE_MS,
    capMs: config.WEBHOOK_RETRY_CAP_MS,
    attemptsMax: config.WEBHOOK_ATTEMPTS_MAX,
  };
  const recorder = new AttemptRecorder({ db, outbox, log, owner });
  const dispatcher = new Dispatcher({ db, deps: { endpoints, sender, schedule }, recorder, owner, leaseSeconds, log });
  const unwatch = watchSlots(dispatcher.lanes);
  let sweepNow = () => {};
  let retryNow = () => {};
  const jobs = startJobs(
    [
      ...outboxJobs(db, bus, outbox),
      encryptions.job,
      dispatcher.job,
      keepPartitionsJob(db),
      measureQueueJob(db, (lane) => dispatcher.lanes.isSilent(lane)),
      retryFailedJob(
        db,
        (lane) => dispatcher.poke(lane),
        (wake) => (retryNow = wake),
      ),
      ...sweepJobs({ db, outbox, schedule, onStart: (wake) => (sweepNow = wake) }),
    ],
    log,
  );
  const payments = connectPeer({ url: config.PAYMENTS_URL, token: config.RPC_TOKEN_FILE });
  const announcer = payments.client(PaymentsService);
  bus.consume({
    ...durableConsumers.fanOut,
    askSource: async (claims, timeoutMs) =>
      (await announcer.confirmAnnouncements({ claims }, { timeoutMs })).announcedDigests,
    handle: (events) => fanOut({ db, dispatcher, owner, leaseSeconds, log }, events),
  });
  bus.listen({
    ...heardEvents.endpoints,
    onEvent: (event) => {
      endpoints.forget(event.objectId);
      if (event.status === "active") dispatcher.poke({ merchantId: event.merchantId, endpointId: event.objectId });
    },
    onGap: () => endpoints.forgetAll(),
  });
  const server = await serveRpc({
    port: config.PORT,
    host: config.HOST,
    trusted: config.RPC_CALLERS_FILE,
    log,
    status: { service: "webhook", db, bus, encryptions },
    services: [WebhookService],
    routes: webhookRoutes({
      db,
      outbox,
      vault,
      resolver,
      allow,
      poke: (lane) => dispatcher.poke(lane),
      onRun: () => retryNow(),
      onChange: (endpoint) => {
        endpoints.forget(endpoint.id);
        if (endpoint.deletedAt) sweepNow();
        else if (endpoint.status === "active")
          dispatcher.poke({ merchantId: endpoint.merchantId, endpointId: endpoint.id });
      },
    }),
    ready: async () => {
      await db.ping();
      return bus.connected;
    },
  });
  return {
    port: server.port,
    ready: () => server.health.serving(),
    stop: async (drain) => {
      await server.close(drain);
      await dispatcher.stop();
      await jobs.stop();
      await bus.close();
      payments.close();
      await db.close();
      unwatch();
    },
  };
}

async function whenDatabaseAnswers(db: MappedDatabase, log: Log): Promise<void> {
  const until = performance.now() + databaseWaitMs;
  for (;;) {
    try {
      await checkSchema(db, "webhook");
      await ensurePartitions(db, Date.now());
      return;
    } catch (error) {
      if (performance.now() >= until) {
        await db.close();
        throw error;
      }
      log.warn({ err: error }, "the database is not ready; trying again");
      await new Promise((resolve) => setTimeout(resolve, databasePauseMs));
    }
  }
}
