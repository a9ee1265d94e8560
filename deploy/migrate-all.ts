// Brings the four databases, the event streams and their consumers to this release. It may run again and any
// number of times at once: each database's advisory lock covers its schema and the stream that its service announces on.
import { brokerOf } from "#platform/broker-connection.ts";
import { brokerSettings, integer, optional, type Setting, serviceSettings, withDefault } from "#platform/config.ts";
import { migrate } from "#platform/migrate.ts";
import { productionSettings, readProductionConfig } from "#platform/production.ts";
import { ensureStreams, sources } from "#platform/streams.ts";

/** Roles are named after their services. */
const roleNames: Setting<string> = {
  parse: (raw) => {
    if (!raw.includes("{service}")) throw new Error("must contain {service}, which stands for the service's name");
    return raw;
  },
};

// A role that may change tables, straight at PostgreSQL: the lock is the session's, which a pooler in transaction mode breaks.
// It owns what it makes.
const databaseUrl = serviceSettings.DATABASE_URL;

export const migrateSettings = {
  CHECKOUT_DATABASE_URL: databaseUrl,
  PAYMENTS_DATABASE_URL: databaseUrl,
  MERCHANT_DATABASE_URL: databaseUrl,
  WEBHOOK_DATABASE_URL: databaseUrl,
  // What the services log in as, `{service}_service` for example; absent: they log in as the tables' owners, and nothing is granted.
  SERVICE_ROLES: optional(roleNames),
  ...brokerSettings,
  // Copies of each stream: 1 on a single server, 3 or 5 in a cluster.
  NATS_REPLICAS: withDefault(integer(1, 5), 1),
  ...productionSettings,
} as const;

/** Everything that is missing; says what it did, a line for each service. */
export async function migrateAll(env: Readonly<Record<string, string | undefined>>): Promise<string[]> {
  const config = readProductionConfig(migrateSettings, env);
  const streams = { broker: brokerOf(config), namespace: config.NATS_NAMESPACE, replicas: config.NATS_REPLICAS };
  const databases = {
    checkout: config.CHECKOUT_DATABASE_URL,
    payments: config.PAYMENTS_DATABASE_URL,
    merchant: config.MERCHANT_DATABASE_URL,
    webhook: config.WEBHOOK_DATABASE_URL,
  };
  const lines: string[] = [];
  for (const service of sources) {
    const whileLocked = () => ensureStreams({ ...streams, only: [service] });
    const serviceRole = config.SERVICE_ROLES?.replaceAll("{service}", service);
    const { applied } = await migrate({ databaseUrl: databases[service], service, serviceRole, whileLocked });
    const schema = applied.length === 0 ? "the schema is up to date" : `applied ${applied.join(", ")}`;
    const rights = serviceRole === undefined ? "" : `${serviceRole} has its rights; `;
    lines.push(`${service}: ${schema}; ${rights}the event stream is in place`);
  }
  if (config.SERVICE_ROLES === undefined)
    lines.push("no rights granted: SERVICE_ROLES is not set, so services log in as the owners of the tables");
  return lines;
}
