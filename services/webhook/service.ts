// The webhook service: manages endpoints over RPC, consumes events from JetStream and sends signed deliveries.
import { randomBytes } from "node:crypto";
import { Database } from "#platform/database/database.ts";
import { IdempotencyKeys } from "#platform/database/idempotency.ts";
import type { Consumer } from "#platform/events/event-consumer.ts";
import type { Announcer } from "#platform/events/event-message.ts";
import { ownHost } from "#platform/process/host.ts";
import { Wake } from "#platform/process/job.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { defineRpc } from "#platform/rpc/server.ts";
import { type RunningService, type ServiceBase, type ServiceParts, startService } from "#platform/service/service.ts";
import { clockMs } from "#platform/values/clock.ts";
import { TeamService } from "#proto/access/v1/teams_pb.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { EventService } from "#proto/events/v1/event_service_pb.ts";
import { BalanceService } from "#proto/payments/v1/balance_pb.ts";
import { DisputeService } from "#proto/payments/v1/disputes_pb.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { ReportService } from "#proto/payments/v1/reports_pb.ts";
import { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import { type DurableConsumer, durableConsumers, liveSubscriptions } from "../services.ts";
import { buildObjects } from "./flows/build-objects.ts";
import { continueRuns } from "./flows/queue-delivery.ts";
import { EventTail } from "./flows/watch-events.ts";
import { Dispatcher } from "./jobs/dispatch.ts";
import { fanOut } from "./jobs/fan-out.ts";
import { ensurePartitions, keepPartitionsJob } from "./jobs/keep-partitions.ts";
import { measureQueueJob } from "./jobs/measure-queue.ts";
import { positionEventsJob } from "./jobs/position-events.ts";
import { AttemptRecorder } from "./jobs/record-attempts.ts";
import { sweepJobs } from "./jobs/sweep.ts";
import { reportSlots, type WebhookMetrics, webhookMetrics } from "./metrics.ts";
import { eventsRpc } from "./rpc/events.ts";
import { webhooksRpc } from "./rpc/webhooks.ts";
import { EndpointCache } from "./sender/endpoint-cache.ts";
import { Resolver, type ResolverOptions } from "./sender/resolver.ts";
import { createTrust, Sender } from "./sender/send.ts";
import type { WebhookConfig } from "./settings.ts";
import type { LaneKey } from "./store/delivery-queue.ts";
import type { Endpoint } from "./store/endpoints.ts";

// A lease of three attempt limits never needs a renewal.
const leaseAttempts = 3;

export function startWebhook(
  config: WebhookConfig,
  hostProcess = ownHost,
  dns: ResolverOptions = {},
): Promise<RunningService> {
  return startService({
    name: "webhook",
    config,
    open: (pool) => Database.open(pool),
    build: (base) => build(config, base, new Resolver(dns)),
    hostProcess,
  });
}

async function build(config: WebhookConfig, base: ServiceBase<Database>, resolver: Resolver): Promise<ServiceParts> {
  const { db, outbox, vault } = base;
  const { registry, neighbours } = base.hostProcess;
  const metrics = webhookMetrics(registry);
  await ensurePartitions(db, clockMs());
  const keys = new IdempotencyKeys(db, vault, config.IDEMPOTENCY_LEASE_SECONDS);
  const allow = config.WEBHOOK_ALLOW_CIDRS;
  const { dispatcher, endpoints, schedule, consume, listedNow } = createDispatcher(config, base, metrics, resolver);
  reportSlots(registry, dispatcher.lanes);
  const [sweepNow, retryNow] = [new Wake(), new Wake()];
  const wakeLane = (lane: LaneKey) => dispatcher.wake(lane);
  const { RPC_TOKEN_FILE: token, RPC_CA_FILE: caFile, MERCHANT_URL: merchantUrl } = config;
  const peer = (url: string) => connectPeer({ url, token, caFile, neighbours });
  const [payments, checkout] = [peer(config.PAYMENTS_URL), peer(config.CHECKOUT_URL)];
  const merchant = merchantUrl === undefined ? undefined : peer(merchantUrl);
  const teams = merchant?.client(TeamService);
  const sources = {
    payments: payments.client(PaymentsService),
    disputes: payments.client(DisputeService),
    balance: payments.client(BalanceService),
    reports: payments.client(ReportService),
    sessions: checkout.client(CheckoutService),
  };
  const onChange = (endpoint: Endpoint) => {
    endpoints.forget(endpoint.id);
    if (endpoint.deletedAt) sweepNow.now();
    else if (endpoint.status === "active") wakeLane({ merchantId: endpoint.merchantId, endpointId: endpoint.id });
  };
  const onRun = () => retryNow.now();
  const consumers = Object.values(durableConsumers)
    .filter(({ by }) => by === "webhook")
    .map((consumer) => consume(consumer, consumer.source === "checkout" ? sources.sessions : sources.payments));
  const context = { db, outbox, vault, resolver, allow, keys, metrics, wakeLane, onRun, onChange };
  return {
    rpc: [
      defineRpc(WebhookService, webhooksRpc(context)),
      defineRpc(EventService, eventsRpc({ db, tail: new EventTail(db) })),
    ],
    teams,
    jobs: [
      dispatcher.job,
      keepPartitionsJob(db),
      measureQueueJob({ db, metrics, isSilent: (lane) => dispatcher.lanes.isSilent(lane) }),
      {
        name: "retry-failed-deliveries",
        everyMs: 2_000,
        runOnce: () => continueRuns({ db, wakeLane }),
        wake: retryNow,
      },
      {
        name: "build-objects",
        everyMs: 1_000,
        runOnce: () => buildObjects({ db, log: base.log, ...sources, wakeLane }),
        wake: listedNow,
      },
      { name: "sweep-idempotency-keys", everyMs: 600_000, runOnce: () => keys.sweep() },
      ...sweepJobs({ db, outbox, schedule, wake: sweepNow }),
      positionEventsJob({ db, bus: base.bus, consumers, wake: listedNow }),
    ],
    consumers,
    listeners: [
      {
        ...liveSubscriptions.endpoints,
        onEvent: ({ objectId, merchantId, status }) => {
          endpoints.forget(objectId);
          if (status === "active") wakeLane({ merchantId, endpointId: objectId });
        },
        onGap: () => endpoints.forgetAll(),
      },
    ],
    finish: () => dispatcher.stop(),
    close: () => {
      payments.close();
      checkout.close();
      merchant?.close();
    },
  };
}

function createDispatcher(
  config: WebhookConfig,
  { db, log, outbox, vault, hostProcess }: ServiceBase<Database>,
  metrics: WebhookMetrics,
  resolver: Resolver,
) {
  const owner = randomBytes(8).toString("hex");
  const leaseSeconds = (config.WEBHOOK_TIMEOUT_MS / 1_000) * leaseAttempts;
  const allow = config.WEBHOOK_ALLOW_CIDRS;
  const proxy = config.WEBHOOK_EGRESS_PROXY === undefined ? undefined : new URL(config.WEBHOOK_EGRESS_PROXY);
  const trust = createTrust(config.WEBHOOK_EXTRA_CA);
  const sender = new Sender({ resolver, allow, trust, proxy }, config.WEBHOOK_TIMEOUT_MS);
  const endpoints = new EndpointCache({ sql: db, vault, log, allow });
  const schedule = {
    baseMs: config.WEBHOOK_RETRY_BASE_MS,
    capMs: config.WEBHOOK_RETRY_CAP_MS,
    attemptsMax: config.WEBHOOK_ATTEMPTS_MAX,
  };
  const recorder = new AttemptRecorder({ db, outbox, log, metrics, owner });
  const deps = { endpoints, sender, schedule, tracer: hostProcess.tracing?.tracer };
  const dispatcher = new Dispatcher({ db, deps, recorder, owner, leaseSeconds, log });
  const listedNow = new Wake();
  const onListed = () => listedNow.now();
  const fanOutDeps = { db, dispatcher, owner, leaseSeconds, log, metrics, onListed };
  const consume = (consumer: DurableConsumer, announcer: Announcer): Consumer => ({
    ...consumer,
    announcer,
    handle: (events, seqs) => fanOut(fanOutDeps, consumer, events, seqs),
  });
  return { dispatcher, endpoints, schedule, consume, listedNow };
}
