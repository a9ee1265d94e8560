// Wires the payments service, for main.ts and tests.
import { Database } from "#platform/database/database.ts";
import { IdempotencyKeys } from "#platform/database/idempotency.ts";
import { listCountsJob } from "#platform/lists/list-counts.ts";
import type { ConfigValues } from "#platform/process/config.ts";
import { ownHost } from "#platform/process/host.ts";
import { Wake } from "#platform/process/job.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { defineRpc } from "#platform/rpc/server.ts";
import type { OpenedConfig } from "#platform/secrets/open-keys.ts";
import { ReadRepair } from "#platform/service/read-repair.ts";
import { type RunningService, type ServiceBase, type ServiceParts, startService } from "#platform/service/service.ts";
import { TeamService } from "#proto/access/v1/teams_pb.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { ConnectorService } from "#proto/merchant/v1/merchant_pb.ts";
import { BalanceService } from "#proto/payments/v1/balance_pb.ts";
import { DisputeService } from "#proto/payments/v1/disputes_pb.ts";
import { FeeService } from "#proto/payments/v1/fee_pb.ts";
import { JournalService } from "#proto/payments/v1/journal_pb.ts";
import { LedgerService } from "#proto/payments/v1/ledger_pb.ts";
import { OperatorService } from "#proto/payments/v1/operator_pb.ts";
import { ConnectorAccountService, PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { BuyerDataService } from "#proto/payments/v1/privacy_pb.ts";
import { PaymentRecoveryService } from "#proto/payments/v1/recovery_pb.ts";
import { ReportService } from "#proto/payments/v1/reports_pb.ts";
import { StatementService } from "#proto/payments/v1/statement_pb.ts";
import { ArchiveService } from "#proto/status/v1/archive_pb.ts";
import { Archive } from "../archive/archive.ts";
import { archiveRpc } from "../archive/archive-rpc.ts";
import { liveSubscriptions } from "../services.ts";
import { Circuits } from "./connectors/circuit.ts";
import { createConnectors } from "./connectors/registry.ts";
import { Accounts } from "./flows/accounts/ask-processor.ts";
import { endUnpaid } from "./flows/confirm-intent.ts";
import { archivedPayments } from "./flows/restore-archived.ts";
import { checkJournalJob } from "./jobs/check-journal.ts";
import { checkUnexpectedFundsJob } from "./jobs/check-unexpected-funds.ts";
import { makeReportsJobs } from "./jobs/make-reports.ts";
import { matchStatementsJob } from "./jobs/match-statements.ts";
import { pollEventsJob } from "./jobs/poll-events.ts";
import { readMovementsJob } from "./jobs/read-movements.ts";
import { driveOperationsJob, reconcileJobs } from "./jobs/reconcile.ts";
import { bucketStarts } from "./lists/counted-ranges.ts";
import { paymentsMetrics } from "./metrics.ts";
import { balanceRpc } from "./rpc/balance.ts";
import { buyerDataRpc } from "./rpc/buyer-data.ts";
import { connectorAccountsRpc } from "./rpc/connector-accounts.ts";
import { disputesRpc } from "./rpc/disputes.ts";
import { feeRpc } from "./rpc/fees.ts";
import { journalRpc } from "./rpc/journal.ts";
import { ledgerRpc } from "./rpc/ledger.ts";
import { operatorRpc } from "./rpc/operator.ts";
import { paymentRecoveryRpc } from "./rpc/payment-recovery.ts";
import { paymentsRpc } from "./rpc/payments.ts";
import { reportsRpc } from "./rpc/reports.ts";
import { statementRpc } from "./rpc/statements.ts";
import type { paymentsSettings } from "./settings.ts";
import { sweepFiles } from "./store/disputes/dispute-files.ts";
import { endFingerprints } from "./store/erasure.ts";
import { foldMoneyDays } from "./store/money-days.ts";
import { Notices } from "./store/processor/notices.ts";
import { sweepProcessorEvents } from "./store/processor/processor-events.ts";
import { journalFindings } from "./store/processor/statements.ts";

type PaymentsConfig = OpenedConfig<ConfigValues<typeof paymentsSettings>>;

// Batches of 1,000: 100 payments a second, so that the first runs on a large table do not slow down buyers.
const retentionMs = 10_000;

export function startPayments(config: PaymentsConfig, hostProcess = ownHost): Promise<RunningService> {
  return startService({
    name: "payments",
    config,
    open: (pool) => Database.open(pool),
    build: (base) => build(config, base),
    hostProcess,
  });
}

function build(config: PaymentsConfig, base: ServiceBase<Database>): ServiceParts {
  const { db, vault, recovery, hostProcess } = base;
  const merchant = connectPeer({
    url: config.MERCHANT_URL,
    token: config.RPC_TOKEN_FILE,
    caFile: config.RPC_CA_FILE,
    neighbours: hostProcess.neighbours,
  });
  const merchants = merchant.client(ConnectorService);
  const teams = merchant.client(TeamService);
  const accounts = new Accounts(merchants);
  const keys = new IdempotencyKeys(db, vault, config.IDEMPOTENCY_LEASE_SECONDS);
  const reconcileAfterSeconds = config.RECONCILE_AFTER_SECONDS;
  const connectors = connectorsOf(config, base);
  const readRepair = new ReadRepair({ everyMs: reconcileAfterSeconds * 1_000 }, base.log);
  const driveNow = new Wake();
  const archive = new Archive(base, archivedPayments, config);
  const metrics = paymentsMetrics(hostProcess.registry);
  // The alert fires on a rise.
  for (const connector of connectors.names) metrics.webhooksRefused.inc({ connector }, 0);
  const context = {
    ...base,
    metrics,
    keys,
    accounts,
    connectors,
    merchants,
    reconcileAfterSeconds,
    readRepair,
    driveNow,
    archive,
  };
  const forget = () => accounts.forget();
  const handleEvent = (event: Event) => {
    // Payments caches nothing of the audit log's daily heads.
    if (event.type.startsWith("audit.")) return;
    forget();
    void endUnpaid(context, event);
  };
  return {
    rpc: [
      defineRpc(PaymentsService, paymentsRpc(context)),
      defineRpc(DisputeService, disputesRpc(context)),
      defineRpc(BalanceService, balanceRpc(context)),
      defineRpc(OperatorService, operatorRpc(context)),
      defineRpc(FeeService, feeRpc(context)),
      defineRpc(JournalService, journalRpc(context)),
      defineRpc(LedgerService, ledgerRpc(context)),
      defineRpc(StatementService, statementRpc(context)),
      defineRpc(ReportService, reportsRpc(context)),
      defineRpc(ConnectorAccountService, connectorAccountsRpc(context)),
      defineRpc(PaymentRecoveryService, paymentRecoveryRpc(context)),
      defineRpc(ArchiveService, archiveRpc(context)),
      defineRpc(BuyerDataService, buyerDataRpc({ ...context, keepsCard: config.ERASURE_CARD_DIGITS === "keep" })),
    ],
    teams,
    jobs: [
      listCountsJob(db, bucketStarts),
      { name: "fold-money-days", everyMs: 1_000, runOnce: () => foldMoneyDays(db) },
      ...recovery.pausing([driveOperationsJob(context, driveNow)]),
      ...reconcileJobs(context),
      checkUnexpectedFundsJob(context),
      pollEventsJob({ ...context, eventPollSeconds: config.EVENT_POLL_SECONDS }),
      checkJournalJob({ ...context, findings: journalFindings(db) }),
      matchStatementsJob(context),
      readMovementsJob({ ...context, eventPollSeconds: config.EVENT_POLL_SECONDS }),
      ...makeReportsJobs(context),
      archive.job(),
      { name: "sweep-idempotency-keys", everyMs: 600_000, runOnce: () => keys.sweep() },
      { name: "sweep-dispute-files", everyMs: 3_600_000, runOnce: () => sweepFiles(db) },
      {
        name: "end-fingerprints",
        everyMs: retentionMs,
        runOnce: () => endFingerprints(db, config.RETENTION_CARD_FINGERPRINT_DAYS).then(() => false),
      },
      { name: "sweep-processor-events", everyMs: 3_600_000, runOnce: () => sweepProcessorEvents(db) },
    ],
    listeners: [{ ...liveSubscriptions.connectors, onEvent: handleEvent, onGap: forget }],
    // During a recovery no new payments begin.
    works: () => !recovery.isOn,
    close: async () => {
      merchant.close();
      await connectors.close();
    },
  };
}

function connectorsOf(config: PaymentsConfig, { db, log, hostProcess }: ServiceBase<Database>) {
  const timeoutMs = config.PROCESSOR_TIMEOUT_SECONDS * 1_000;
  const { CIRCUIT_WINDOW_CALLS: windowCalls, CIRCUIT_OPEN_MAX_SECONDS: openMaxSeconds, SIMULATOR_URL: url } = config;
  const circuits = new Circuits(
    { windowCalls, openMaxMs: openMaxSeconds * 1_000, timeoutMs },
    log,
    hostProcess.registry,
  );
  const processors = {
    simulator: url === undefined ? undefined : { url, publicUrl: config.SIMULATOR_PUBLIC_URL ?? url },
    stripeUrl: config.STRIPE_API_URL,
    adyenUrl: config.ADYEN_API_URL,
    notices: new Notices(db),
    timeoutMs,
    keyLifeSeconds: config.ABSENCE_AFTER_SECONDS,
  };
  return createConnectors(processors, circuits);
}
