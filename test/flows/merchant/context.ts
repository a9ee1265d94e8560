// The context of the merchant flows, on a fresh database with the rights of the service.
import { randomBytes } from "node:crypto";
import { register } from "prom-client";
import { Outbox } from "#platform/events/outbox.ts";
import { Wake } from "#platform/process/job.ts";
import { HashKeys, Vault } from "#platform/secrets/vault.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { createMerchant } from "../../../services/merchant/flows/create-merchant.ts";
import { merchantMetrics } from "../../../services/merchant/metrics.ts";
import { ApplicationEntity } from "../../../services/merchant/store/applications.ts";
import { BrandingEntity } from "../../../services/merchant/store/brandings.ts";
import { MappedDatabase } from "../../../services/merchant/store/mapped-database.ts";
import { MerchantEntity } from "../../../services/merchant/store/merchants.ts";
import { freshDatabase } from "../../harness/database.ts";

const profile = { name: "Acme", legalName: "", email: "ops@acme.example", country: "DE", currency: "EUR" };

/** The test closes `db`. */
export async function merchantContext() {
  const { serviceUrl: url } = await freshDatabase("merchant");
  const log = createLog("test", "fatal");
  return {
    db: await MappedDatabase.open({
      url,
      name: "test",
      log,
      entities: [MerchantEntity, BrandingEntity, ApplicationEntity],
    }),
    outbox: new Outbox({ namespace: "test", source: "merchant" }),
    vault: new Vault(new Map([["k1", randomBytes(32)]])),
    log,
    metrics: merchantMetrics(register),
    hashKeys: new HashKeys(new Map([["", randomBytes(32)]])),
    doors: new Map(),
    canMail: false,
    receiptsPerHour: 100,
    provider: undefined,
    mails: new Wake(),
    simulator: { secretKey: "sim_sk_test", webhookSecret: "whsec" },
  };
}

type MerchantContext = Awaited<ReturnType<typeof merchantContext>>;

export async function newMerchant(context: MerchantContext): Promise<string> {
  return (await createMerchant(context, profile)).id;
}
