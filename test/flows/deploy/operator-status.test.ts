// `tollbooth status services` against a service whose relay hangs while every request is answered.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { Database } from "#platform/database/database.ts";
import { EventBus } from "#platform/events/event-bus.ts";
import { EventSeal } from "#platform/events/event-keys.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { type JobContext, JobWatch, startJobs } from "#platform/process/job.ts";
import { type RpcServer, serveRpc } from "#platform/rpc/server.ts";
import { randomToken } from "#platform/secrets/vault.ts";
import { operatorRpc } from "#platform/service/operator-rpc.ts";
import { Recovery } from "#platform/service/recovery.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { ensureStreams } from "../../../deploy/cli/setup/ensure-streams.ts";
import { freshDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { sharedInfra } from "../../harness/infra.ts";
import { trustingOnly } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const test = suite("tollbooth status of a running service", { timeoutMs: 90_000 });
const log = createLog("test", "silent");
const token = randomToken(32);
const watch = new JobWatch(new Registry());
const service = "payments";
let db: Database;
let bus: EventBus;
let server: RpcServer;
let env: NodeJS.ProcessEnv;

test.before(async () => {
  const { natsUrl } = await sharedInfra();
  const namespace = `t${randomBytes(4).toString("hex")}`;
  await ensureStreams({ broker: { url: natsUrl }, namespace, only: [service] });
  db = await Database.open({ url: (await freshDatabase(service)).serviceUrl, name: "test", log });
  const keys = new Map([["k1", randomBytes(32)]]);
  const seal = new EventSeal(keys);
  bus = new EventBus({ broker: { url: natsUrl }, seal, namespace, name: "test", log });
  await eventually("the broker to answer", () => bus.connected);
  const recovery = await Recovery.begin({ service, db, bus, seal, log });
  const rpc = operatorRpc({ service, db, bus, keyId: "k1", watch }, recovery);
  server = await serveRpc({ port: 0, host: "127.0.0.1", trusted: trustingOnly(token), log, rpc });
  const path = join(await tempDir("operator"), "token");
  await writeFile(path, token);
  // All addresses point to the one service.
  const url = `http://127.0.0.1:${server.port}`;
  const addresses = { CHECKOUT_URL: url, PAYMENTS_URL: url, MERCHANT_URL: url, WEBHOOK_URL: url };
  env = { ...process.env, RPC_TOKEN_FILE: path, ...addresses };
});
test.after(async () => {
  await server?.close();
  await bus?.close();
  await db?.close();
});

interface CommandResult {
  readonly code: number;
  readonly rows: Record<string, unknown>[];
  readonly remark: string;
}

function statusOfServices(): Promise<CommandResult> {
  const script = join(import.meta.dirname, "../../../deploy/cli/main.ts");
  return new Promise((resolve) => {
    const words = [script, "status", "services", "--json"];
    const child = execFile(process.execPath, words, { env, timeout: 60_000 }, (_, text, remark) =>
      resolve({ code: child.exitCode ?? -1, rows: text.startsWith("[") ? JSON.parse(text) : [], remark }),
    );
  });
}

test("exits with 0 while jobs run and nothing waits", async () => {
  const jobs = startJobs([{ name: "relay-outbox", everyMs: 250, runOnce: async () => false }], log, watch);
  const { code, rows, remark } = await statusOfServices();
  await jobs.stop();
  assert.equal(code, 0, remark);
  assert.deepEqual(
    [rows[0]?.process, rows[0]?.takes_writes, rows[0]?.jobs],
    [`${hostname()}/${process.pid}`, true, []],
  );
});

test("a hanging relay and a waiting outbox are reported with their process, and it exits with 1", async () => {
  let release = () => {};
  const held = new Promise<boolean>((resolve) => (release = () => resolve(false)));
  const relay: JobContext = { name: "relay-outbox", everyMs: 250, limitMs: 3_000, runOnce: () => held };
  const jobs = startJobs([relay], log, watch, () => {});
  const about = { merchantId: "mer_1", environment: Environment.SANDBOX, objectId: "pay_1", status: "succeeded" };
  await new Outbox({ namespace: bus.namespace, source: service }).append(db, [
    { type: "payment.succeeded", ...about, at: new Date() },
  ]);
  await db.rows("update outbox set created_at = now() - interval '2 minutes'");
  const status = await eventually("the run to be too long", async () => {
    const now = await statusOfServices();
    // Four services are queried in turn while the run becomes too long.
    return /^checkout.* hangs/m.test(now.remark) && now;
  });
  release();
  await jobs.stop();
  assert.equal(status.code, 1);
  const who = `checkout (${hostname()}/${process.pid})`.replace(/[/().]/g, "\\$&");
  assert.match(status.remark, new RegExp(`^${who}: 1 events wait in its outbox, the oldest for 1\\d\\d s`, "m"));
  assert.match(
    status.remark,
    new RegExp(`^${who}: job relay-outbox hangs: it has run for \\d+ s, and the process exits at 3 s`, "m"),
  );
  assert.match(String(status.rows[0]?.jobs), /^relay-outbox hangs/);
});

test.run();
