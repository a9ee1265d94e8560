// A stack with a shop under a real Prometheus, with the project's alert rules on shortened intervals, and the means by
// which drills disturb it.
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { databaseUrlOf } from "../../../deploy/local/databases.ts";
import type { RunningStack } from "../../../deploy/local/running-stack.ts";
import { stackSecrets } from "../../../deploy/local/state/secrets.ts";
import { type Api, merchantApi } from "../../harness/api.ts";
import { eventually } from "../../harness/eventually.ts";
import { type FalseClocks, falseClocks } from "../../harness/false-clock.ts";
import { alertRules } from "../../harness/files/alert-rules.ts";
import { payInFrame } from "../../harness/pay.ts";
import { type Receiver, startReceiver } from "../../harness/receiver.ts";
import { type NatsCluster, startNatsCluster } from "../../harness/servers/nats-cluster.ts";
import { inFastMotion, type Prometheus, startPrometheus } from "../../harness/servers/prometheus.ts";
import { startTestStack, type TestStackOptions } from "../../harness/stack.ts";
import { tempDir } from "../../harness/temp-dir.ts";
import { processorApi } from "../money-rig.ts";

const root = join(import.meta.dirname, "../../..");
export const rulesText = alertRules("tollbooth");

export interface AlarmRig {
  readonly running: RunningStack;
  readonly prometheus: Prometheus;
  /** Of the sandbox merchant, with every scope. */
  readonly shop: Api;
  /** Its webhook endpoint; registered when `listen` was called. */
  readonly receiver: Receiver;
  /** As the merchant's account there, with the test controls. */
  readonly processor: Api;
  /** Of payments. */
  readonly clocks: FalseClocks;
  /** The three brokers; undefined: the stack has one, of its own. */
  readonly brokers: NatsCluster | undefined;
  /** As the owner of the database, whom nothing is forbidden and no time limits. */
  client(service: string): Promise<pg.PoolClient>;
  sql<Row extends object = Record<string, unknown>>(service: string, text: string, values?: unknown[]): Promise<Row[]>;
  /** Registers the receiver, once, for payments that succeed. */
  listen(): Promise<void>;
  /** A session, paid and confirmed. @returns the payment's id */
  paid(): Promise<string>;
  /** `npm run tollbooth -- …`. @returns what it prints as JSON. @throws when it refuses. */
  operator(...words: string[]): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

export const order = { amount: 1_050, currency: "EUR" };

/** @param isClustered three brokers with a copy of each stream; else one, with identities */
export async function startAlarmRig({ isClustered = false } = {}): Promise<AlarmRig> {
  const [dir, stateDir] = [await tempDir("alarms"), await tempDir("state")];
  const clocks = falseClocks(dir, ["payments"]);
  const brokers = isClustered ? await startNatsCluster(dir, stateDir) : undefined;
  const options: TestStackOptions = {
    ownServers: true,
    clocks,
    ...(brokers && { natsUrl: `nats://127.0.0.1:${brokers.port()}`, natsKnowsUs: true, streamReplicas: 3 }),
    stateDir,
    // Lists are read oftener, so that a drill takes seconds; and drills come from addresses that they choose.
    env: { EVENT_POLL_SECONDS: "5", TRUST_PROXY: "1" },
  };
  const running = await startTestStack(options);
  await running.openConsoles();
  const { stack } = running;
  const receiver = await startReceiver(stack.tls);
  const prometheus = await startPrometheus(stack.admin, inFastMotion(rulesText), { checkout: 5 });
  await isReading(prometheus, Object.keys(stack.admin).length);
  const shop = merchantApi(stack.gateway, stack.api_key);
  const account = (await shop.get("/v1/merchants/me/connectors")).expect(200).text("data.0.external_account_id");
  const { simulatorSecretKey } = await stackSecrets(stateDir);
  const pools = new Map<string, pg.Pool>();
  const poolOf = (service: string) => {
    const known = pools.get(service) ?? openPool(databaseUrlOf(stack.database, service));
    pools.set(service, known);
    return known;
  };
  let listening: Promise<unknown> | undefined;
  return {
    running,
    prometheus,
    shop,
    receiver,
    processor: processorApi(running, simulatorSecretKey, account),
    clocks,
    brokers,
    client: (service) => poolOf(service).connect(),
    sql: async (service, text, values) => (await poolOf(service).query(text, values)).rows,
    listen: async () => {
      const endpoint = { url: receiver.url, event_types: ["payment.succeeded"] };
      listening ??= shop.post("/v1/merchants/me/webhooks", endpoint).then((answer) => answer.expect(201));
      await listening;
    },
    paid: async () => {
      const made = (await shop.post("/v1/checkout-sessions", order)).expect(201);
      await payInFrame(made.text("render.frame_url"));
      const confirm = `/v1/checkout/${made.text("id")}/confirm?secret=${made.text("session_secret")}`;
      return (await shop.post(confirm)).expect(200).text("payment_id");
    },
    operator: async (...words) => {
      const env = { ...process.env, STATE_DIR: stateDir };
      const args = ["deploy/cli/main.ts", ...words, "--json"];
      return JSON.parse((await promisify(execFile)(process.execPath, args, { cwd: root, env })).stdout);
    },
    stop: async () => {
      await prometheus.stop();
      for (const pool of pools.values()) await pool.end();
      await receiver.close();
      await running.stop();
      await brokers?.stop();
      for (const folder of [dir, stateDir]) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Every process was read, so that what rises from now on was seen before it rose. */
async function isReading(prometheus: Prometheus, count: number): Promise<void> {
  const read = "count(count_over_time((up == 1)[1m:1s]) > 2)";
  await eventually("every process to be read", async () => (await prometheus.query(read))[0]?.value === count);
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString });
  // Drills stop the server, too.
  pool.on("error", () => {});
  return pool;
}
