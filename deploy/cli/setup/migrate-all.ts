// Migrates the four databases, the event streams and their consumers to this release. Safe to repeat and to run in
// parallel: an advisory lock per database covers its schema and its service's stream.

import { brokerOf } from "#platform/events/connection.ts";
import { optionalSetting, productionSettings, type Setting } from "#platform/process/config.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { brokerSettings, serviceSettings, streamSettings } from "#platform/service/settings.ts";
import { CertificateRefused, certificateRefusal } from "#platform/values/failure.ts";
import { sources } from "../../../services/services.ts";
import { ensureStreams } from "./ensure-streams.ts";
import { migrateDatabase } from "./migrate-database.ts";

/** Roles are named after their services. */
const roleNames: Setting<string> = {
  parse: (raw) => {
    if (!raw.includes("{service}")) throw new Error("must contain {service}, the placeholder of the service's name");
    return raw;
  },
};

// The owner's role, directly at PostgreSQL: the session's advisory lock does not work through a pooler in transaction
// mode.
const databaseUrl = serviceSettings.DATABASE_URL;

export const migrateSettings = {
  CHECKOUT_DATABASE_URL: databaseUrl,
  PAYMENTS_DATABASE_URL: databaseUrl,
  MERCHANT_DATABASE_URL: databaseUrl,
  WEBHOOK_DATABASE_URL: databaseUrl,
  // The services' roles, such as `{service}_service`; absent: services log in as the tables' owners, without grants.
  SERVICE_ROLES: optionalSetting(roleNames),
  ...brokerSettings,
  ...streamSettings,
  ...productionSettings,
} as const;

/**
 * @returns a line per service
 * @param remake consumers to delete and create, such as `payments/webhook-fan-out`
 */
export async function migrateAll(
  env: Readonly<Record<string, string | undefined>>,
  remake: readonly string[] = [],
): Promise<string[]> {
  const config = readProductionConfig(migrateSettings, env);
  const streams = {
    broker: brokerOf(config),
    namespace: config.NATS_NAMESPACE,
    replicas: config.NATS_REPLICAS,
    gib: config.NATS_STREAM_GIB,
    ackWaitSeconds: config.EVENT_ACK_WAIT_SECONDS,
    remake,
  };
  const databases = {
    checkout: config.CHECKOUT_DATABASE_URL,
    payments: config.PAYMENTS_DATABASE_URL,
    merchant: config.MERCHANT_DATABASE_URL,
    webhook: config.WEBHOOK_DATABASE_URL,
  };
  const lines: string[] = [];
  for (const service of sources) {
    const whileLocked = () =>
      explained("NATS_URL", config.NATS_CA_FILE, () => ensureStreams({ ...streams, only: [service] }));
    const serviceRole = config.SERVICE_ROLES?.replaceAll("{service}", service);
    const databaseUrl = databases[service];
    const authority = new URL(databaseUrl).searchParams.get("sslrootcert") ?? undefined;
    const { applied } = await explained(`${service.toUpperCase()}_DATABASE_URL`, authority, () =>
      migrateDatabase({ databaseUrl, service, serviceRole, whileLocked }),
    );
    const schema = applied.length === 0 ? "the schema is up to date" : `applied ${applied.join(", ")}`;
    const rights = serviceRole === undefined ? "" : `${serviceRole} has its rights; `;
    lines.push(`${service}: ${schema}; ${rights}the event stream exists`);
  }
  if (config.SERVICE_ROLES === undefined)
    lines.push("no rights granted: SERVICE_ROLES is not set, so services log in as the owners of the tables");
  return lines;
}

/** Adds the setting's name to a certificate error. */
async function explained<T>(setting: string, authority: string | undefined, work: () => Promise<T>): Promise<T> {
  return await work().catch((error: unknown) => {
    const refusal = error instanceof CertificateRefused ? undefined : certificateRefusal(error);
    throw refusal ? new CertificateRefused(setting, authority, refusal, error) : error;
  });
}
