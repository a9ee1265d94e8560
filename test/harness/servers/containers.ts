// PostgreSQL and NATS in containers, by testcontainers. TEST_POSTGRES_IMAGE and TEST_NATS_IMAGE name other images, for
// machines that cannot pull these.
import pg from "pg";
import type { StartedTestContainer } from "testcontainers";
import { natsConfig } from "../../../deploy/local/nats.ts";
import { eventually } from "../eventually.ts";

const startMsMax = 120_000; // with the images still to be pulled
const stopMs = 2_000; // throw-away data: no need to stop gently
const password = "test";

/** Where the servers in their containers are found. */
export interface ContainerServers {
  databaseUrl: string;
  natsUrl: string;
  stop(): Promise<void>;
}

/** @param engine address of the Docker engine */
export async function startContainers(engine: string): Promise<ContainerServers> {
  process.env.DOCKER_HOST ??= engine;
  const { GenericContainer, Wait } = await import("testcontainers"); // 0.6 s to load: only where it is used
  const postgres = new GenericContainer(process.env.TEST_POSTGRES_IMAGE || "postgres:17.11-alpine")
    .withExposedPorts(5432)
    .withEnvironment({ POSTGRES_PASSWORD: password })
    .withCommand(["postgres", "-c", "fsync=off", "-c", "max_connections=200"])
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/))
    .withStartupTimeout(startMsMax);
  const nats = new GenericContainer(process.env.TEST_NATS_IMAGE || "nats:2.12.15-alpine")
    .withExposedPorts(4222)
    .withCopyContentToContainer([{ content: natsConfig("/tmp/jetstream"), target: "/tmp/nats.conf" }])
    .withCommand(["-c", "/tmp/nats.conf"])
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .withStartupTimeout(startMsMax);
  const [database, broker] = await startBoth(postgres, nats);
  const stop = async () => {
    await Promise.all([database, broker].map((container) => container.stop({ timeout: stopMs })));
  };
  const databaseUrl = `postgres://postgres:${password}@${database.getHost()}:${database.getMappedPort(5432)}/postgres`;
  try {
    await acceptsQueries(databaseUrl);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    databaseUrl,
    natsUrl: `nats://${broker.getHost()}:${broker.getMappedPort(4222)}`,
    stop,
  };
}

/** Both or none: where one does not start, the other is stopped again. */
async function startBoth(...wanted: [Startable, Startable]): Promise<[StartedTestContainer, StartedTestContainer]> {
  const [first, second] = await Promise.allSettled(wanted.map((container) => container.start()));
  if (first?.status === "fulfilled" && second?.status === "fulfilled") return [first.value, second.value];
  for (const result of [first, second])
    if (result?.status === "fulfilled") await result.value.stop({ timeout: stopMs });
  const failed = [first, second].find((result) => result?.status === "rejected");
  throw failed?.status === "rejected" ? failed.reason : new Error("containers did not start");
}

interface Startable {
  start(): Promise<StartedTestContainer>;
}

/** The official image prints "ready" twice, first for its own set-up, which allows no outside connections. */
async function acceptsQueries(databaseUrl: string): Promise<void> {
  await eventually(
    "PostgreSQL in its container to answer",
    async () => {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await client.query("select 1").finally(() => client.end());
      return true;
    },
    { limitMs: startMsMax, everyMs: 100 },
  );
}
