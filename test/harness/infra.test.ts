import pg from "pg";
import * as assert from "uvu/assert";
import { connect } from "#platform/values/nats.ts";
import { ensureStreams } from "../../deploy/cli/setup/ensure-streams.ts";
import { freshDatabase } from "./database.ts";
import { sharedInfra, startInfra } from "./infra.ts";
import { suite } from "./suite.ts";

const test = suite("servers for tests", { timeoutMs: 60_000 });

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test("a fresh database has the service's tables and nothing of another test's", async () => {
  const [one, other] = await Promise.all([freshDatabase("merchant"), freshDatabase("merchant")]);
  await ask(one.url, "create table mine ()");
  assert.equal(await ask(other.url, "select to_regclass('mine') as mine"), [{ mine: null }]);
  const [row] = await ask(other.url, "select count(*)::int > 0 as migrated from schema_migrations");
  assert.equal(row, { migrated: true });
  await Promise.all([one.drop(), other.drop()]);
});

test("a dozen stacks' streams fit on one server", async () => {
  const { natsUrl } = await sharedInfra();
  for (let at = 0; at < 12; at++) await ensureStreams({ broker: { url: natsUrl }, namespace: `many${at}` });
  const connection = await connect({ servers: natsUrl, timeout: 5_000 });
  const streams = await connection.jetstreamManager().then((manager) => manager.streams.names().next());
  assert.ok(streams.length >= 48);
  await connection.close();
});

test("an unknown backend is refused, and containers without an engine are too", async () => {
  const before = { TEST_BACKEND: process.env.TEST_BACKEND, DOCKER_HOST: process.env.DOCKER_HOST };
  const refusals: string[] = [];
  for (const [backend, host] of [
    ["docker", ""],
    ["containers", "unix:///nowhere/docker.sock"],
  ]) {
    Object.assign(process.env, { TEST_BACKEND: backend, DOCKER_HOST: host });
    await startInfra().catch((error: Error) => refusals.push(error.message));
  }
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  assert.equal(refusals, [
    "TEST_BACKEND must be one of containers, embedded",
    "TEST_BACKEND=containers, but no Docker engine answers",
  ]);
});

test.run();
