// Wires the checkout service by hand: what main.ts starts and tests build from.

import { brokerOf } from "#platform/broker-connection.ts";
import { clockJob, syncClock } from "#platform/clock.ts";
import type { Configured } from "#platform/config.ts";
import { Database } from "#platform/database.ts";
import { EncryptionCount } from "#platform/encryption-count.ts";
import { EventBus } from "#platform/event-bus.ts";
import { HashKeys } from "#platform/hash-keys.ts";
import { IdempotencyKeys } from "#platform/idempotency.ts";
import { sweepInbox } from "#platform/inbox.ts";
import { startJobs } from "#platform/job.ts";
import { listCountsJob } from "#platform/list-counts.ts";
import { createLog } from "#platform/log.ts";
import { awaitSchema } from "#platform/migrate.ts";
import type { Opened } from "#platform/open-keys.ts";
import { Outbox, outboxJobs } from "#platform/outbox.ts";
import { connectPeer } from "#platform/rpc-client.ts";
import { type RunningService, serveRpc } from "#platform/rpc-server.ts";
import { Vault } from "#platform/secret.ts";
import { StaleReads } from "#platform/stale-read.ts";
import { heardEvents } from "#platform/streams.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { RiskService } from "#proto/checkout/v1/risk_pb.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { staleAfterMs } from "./flows/freshen-session.ts";
import { RiskRules } from "./flows/risk-rules.ts";
import { expireSessionsJob } from "./jobs/expire-sessions.ts";
import { followPayments } from "./jobs/follow-payments.ts";
import { riskRpc } from "./risk-rpc.ts";
import { checkoutRpc } from "./rpc.ts";
import type { checkoutSettings } from "./settings.ts";
import { sweepAttempts } from "./store/risk-attempts.ts";
import { sweepDecisions } from "./store/risk-decisions.ts";

export async function startCheckout(config: Opened<Configured<typeof checkoutSettings>>): Promise<RunningService> {
  const log = createLog("checkout", config.LOG_LEVEL);
  const db = await Database.open({ url: config.DATABASE_URL, name: "checkout", log });
  await awaitSchema(db, "checkout", log);
  await syncClock(db);
  const encryptions = await EncryptionCount.begin(db, config.ENCRYPTION_KEYS);
  const vault = new Vault(config.ENCRYPTION_KEYS, encryptions);
  const bus = new EventBus({
    broker: brokerOf(config),
    keys: config.EVENT_KEYS_FILE,
    namespace: config.NATS_NAMESPACE,
    name: "checkout",
    log,
    ackWaitSeconds: config.EVENT_ACK_WAIT_SECONDS,
  });
  const outbox = new Outbox({ namespace: config.NATS_NAMESPACE, source: "checkout" });
  const payments = connectPeer({ url: config.PAYMENTS_URL, token: config.RPC_TOKEN_FILE });
  const keys = new IdempotencyKeys(db, vault, config.IDEMPOTENCY_LEASE_SECONDS);
  const riskRules = new RiskRules(db);
  const context = {
    db,
    outbox,
    vault,
    log,
    keys,
    hashKeys: new HashKeys(config.HASH_KEY),
    riskRules,
    staleReads: new StaleReads({ everyMs: staleAfterMs }, log),
    payments: payments.client(PaymentsService),
    checkoutOrigin: config.CHECKOUT_ORIGIN,
  };
  bus.consume(followPayments(context));
  const forget = () => riskRules.forget();
  bus.listen({ ...heardEvents.riskRules, onEvent: forget, onGap: forget });
  const server = await serveRpc({
    port: config.PORT,
    host: config.HOST,
    trusted: config.RPC_CALLERS_FILE,
    log,
    status: { service: "checkout", db, bus, encryptions },
    services: [CheckoutService, RiskService],
    routes: (router) => {
      router.service(CheckoutService, checkoutRpc(context));
      router.service(RiskService, riskRpc(context));
    },
    ready: async () => {
      await db.ping();
      return bus.connected;
    },
  });
  const jobs = startJobs(
    [
      ...outboxJobs(db, bus, outbox),
      encryptions.job,
      listCountsJob(db),
      clockJob(db, log),
      expireSessionsJob(context),
      { name: "sweep-idempotency-keys", everyMs: 600_000, runOnce: () => keys.sweep() },
      { name: "sweep-risk-attempts", everyMs: 3_600_000, runOnce: () => sweepAttempts(db) },
      { name: "sweep-risk-decisions", everyMs: 3_600_000, runOnce: () => sweepDecisions(db) },
      { name: "sweep-inbox", everyMs: 3_600_000, runOnce: () => sweepInbox(db) },
    ],
    log,
  );
  return {
    port: server.port,
    ready: () => server.health.serving(),
    stop: async (drain) => {
      await server.close(drain);
      await jobs.stop();
      await bus.close();
      payments.close();
      await db.close();
    },
  };
}
