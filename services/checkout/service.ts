// Wires the checkout service, for main.ts and tests.
import { Database } from "#platform/database/database.ts";
import { IdempotencyKeys } from "#platform/database/idempotency.ts";
import { sweepInbox } from "#platform/events/inbox.ts";
import { listCountsJob } from "#platform/lists/list-counts.ts";
import type { ConfigValues } from "#platform/process/config.ts";
import { ownHost } from "#platform/process/host.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { defineRpc } from "#platform/rpc/server.ts";
import type { OpenedConfig } from "#platform/secrets/open-keys.ts";
import { HashKeys } from "#platform/secrets/vault.ts";
import { ReadRepair } from "#platform/service/read-repair.ts";
import { type RunningService, type ServiceBase, type ServiceParts, startService } from "#platform/service/service.ts";
import { TeamService } from "#proto/access/v1/teams_pb.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { PaymentLinkService } from "#proto/checkout/v1/links_pb.ts";
import { PrivacyService } from "#proto/checkout/v1/privacy_pb.ts";
import { SessionRecoveryService } from "#proto/checkout/v1/recovery_pb.ts";
import { RiskService } from "#proto/checkout/v1/risk_pb.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { ReceiptService } from "#proto/merchant/v1/receipts_pb.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { BuyerDataService } from "#proto/payments/v1/privacy_pb.ts";
import { PaymentRecoveryService } from "#proto/payments/v1/recovery_pb.ts";
import { ArchiveService } from "#proto/status/v1/archive_pb.ts";
import { Archive } from "../archive/archive.ts";
import { archiveRpc } from "../archive/archive-rpc.ts";
import { liveSubscriptions } from "../services.ts";
import { continueErasure } from "./flows/buyers/erase-buyer.ts";
import { archivedSessions } from "./flows/read-session.ts";
import { staleAfterMs } from "./flows/refresh-session.ts";
import { expireSessionsJob } from "./jobs/expire-sessions.ts";
import { followPayments } from "./jobs/follow-payments.ts";
import { sendReceipts } from "./jobs/send-receipts.ts";
import { checkoutMetrics } from "./metrics.ts";
import { RiskRules } from "./risk/rules-cache.ts";
import { checkoutRpc } from "./rpc/checkout.ts";
import { paymentLinksRpc } from "./rpc/payment-links.ts";
import { privacyRpc } from "./rpc/privacy.ts";
import { riskRpc } from "./rpc/risk.ts";
import { sessionRecoveryRpc } from "./rpc/session-recovery.ts";
import type { checkoutSettings } from "./settings.ts";
import { deleteUnpaidSessions } from "./store/retention.ts";
import { sweepAttempts } from "./store/risk-attempts.ts";
import { sweepDecisions } from "./store/risk-decisions.ts";

type CheckoutConfig = OpenedConfig<ConfigValues<typeof checkoutSettings>>;

// Batches of 1,000: 100 sessions a second, so that the first runs on a large table do not slow down buyers.
const retentionMs = 10_000;

export function startCheckout(config: CheckoutConfig, hostProcess = ownHost): Promise<RunningService> {
  return startService({
    name: "checkout",
    config,
    open: (pool) => Database.open(pool),
    build: (base) => build(config, base),
    hostProcess,
  });
}

function build(config: CheckoutConfig, base: ServiceBase<Database>): ServiceParts {
  const { db, log, vault, recovery, hostProcess } = base;
  const { RPC_TOKEN_FILE: token, RPC_CA_FILE: caFile, MERCHANT_URL: merchantUrl } = config;
  const peer = (url: string) => connectPeer({ url, token, caFile, neighbours: hostProcess.neighbours });
  const payments = peer(config.PAYMENTS_URL);
  const merchant = merchantUrl === undefined ? undefined : peer(merchantUrl);
  const keys = new IdempotencyKeys(db, vault, config.IDEMPOTENCY_LEASE_SECONDS);
  const riskRules = new RiskRules(db);
  const forgetRules = () => riskRules.forget();
  const context = {
    ...base,
    metrics: checkoutMetrics(hostProcess.registry),
    keys,
    hashKeys: new HashKeys(config.HASH_KEY),
    riskRules,
    readRepair: new ReadRepair({ everyMs: staleAfterMs }, log),
    payments: payments.client(PaymentsService),
    merchants: merchant?.client(MerchantService),
    receipts: merchant?.client(ReceiptService),
    checkoutOrigin: config.CHECKOUT_ORIGIN,
    buyerData: payments.client(BuyerDataService),
    copiesDays: config.BACKUP_DAYS,
    archive: new Archive(base, archivedSessions, config),
  };
  const lostPayments = payments.client(PaymentRecoveryService);
  const teams = merchant?.client(TeamService);
  return {
    rpc: [
      defineRpc(CheckoutService, checkoutRpc(context)),
      defineRpc(PaymentLinkService, paymentLinksRpc(context)),
      defineRpc(RiskService, riskRpc(context)),
      defineRpc(ArchiveService, archiveRpc(context)),
      defineRpc(PrivacyService, privacyRpc(context)),
      defineRpc(SessionRecoveryService, sessionRecoveryRpc({ ...context, lostPayments })),
    ],
    teams,
    jobs: [
      listCountsJob(db),
      expireSessionsJob(context),
      context.archive.job(),
      { name: "erase-buyers", everyMs: 10_000, runOnce: () => continueErasure(context) },
      { name: "sweep-idempotency-keys", everyMs: 600_000, runOnce: () => keys.sweep() },
      { name: "sweep-risk-attempts", everyMs: 3_600_000, runOnce: () => sweepAttempts(db) },
      { name: "sweep-risk-decisions", everyMs: 3_600_000, runOnce: () => sweepDecisions(db) },
      {
        name: "delete-unpaid-sessions",
        everyMs: retentionMs,
        runOnce: () => deleteUnpaidSessions(db, config.RETENTION_UNPAID_SESSION_DAYS).then(() => false),
      },
      { name: "sweep-inbox", everyMs: 3_600_000, runOnce: () => sweepInbox(db) },
    ],
    consumers: [followPayments(context), ...sendReceipts(context)],
    listeners: [{ ...liveSubscriptions.riskRules, onEvent: forgetRules, onGap: forgetRules }],
    // During a recovery no new sessions begin.
    works: () => !recovery.isOn,
    close: () => {
      payments.close();
      merchant?.close();
    },
  };
}
