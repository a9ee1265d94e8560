// Wires the payments service by hand: what main.ts starts and tests build from.

import { brokerOf } from "#platform/broker-connection.ts";
import { clockJob, syncClock } from "#platform/clock.ts";
import type { Configured } from "#platform/config.ts";
import { Database } from "#platform/database.ts";
import { EncryptionCount } from "#platform/encryption-count.ts";
import { EventBus } from "#platform/event-bus.ts";
import { IdempotencyKeys } from "#platform/idempotency.ts";
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
import type { Event } from "#proto/events/v1/events_pb.ts";
import { ConnectorService } from "#proto/merchant/v1/merchant_pb.ts";
import { FeeService } from "#proto/payments/v1/fee_pb.ts";
import { OperatorService } from "#proto/payments/v1/operator_pb.ts";
import { ConnectorAccountService, PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { StatementService } from "#proto/payments/v1/statement_pb.ts";
import { Circuits } from "./connectors/circuit.ts";
import { createConnectors } from "./connectors/registry.ts";
import { feeRpc } from "./fee-rpc.ts";
import { Accounts } from "./flows/ask-processor.ts";
import { endUnpaid } from "./flows/confirm-intent.ts";
import { checkJournalJob } from "./jobs/check-journal.ts";
import { matchStatementsJob } from "./jobs/match-statements.ts";
import { pollEventsJob } from "./jobs/poll-events.ts";
import { reconcileJobs } from "./jobs/reconcile.ts";
import { operatorRpc } from "./operator-rpc.ts";
import { connectorAccountsRpc, paymentsRpc } from "./rpc.ts";
import type { paymentsSettings } from "./settings.ts";
import { statementRpc } from "./statement-rpc.ts";
import { sweepProcessorEvents } from "./store/processor-events.ts";

export async function startPayments(config: Opened<Configured<typeof paymentsSettings>>): Promise<RunningService> {
  const log = createLog("payments", config.LOG_LEVEL);
  const db = await Database.open({ url: config.DATABASE_URL, name: "payments", log });
  await awaitSchema(db, "payments", log);
  await syncClock(db, log);
  const encryptions = await EncryptionCount.begin(db, config.ENCRYPTION_KEYS);
  const vault = new Vault(config.ENCRYPTION_KEYS, encryptions);
  const bus = new EventBus({
    broker: brokerOf(config),
    keys: config.EVENT_KEYS_FILE,
    namespace: config.NATS_NAMESPACE,
    name: "payments",
    log,
  });
  const outbox = new Outbox({ namespace: config.NATS_NAMESPACE, source: "payments" });
  const merchant = connectPeer({ url: config.MERCHANT_URL, token: config.RPC_TOKEN_FILE });
  const keys = new IdempotencyKeys(db, vault, config.IDEMPOTENCY_LEASE_SECONDS);
  const merchants = merchant.client(ConnectorService);
  const accounts = new Accounts(merchants);
  const patienceSeconds = config.RECONCILE_AFTER_SECONDS;
  const circuits = new Circuits(
    {
      windowCalls: config.CIRCUIT_WINDOW_CALLS,
      openMaxMs: config.CIRCUIT_OPEN_MAX_SECONDS * 1_000,
      timeoutMs: config.PROCESSOR_TIMEOUT_SECONDS * 1_000,
    },
    log,
  );
  const { SIMULATOR_URL: url } = config;
  const processors = {
    simulator: url === undefined ? undefined : { url, publicUrl: config.SIMULATOR_PUBLIC_URL ?? url },
    stripeUrl: config.STRIPE_API_URL,
    timeoutMs: config.PROCESSOR_TIMEOUT_SECONDS * 1_000,
    keyLifeSeconds: config.ABSENCE_AFTER_SECONDS,
  };
  const connectors = createConnectors(processors, circuits);
  const deps = { patienceSeconds, db, vault, log, outbox, keys, accounts, connectors };
  const forget = () => accounts.forget();
  const hear = (event: Event) => {
    // The audit log's heads, one a day for each merchant: nothing of them is kept here.
    if (event.type.startsWith("audit.")) return;
    forget();
    void endUnpaid(deps, event);
  };
  bus.listen({ ...heardEvents.connectors, onEvent: hear, onGap: forget });
  const staleReads = new StaleReads({ everyMs: patienceSeconds * 1_000 }, log);
  let askNow = () => {};
  const server = await serveRpc({
    port: config.PORT,
    host: config.HOST,
    trusted: config.RPC_CALLERS_FILE,
    log,
    status: { service: "payments", db, bus, encryptions },
    services: [PaymentsService, OperatorService, FeeService, StatementService, ConnectorAccountService],
    routes: (router) => {
      router.service(PaymentsService, paymentsRpc({ ...deps, staleReads }));
      router.service(FeeService, feeRpc(deps));
      router.service(StatementService, statementRpc(deps));
      router.service(OperatorService, operatorRpc({ ...deps, askNow: () => askNow() }));
      router.service(ConnectorAccountService, connectorAccountsRpc({ connectors, accounts, merchants }));
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
      ...reconcileJobs(deps, (wake) => {
        askNow = wake;
      }),
      pollEventsJob({ ...deps, eventPollSeconds: config.EVENT_POLL_SECONDS }),
      clockJob(db, log),
      checkJournalJob(deps),
      matchStatementsJob(deps),
      { name: "sweep-idempotency-keys", everyMs: 600_000, runOnce: () => keys.sweep() },
      { name: "sweep-processor-events", everyMs: 3_600_000, runOnce: () => sweepProcessorEvents(db) },
    ],
    log,
  );
  return {
    port: server.port,
    ready: () => server.health.serving(),
    stop: async (drain) => {
      await server.close(drain);
      await jobs.stop();
      merchant.close();
      await connectors.close();
      await bus.close();
      await db.close();
    },
  };
}
