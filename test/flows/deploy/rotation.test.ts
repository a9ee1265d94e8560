// `tollbooth secrets rotate`, its printed commands carried out on a real server in their order: old and new are both
// accepted while pods restart, in the end only the new one, and no secret is printed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { connectBroker } from "#platform/events/connection.ts";
import { migrateDatabase } from "../../../deploy/cli/setup/migrate-database.ts";
import { manifestsOf, readSecrets, type Secrets, storeLinesOf } from "../../../deploy/cli/setup/secret-formats.ts";
import { withLogin } from "../../../deploy/local/databases.ts";
import { freshDatabase } from "../../harness/database.ts";
import { generatedSecrets } from "../../harness/files/overlays.ts";
import { brokerConfig, type ManifestBroker, startManifestBroker } from "../../harness/servers/manifest-broker.ts";
import { suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const test = suite("rotation of secrets", { timeoutMs: 60_000 });
const command = join(import.meta.dirname, "../../../deploy/cli/main.ts");
const invalidPassword = { code: "28P01" };
const invalidRole = { code: /28P01|28000/ };

/** A cluster's Secrets, as `kubectl get secrets -o json` prints them. */
class Cluster {
  secrets: Secrets;
  readonly restarts: string[] = [];

  constructor(secrets: Secrets) {
    this.secrets = secrets;
  }

  readonly secretOf = (name: string) => this.secrets[name] ?? assert.fail(name);

  get listed(): string {
    const items = Object.entries(this.secrets).map(([name, values]) => {
      const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
      return { metadata: { name }, data: Object.fromEntries(data) };
    });
    return JSON.stringify({ kind: "List", items });
  }
}

/** @returns the steps, each with its commands */
async function planned(
  cluster: Cluster,
  name: string,
  ...options: string[]
): Promise<{ steps: string[][]; folder: string; output: string }> {
  const folder = join(await tempDir("rotation"), "steps");
  const args = [command, "secrets", "rotate", name, folder, ...options];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { input: cluster.listed, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const steps = stdout.split(/^# \d+\. /m).slice(1);
  const commands = steps.map((step) => step.trim().split("\n").slice(1));
  return { steps: commands, folder, output: stdout + stderr };
}

interface Servers {
  readonly sql?: (text: string) => Promise<void>;
  readonly broker?: ManifestBroker;
}

/** Carries out the commands of a step. */
async function carryOut(step: readonly string[], cluster: Cluster, { sql, broker }: Servers): Promise<void> {
  for (const line of step) {
    const [, file = ""] = /(?:-f|<) (\S+)$/.exec(line) ?? [];
    const [, restarted = ""] = /rollout restart (.+)$/.exec(line) ?? [];
    if (line.startsWith("kubectl replace ")) {
      const applied = readSecrets(readFileSync(file, "utf8"));
      const isForced = line.includes(" --force ");
      const items: { immutable: boolean }[] = JSON.parse(readFileSync(file, "utf8")).items;
      assert.equal(
        isForced,
        items.some(({ immutable }) => immutable),
        "an immutable Secret cannot be changed",
      );
      for (const name of Object.keys(applied)) assert.ok(cluster.secrets[name], `${name} exists before`);
      cluster.secrets = { ...cluster.secrets, ...applied };
    } else if (line.includes(" psql ")) {
      await sql?.(readFileSync(file, "utf8"));
    } else if (restarted) {
      cluster.restarts.push(restarted);
      if (restarted === "statefulset nats") await broker?.restart(cluster.secretOf);
    } else assert.match(line, /rollout status/);
  }
}

function assertUnprinted(output: string, folder: string, cluster: Cluster): void {
  const values = Object.values(cluster.secrets).flatMap(({ username: _, ...each }) => Object.values(each));
  for (const value of values) assert.ok(!output.includes(value), "a secret was printed");
  assert.equal(statSync(folder).mode & 0o077, 0);
  assert.match(output, /delete it/);
  rmSync(join(folder, ".."), { recursive: true });
}

async function logIn(url: string): Promise<void> {
  const client = new pg.Client(url);
  try {
    await client.connect();
  } finally {
    await client.end();
  }
}

test("a service's database password: another role with its rights is accepted meanwhile, then only the new password", async () => {
  const database = await freshDatabase();
  const role = `rotated_${randomBytes(4).toString("hex")}`;
  const sql = async (text: string) => {
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query(text).finally(() => client.end());
  };
  await sql(`create role ${role} login password 'before'`);
  await migrateDatabase({ databaseUrl: database.url, service: "payments", serviceRole: role });
  const login = `postgres-${role.replaceAll("_", "-")}`;
  const before = withLogin(database.url, role, "before");
  const cluster = new Cluster({
    "tollbooth-payments": { DATABASE_URL: before, ENCRYPTION_KEYS: `k1:${randomBytes(32).toString("base64")}` },
    [login]: { username: role, password: "before" },
  });
  const { ENCRYPTION_KEYS } = cluster.secretOf("tollbooth-payments");
  const urlNow = () => cluster.secretOf("tollbooth-payments").DATABASE_URL ?? "";
  const { steps, folder, output } = await planned(cluster, "tollbooth-payments");
  assert.equal(steps.length, 3);
  assert.ok(output.includes("rollout restart deployment -l 'app.kubernetes.io/name in (payments,one)'"));

  await carryOut(steps[0] ?? [], cluster, { sql });
  const bridge = urlNow();
  assert.equal(new URL(bridge).username, `${role}_rotation`);
  const second = [command, "secrets", "rotate", "tollbooth-payments", join(folder, "second")];
  const { stderr } = spawnSync(process.execPath, second, { input: cluster.listed, encoding: "utf8" });
  assert.match(stderr, /^tollbooth-payments is in a rotation/);
  for (const url of [before, bridge]) await logIn(url);
  const client = new pg.Client(bridge);
  await client.connect();
  await client.query("select from payments limit 1");
  await client.query("delete from outbox where false");
  await assert.rejects(client.query("delete from journal"), { code: "42501" }, "an append-only table");
  await client.end();

  await carryOut(steps[1] ?? [], cluster, { sql });
  for (const url of [bridge, urlNow()]) await logIn(url);
  await assert.rejects(logIn(before), invalidPassword);
  assert.deepEqual(cluster.secretOf(login), { username: role, password: new URL(urlNow()).password });

  await carryOut(steps[2] ?? [], cluster, { sql });
  await assert.rejects(logIn(bridge), invalidRole);
  await logIn(urlNow());
  assert.equal(new URL(urlNow()).username, role);
  assert.equal(cluster.secretOf("tollbooth-payments").ENCRYPTION_KEYS, ENCRYPTION_KEYS);
  assertUnprinted(output, folder, cluster);
  await database.drop();
  await sharedSql(`drop owned by ${role}; drop role ${role}`);
});

test("the owners' passwords: migrate logs in with the new one, and the old one is refused", async () => {
  const database = await freshDatabase();
  const role = `owner_${randomBytes(4).toString("hex")}`;
  await sharedSql(`create role ${role} login password 'before'`);
  const before = withLogin(database.url, role, "before");
  const services = ["CHECKOUT", "PAYMENTS", "MERCHANT", "WEBHOOK"];
  const cluster = new Cluster({
    "tollbooth-migrate": Object.fromEntries(services.map((name) => [`${name}_DATABASE_URL`, before])),
  });
  const { steps, folder, output } = await planned(cluster, "tollbooth-migrate");
  assert.equal(steps.length, 1);
  await carryOut(steps[0] ?? [], cluster, { sql: sharedSql });
  const urls = new Set(Object.values(cluster.secretOf("tollbooth-migrate")));
  assert.equal(urls.size, 1, "one role has one password");
  for (const url of urls) await logIn(url);
  await assert.rejects(logIn(before), invalidPassword);
  assertUnprinted(output, folder, cluster);
  await sharedSql(`drop role ${role}`);
});

async function sharedSql(text: string): Promise<void> {
  const { url, drop } = await freshDatabase();
  const client = new pg.Client(url);
  await client.connect();
  await client.query(text).finally(() => client.end());
  await drop();
}

async function brokerCluster(): Promise<{ cluster: Cluster; broker: ManifestBroker }> {
  const made = generatedSecrets("postgres://{service}:{password}@postgres:5432/tollbooth_{service}");
  const values = [...made].map(([name, { stringData }]) => [name, stringData]);
  const cluster = new Cluster(Object.fromEntries(values));
  return { cluster, broker: await startManifestBroker(brokerConfig("nats/nats.yaml"), cluster.secretOf) };
}

async function connectAs(broker: ManifestBroker, identity: string, secrets: Secrets): Promise<void> {
  const login = broker.identity(identity, (name) => secrets[name] ?? assert.fail(name));
  await (await connectBroker(login, { name: identity, reconnect: false })).close();
}

test("a broker identity: both keys are accepted while its process restarts, then only the new one", async () => {
  const { cluster, broker } = await brokerCluster();
  const before = cluster.secrets;
  try {
    const { steps, folder, output } = await planned(cluster, "nats-nkey-payments");
    assert.equal(steps.length, 3);
    await carryOut(steps[0] ?? [], cluster, { broker });
    await connectAs(broker, "payments", before);
    await carryOut(steps[1] ?? [], cluster, { broker });
    assert.notEqual(cluster.secretOf("nats-nkey-payments").seed, before["nats-nkey-payments"]?.seed);
    for (const secrets of [before, cluster.secrets]) await connectAs(broker, "payments", secrets);
    await carryOut(steps[2] ?? [], cluster, { broker });
    await connectAs(broker, "payments", cluster.secrets);
    await connectAs(broker, "checkout", before);
    await assert.rejects(connectAs(broker, "payments", before), { code: "AUTHORIZATION_VIOLATION" });
    const deployment = "deployment -l 'app.kubernetes.io/name in (payments,one)'";
    assert.deepEqual(cluster.restarts, ["statefulset nats", deployment, "statefulset nats"]);
    assertUnprinted(output, folder, cluster);
  } finally {
    await broker.stop();
  }
});

test("the broker's certificate: processes accept both authorities while servers restart, then only the new one", async () => {
  const { cluster, broker } = await brokerCluster();
  const before = cluster.secrets;
  try {
    const { steps, folder, output } = await planned(cluster, "nats-tls");
    assert.equal(steps.length, 3);
    for (const [i, step] of steps.entries()) {
      const previous = cluster.secrets;
      await carryOut(step, cluster, { broker });
      // A process that has not restarted yet, and one that has.
      for (const secrets of [previous, cluster.secrets]) await connectAs(broker, "payments", secrets);
      if (i > 0) await assert.rejects(connectAs(broker, "payments", before), /certificate|TLS/i);
    }
    const { "ca.crt": authority = "" } = cluster.secretOf("nats-tls");
    assert.equal(authority.match(/BEGIN CERTIFICATE/g)?.length, 1);
    assert.ok(!before["nats-tls"]?.["ca.crt"]?.includes(authority));
    assertUnprinted(output, folder, cluster);
  } finally {
    await broker.stop();
  }
});

test("with a store: writes lines for it, and names the Secrets to synchronise in each step", async () => {
  const { cluster, broker } = await brokerCluster();
  await broker.stop();
  const { steps, folder, output } = await planned(cluster, "nats-nkey-gateway", "--store");
  for (const [i, step] of steps.entries()) {
    const lines = readSecrets(readFileSync(join(folder, `${i + 1}.txt`), "utf8"));
    const [name = ""] = Object.keys(lines);
    assert.match(step.join("\n"), new RegExp(`annotate externalsecret ${name} force-sync=`));
    assert.ok(!step.some((line) => line.startsWith("kubectl replace")));
  }
  assertUnprinted(output, folder, cluster);
});

test("refuses another name, a missing Secret and a folder in use, and repeats nothing of its input", async () => {
  const { cluster, broker } = await brokerCluster();
  await broker.stop();
  const run = (input: string, ...args: string[]) =>
    spawnSync(process.execPath, [command, "secrets", "rotate", ...args], { input, encoding: "utf8" });
  const folder = join(await tempDir("rotation"), "steps");
  const unknown = run(cluster.listed, "rpc-callers", folder);
  assert.deepEqual([unknown.status, /tollbooth-migrate.*nats-tls/.test(unknown.stderr)], [2, true]);
  const { "nats-logins": _, ...others } = cluster.secrets;
  const missing = run(new Cluster(others).listed, "nats-nkey-payments", folder);
  assert.deepEqual([missing.status, missing.stderr.trim()], [2, "standard input has no Secret nats-logins"]);
  const taken = run(cluster.listed, "nats-tls", join(folder, ".."));
  assert.deepEqual([taken.status, /must be a new one/.test(taken.stderr)], [2, true]);
  const damaged = run(`{"items": [{"stringData": {"seed": "SUSECRET"}`, "nats-tls", folder);
  assert.equal(damaged.status, 2);
  assert.ok(!damaged.stderr.includes("SUSECRET"));
});

test("manifests and a store's lines are read as they were written", () => {
  const secrets = { one: { "tls.crt": "a\nb\n", key: 'with "quotes" and spaces' }, two: { password: "x" } };
  assert.deepEqual(readSecrets(manifestsOf(secrets)), secrets);
  assert.deepEqual(readSecrets(storeLinesOf(secrets)), secrets);
  assert.equal(storeLinesOf(secrets).split("\n").length, 2, "a line for each");
});

test.run();
