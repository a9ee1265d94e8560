// Dependencies of the payments flows and jobs, for tests that call one while the services run.
import { register } from "prom-client";
import { Database } from "#platform/database/database.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { ConnectorService } from "#proto/merchant/v1/merchant_pb.ts";
import { Archive } from "../../../services/archive/archive.ts";
import { Circuits } from "../../../services/payments/connectors/circuit.ts";
import { createConnectors } from "../../../services/payments/connectors/registry.ts";
import { Accounts } from "../../../services/payments/flows/accounts/ask-processor.ts";
import { archivedPayments } from "../../../services/payments/flows/restore-archived.ts";
import type { VerifyDeps } from "../../../services/payments/flows/verify-intent.ts";
import { paymentsMetrics } from "../../../services/payments/metrics.ts";
import { Notices } from "../../../services/payments/store/processor/notices.ts";
import { type MoneyServices, noArchive } from "../../harness/payments/money-services.ts";

/** @param reconcileAfterSeconds when the reconcile job first checks an operation */
export async function paymentsDeps(
  services: MoneyServices,
  reconcileAfterSeconds: number,
): Promise<VerifyDeps & { stop(): Promise<void> }> {
  const log = createLog("test", "silent");
  const db = await Database.open({ url: services.paymentsDatabaseUrl, name: "test", log });
  const merchant = connectPeer({ url: services.urls.merchant, token: services.settings.RPC_TOKEN });
  const processors = {
    simulator: { url: services.processorUrl, publicUrl: services.processorUrl },
    stripeUrl: "http://127.0.0.1:9",
    adyenUrl: "http://127.0.0.1:9",
    notices: new Notices(db),
    timeoutMs: 5_000,
    keyLifeSeconds: 86_400,
  };
  const circuits = new Circuits({ windowCalls: 1_000, openMaxMs: 1_000, timeoutMs: 5_000 }, log);
  return {
    db,
    outbox: new Outbox({ namespace: services.settings.NATS_NAMESPACE, source: "payments" }),
    reconcileAfterSeconds,
    log,
    metrics: paymentsMetrics(register),
    accounts: new Accounts(merchant.client(ConnectorService)),
    connectors: createConnectors(processors, circuits),
    archive: new Archive({ db, log }, archivedPayments, noArchive),
    stop: async () => {
      merchant.close();
      await db.close();
    },
  };
}
