// `npm run migrate`: brings one service's database and the event streams to this release. Safe to run by any number of replicas at
// once and again. Settings: SERVICE (checkout, payments, merchant or webhook), DATABASE_URL, NATS_URL, NATS_NAMESPACE, NATS_REPLICAS.
import {
  ConfigError,
  commonSettings,
  integer,
  oneOf,
  readConfig,
  serviceSettings,
  withDefault,
} from "#platform/config.ts";
import { migrate } from "#platform/migrate.ts";
import { ensureStreams } from "#platform/streams.ts";

try {
  const config = readConfig({
    SERVICE: oneOf("checkout", "payments", "merchant", "webhook"),
    DATABASE_URL: serviceSettings.DATABASE_URL,
    NATS_URL: commonSettings.NATS_URL,
    NATS_NAMESPACE: commonSettings.NATS_NAMESPACE,
    NATS_REPLICAS: withDefault(integer(1, 5), 1),
  });
  const { applied } = await migrate({ databaseUrl: config.DATABASE_URL, service: config.SERVICE });
  console.log(applied.length === 0 ? "the schema is up to date" : `applied ${applied.join(", ")}`);
  await ensureStreams({ natsUrl: config.NATS_URL, namespace: config.NATS_NAMESPACE, replicas: config.NATS_REPLICAS });
  console.log("the event streams are in place");
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(1);
}
