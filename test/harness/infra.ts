// PostgreSQL and NATS for tests: in containers where a Docker engine answers, else the embedded servers of `npm start`.
// One pair for a whole run: the runner starts it and names it in the environment; a test file run alone has its own.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { freePort } from "../../deploy/local/free-port.ts";
import { startNats } from "../../deploy/local/nats.ts";
import { findNatsServer } from "../../deploy/local/nats-binary.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import { startContainers } from "./servers/containers.ts";
import { dockerEngine } from "./servers/docker.ts";
import { tempDir } from "./temp-dir.ts";

/** Running servers. */
export interface Infra {
  kind: "given" | "containers" | "embedded";
  /** Superuser URL; tests make databases of their own, see database.ts. */
  databaseUrl: string;
  natsUrl: string;
  /** Ends the servers; the given ones stay. */
  stop(): Promise<void>;
}

const backends = ["containers", "embedded"] as const;

let shared: Promise<Infra> | undefined;

/** The servers of this run, started at the first call and stopped when the test file ends. */
export function sharedInfra(): Promise<Infra> {
  shared ??= inheritedInfra() ?? ownInfra();
  return shared;
}

/** The servers that the runner passes on to its test files. */
function inheritedInfra(): Promise<Infra> | undefined {
  const { TEST_DATABASE_URL: databaseUrl, TEST_NATS_URL: natsUrl } = process.env;
  if (!databaseUrl || !natsUrl) return undefined;
  return Promise.resolve({ kind: "given", databaseUrl, natsUrl, stop: async () => {} });
}

async function ownInfra(): Promise<Infra> {
  const own = await startInfra();
  process.once("beforeExit", () => void own.stop());
  return own;
}

/** The environment that makes `infra()` in another process answer with these servers. */
export function infraEnvironment(running: Infra): Record<string, string> {
  return { TEST_DATABASE_URL: running.databaseUrl, TEST_NATS_URL: running.natsUrl };
}

/**
 * Starts a pair of servers. TEST_BACKEND chooses: `containers` fails without a Docker engine, `embedded` uses none,
 * unset takes containers where they work.
 * @param warn called when containers were expected to work and did not
 */
export async function startInfra(warn: (line: string) => void = console.warn): Promise<Infra> {
  const wanted = process.env.TEST_BACKEND || undefined;
  if (wanted !== undefined && !backends.some((backend) => backend === wanted)) {
    throw new Error(`TEST_BACKEND must be one of ${backends.join(", ")}`);
  }
  if (wanted === "embedded") return startEmbedded();
  const engine = await dockerEngine();
  if (wanted === "containers") {
    if (!engine) throw new Error("TEST_BACKEND=containers, but no Docker engine answers");
    return inContainers(engine);
  }
  if (!engine) return startEmbedded();
  return inContainers(engine).catch((error: Error) => {
    warn(`containers do not start (${error.message.split("\n")[0]}): using the embedded servers`);
    return startEmbedded();
  });
}

async function inContainers(engine: string): Promise<Infra> {
  return { kind: "containers", ...(await startContainers(engine)) };
}

const password = "test";
/**
 * The server has a thousand databases at the end of a run, and most are used for seconds: to visit each of them once a
 * minute kept a worker busy all the time. A password that everybody knows needs no 4,096 rounds at each connection.
 */
const settings = { autovacuum_naptime: "10min", scram_iterations: "1" };

async function startEmbedded(): Promise<Infra> {
  const home = await tempDir("test");
  const program = await findNatsServer();
  const keepsParentAlive = false;
  const [postgres, nats] = await Promise.all([
    startPostgres({ home, port: await freePort(), password, isDurable: false, settings, keepsParentAlive }),
    startNats({ program: program.path, storeDir: join(home, "nats"), port: await freePort(), keepsParentAlive }),
  ]);
  await setPassword(postgres.url);
  return {
    kind: "embedded",
    databaseUrl: postgres.url,
    natsUrl: nats.url,
    async stop() {
      await Promise.all([postgres.stop(), nats.stop()]);
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The same one again, now with few rounds. */
async function setPassword(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`alter role postgres password '${password}'`);
  await client.end();
}
