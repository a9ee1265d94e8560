// The followers of docs/internal-api while everything between an event and its reader restarts: the service that
// publishes, the one that lists, and the broker. Their output is compared with the committed events.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { type Announcement, Outbox } from "#platform/events/outbox.ts";
import { newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { freePort } from "../../deploy/local/free-port.ts";
import { natsUrl, startNats } from "../../deploy/local/nats.ts";
import { findNatsServer } from "../../deploy/local/nats-binary.ts";
import { createSupervisor } from "../../deploy/local/process/supervisor.ts";
import { openDatabase } from "../harness/database.ts";
import { eventually } from "../harness/eventually.ts";
import { type Cluster, startCluster, thisRelease } from "../harness/servers/pods.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const test = suite("follow events", { timeoutMs: 300_000, hookTimeoutMs: 120_000 });
const total = 10_000;
const paymentsCount = 25;
const perCommit = 50;
const commitEveryMs = 200;
const catchUpMsMax = 90_000;

const broker = createSupervisor(
  () => {},
  () => {},
);
let cluster: Cluster | undefined;

test.before(async () => {
  const [port, home] = [await freePort(), await tempDir("nats")];
  const { path: program, version } = await findNatsServer();
  const start = () => startNats({ program, version, storeDir: join(home, "nats"), port });
  await broker.start({ name: "nats", start });
  cluster = await startCluster(1, thisRelease, natsUrl({ port }));
});
test.after(async () => {
  await cluster?.stop();
  await broker.stop("nats");
});

const programs = [
  [process.execPath, "docs/internal-api/watch-events.ts"],
  ["python3", "docs/internal-api/watch_events.py"],
  ["go", "run", "docs/internal-api/watch_events.go"],
] as const;

test(`the followers of the docs print ${total} events once each, a payment's in order, over rollouts and kills of the services and the broker`, async () => {
  assert.ok(cluster);
  const { rpc, rpcFiles } = cluster;
  const env = { TOLLBOOTH_EVENTS_URL: rpc.webhook, TOLLBOOTH_TOKEN_FILE: rpcFiles.tokens.reader };
  const followers = programs.flatMap((words) => {
    const isHere = !spawnSync(words[0], [words[0] === "go" ? "version" : "--version"]).error;
    if (!isHere) console.log(`  not run: ${words.at(-1)}`);
    return isHere ? [follow(words, env)] : [];
  });
  try {
    await disturb(cluster);
    const expected = await expectedLines(cluster);
    for (const { name, lines, ended } of followers) {
      const isComplete = () => lines.length >= total;
      await Promise.race([eventually(`${name} to print all`, isComplete, { limitMs: catchUpMsMax }), ended]);
      assert.deepEqual(lines, expected, name);
    }
  } finally {
    for (const { stop } of followers) await stop();
  }
});

async function disturb(cluster: Cluster): Promise<void> {
  const writer = startWriter(cluster);
  await writer.until(0.1);
  await Promise.all([cluster.roll("webhook"), cluster.roll("payments"), cluster.roll("merchant")]);
  await writer.until(0.3);
  await cluster.kill("webhook");
  await writer.until(0.5);
  await broker.kill9("nats");
  await writer.until(0.7);
  await cluster.kill("payments");
  await writer.until(0.85);
  await Promise.all([cluster.kill("webhook"), broker.kill9("nats")]);
  await writer.end();
}

/** Runs a follower and keeps the lines that it prints. */
function follow([command, ...args]: readonly [string, ...string[]], where: Record<string, string>) {
  const child = spawn(command, args, { env: { ...process.env, ...where }, detached: true });
  const lines: string[] = [];
  let [rest, problem, isStopped] = ["", "", false];
  child.stdout.on("data", (text) => {
    const parts = `${rest}${text}`.split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  child.stderr.on("data", (text) => (problem = `${text}`));
  const name = `${args.at(-1)}`;
  const ended = new Promise<void>((resolve, reject) => {
    child.once("close", (code) =>
      isStopped ? resolve() : reject(new Error(`${name}: exit code ${code}: ${problem}`)),
    );
  });
  ended.catch(() => {}); // the test awaits it later
  const stop = async () => {
    isStopped = true;
    // The group: `go run` starts a program of its own.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    await ended.catch(() => {});
  };
  return { name, lines, ended, stop };
}

/** Commits events of a few payments at a steady rate; each payment's versions grow by one. */
function startWriter({ databases, natsNamespace }: Cluster) {
  const outbox = new Outbox({ namespace: natsNamespace, source: "payments" });
  const payments = Array.from({ length: paymentsCount }, () => newId("payment"));
  let committed = 0;
  const work = (async () => {
    const db = await openDatabase(databases.of.payments);
    while (committed < total) {
      const events = Array.from({ length: perCommit }, (_, i) => announcement(payments, committed + i));
      await outbox.append(db, events);
      committed += perCommit;
      await pause(commitEveryMs);
    }
    await db.close();
  })();
  return {
    until: async (share: number) => {
      const enough = eventually(`${share} of the events`, () => committed >= share * total, { limitMs: catchUpMsMax });
      await Promise.race([enough, work]);
    },
    end: () => work,
  };
}

function announcement(payments: readonly string[], n: number): Announcement {
  const version = 1 + Math.floor(n / payments.length);
  const [type, status] = version % 2 === 1 ? ["payment.succeeded", "succeeded"] : ["payment.refunded", "refunded"];
  return {
    ...{ type, merchantId: "mer_1", environment: Environment.SANDBOX, status, at: new Date() },
    ...{ objectId: payments[n % payments.length] ?? "", attributes: { version: String(version) } },
  };
}

/** The output of a correct follower: every committed event has one position, and a payment's are in order. */
async function expectedLines({ databases }: Cluster): Promise<string[]> {
  const [payments, webhook] = [await openDatabase(databases.of.payments), await openDatabase(databases.of.webhook)];
  const outbox = await payments.rows<{ body: Buffer }>("select body from outbox");
  const committed = new Map(outbox.map(({ body }) => fromBinary(EventSchema, body)).map((event) => [event.id, event]));
  const rows = await eventually(
    "every event to have a position",
    async () => {
      const listed = await webhook.rows<{ position: string; id: string }>(
        "select position, id from events where position is not null order by position",
      );
      return listed.length >= committed.size && listed;
    },
    { limitMs: catchUpMsMax },
  );
  await Promise.all([payments.close(), webhook.close()]);
  assert.equal(committed.size, total);
  assert.deepEqual(new Set(rows.map(({ id }) => id)), new Set(committed.keys()));
  assert.equal(rows.length, total);
  const versions = new Map<string, number>();
  return rows.map(({ position, id }) => {
    const { type = "", objectId = "", status = "", attributes } = committed.get(id) ?? {};
    const version = (versions.get(objectId) ?? 0) + 1;
    assert.equal(attributes?.version, String(version), `${objectId}'s event ${version}`);
    versions.set(objectId, version);
    return `${position} ${type} ${objectId} ${status}`;
  });
}

test.run();
