// Wires the merchant service by hand: what main.ts starts and tests build from.

import { brokerOf } from "#platform/broker-connection.ts";
import type { Configured } from "#platform/config.ts";
import { EncryptionCount } from "#platform/encryption-count.ts";
import { EventBus } from "#platform/event-bus.ts";
import { HashKeys } from "#platform/hash-keys.ts";
import { startJobs } from "#platform/job.ts";
import { createLog } from "#platform/log.ts";
import { MappedDatabase } from "#platform/mapped-database.ts";
import { awaitSchema } from "#platform/migrate.ts";
import type { Opened } from "#platform/open-keys.ts";
import { Outbox, outboxJobs } from "#platform/outbox.ts";
import { type RunningService, serveRpc } from "#platform/rpc-server.ts";
import { Vault } from "#platform/secret.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import { auditRpc } from "./audit-rpc.ts";
import { checkAuditChainJob } from "./jobs/check-audit-chain.ts";
import { ensureRequestDays, keepRequestDaysJob } from "./jobs/keep-request-days.ts";
import { auditConsumers } from "./jobs/record-audit.ts";
import { merchantRoutes, merchantServices } from "./rpc.ts";
import type { merchantSettings } from "./settings.ts";
import { ApplicationEntity, sweepDrafts } from "./store/applications.ts";
import { BrandingEntity, SandboxBrandingEntity } from "./store/brandings.ts";
import { MerchantEntity } from "./store/merchants.ts";
import { SandboxProfileEntity } from "./store/sandbox-profiles.ts";

export async function startMerchant(config: Opened<Configured<typeof merchantSettings>>): Promise<RunningService> {
  const log = createLog("merchant", config.LOG_LEVEL);
  const entities = [MerchantEntity, SandboxProfileEntity, BrandingEntity, SandboxBrandingEntity, ApplicationEntity];
  const db = await MappedDatabase.open({ url: config.DATABASE_URL, name: "merchant", log, entities });
  await awaitSchema(db, "merchant", log);
  const encryptions = await EncryptionCount.begin(db, config.ENCRYPTION_KEYS);
  const bus = new EventBus({
    broker: brokerOf(config),
    keys: config.EVENT_KEYS_FILE,
    namespace: config.NATS_NAMESPACE,
    name: "merchant",
    log,
  });
  const outbox = new Outbox({ namespace: config.NATS_NAMESPACE, source: "merchant" });
  const context = {
    db,
    outbox,
    vault: new Vault(config.ENCRYPTION_KEYS, encryptions),
    log,
    hashKeys: new HashKeys(config.HASH_KEY),
    simulator: { secretKey: config.SIMULATOR_SECRET_KEY, webhookSecret: config.SIMULATOR_WEBHOOK_SECRET },
  };
  await ensureRequestDays(db, Date.now());
  const server = await serveRpc({
    port: config.PORT,
    host: config.HOST,
    trusted: config.RPC_CALLERS_FILE,
    log,
    status: { service: "merchant", db, bus, encryptions },
    services: [...merchantServices, AuditService],
    routes: (router) => {
      merchantRoutes(context)(router);
      router.service(AuditService, auditRpc(db));
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
      keepRequestDaysJob(db),
      checkAuditChainJob({ db, outbox, log }),
      { name: "sweep-drafts", everyMs: 3_600_000, runOnce: () => sweepDrafts(db) },
    ],
    log,
  );
  for (const consumer of auditConsumers(db)) bus.consume(consumer);
  return {
    port: server.port,
    ready: () => server.health.serving(),
    stop: async (drain) => {
      await server.close(drain);
      await jobs.stop();
      await bus.close();
      await db.close();
    },
  };
}
