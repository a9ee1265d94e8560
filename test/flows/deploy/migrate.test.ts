// The migrate command on a real PostgreSQL and broker: it can run concurrently, and it drops nothing that an operator
// would need back.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import pg from "pg";
import { StreamRefused } from "#platform/events/consumers.ts";
import { eventSubject, streamName } from "#platform/events/streams.ts";
import {
  AckPolicy,
  type ConsumerConfig,
  connect,
  DeliverPolicy,
  type JetStreamManager,
  type NatsConnection,
  nanos,
  type StreamConfig,
} from "#platform/values/nats.ts";
import { migrateAll } from "../../../deploy/cli/setup/migrate-all.ts";
import { migrateDatabase } from "../../../deploy/cli/setup/migrate-database.ts";
import { durableConsumers, sources } from "../../../services/services.ts";
import { freshDatabase, serviceLogin, serviceRoles } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { sharedInfra } from "../../harness/infra.ts";
import { suite } from "../../harness/suite.ts";

const test = suite("migrate", { timeoutMs: 60_000 });
const namespace = `m${randomBytes(4).toString("hex")}`;
const stream = streamName(namespace, "payments");
let env: Record<string, string>;
let connection: NatsConnection;
let manager: JetStreamManager;

test.before(async () => {
  const { natsUrl } = await sharedInfra();
  const database = async () => (await freshDatabase()).url;
  env = {
    CHECKOUT_DATABASE_URL: await database(),
    PAYMENTS_DATABASE_URL: await database(),
    MERCHANT_DATABASE_URL: await database(),
    WEBHOOK_DATABASE_URL: await database(),
    NATS_URL: natsUrl,
    NATS_NAMESPACE: namespace,
  };
  connection = await connect({ servers: natsUrl });
  manager = await connection.jetstreamManager();
});
test.after(() => connection.close());

test("two concurrent runs create everything once, and a third changes nothing", async () => {
  const [one, two] = await Promise.all([migrateAll(env), migrateAll(env)]);
  for (const service of sources) {
    const lines = [...one, ...two].filter((line) => line.startsWith(`${service}: `));
    assert.equal(lines.filter((line) => line.includes("applied")).length, 1, lines.join("\n"));
  }
  const third = await migrateAll(env);
  assert.equal(third.filter((line) => line.includes("the schema is up to date")).length, 4, third.join("\n"));
  for (const source of sources) {
    const made = await manager.consumers.list(streamName(namespace, source)).next();
    const wanted = Object.values(durableConsumers).filter((consumer) => consumer.source === source);
    assert.deepEqual(
      made.map(({ name, config }) => [name, config.filter_subject]).sort(),
      wanted.map(({ name, types }) => [name, eventSubject(namespace, source, types)]).sort(),
    );
  }
});

test("rights are granted to each service's role, and missing role names are reported", async () => {
  assert.match((await migrateAll(env)).at(-1) ?? "", /^no rights granted: SERVICE_ROLES is not set/);
  const lines = await migrateAll({ ...env, SERVICE_ROLES: await madeRoles() });
  assert.deepEqual(
    lines.map((line) => /^(\w+): .*; test_\1 has its rights; /.test(line)),
    [true, true, true, true],
  );
  await assert.rejects(migrateAll({ ...env, SERVICE_ROLES: "one_for_all" }), /SERVICE_ROLES must contain \{service\}/);
});

async function madeRoles(): Promise<string> {
  for (const service of sources) await serviceLogin(env.CHECKOUT_DATABASE_URL ?? "", service);
  return serviceRoles;
}

test("a migration yields to a request that holds its lock, and is applied afterwards", async () => {
  const { url } = await freshDatabase();
  const request = new pg.Client(url);
  await request.connect();
  await request.query("begin; create table payments (id text)");
  const migrating = migrateDatabase({ databaseUrl: url, service: "payments" });
  const yieldedQuery = `select from pg_stat_activity where datname = current_database()
    and application_name = 'tollbooth-migrate' and query = 'rollback'`;
  // A transaction caches statistics until they are cleared.
  const hasYielded = async () => {
    await request.query("select pg_stat_clear_snapshot()");
    return (await request.query(yieldedQuery)).rowCount === 1;
  };
  await eventually("the migration to give way", hasYielded);
  await request.query("rollback");
  assert.ok((await migrating).applied.includes("payments/0001-payments.sql"));
  await request.end();
});

test("a stream limit that an operator raised stays, a lower one is raised", async () => {
  const before = (await manager.streams.info(stream)).config;
  await manager.streams.update(stream, { max_bytes: 2 * before.max_bytes, max_age: nanos(3_600_000) });
  await migrateAll(env);
  const after = (await manager.streams.info(stream)).config;
  assert.deepEqual([after.max_bytes, after.max_age], [2 * before.max_bytes, before.max_age]);
  await migrateAll({ ...env, NATS_STREAM_GIB: "9" });
  assert.equal((await manager.streams.info(stream)).config.max_bytes, 9 * 2 ** 30);
});

test("a consumer that cannot be updated is recreated and gets all events", async () => {
  await migrateAll(env);
  const of = durableConsumers.fanOut;
  const wanted = (await manager.consumers.info(stream, of.name)).config;
  const subject = `${namespace}.events.payments.payment.succeeded`;
  const { seq } = await connection.jetstream().publish(subject, "before");
  const others: Partial<ConsumerConfig>[] = [
    { ack_policy: AckPolicy.None },
    { deliver_policy: DeliverPolicy.New },
    { deliver_subject: "elsewhere", max_waiting: 0 },
    { headers_only: true, inactive_threshold: nanos(3_600_000) },
  ];
  for (const other of others) {
    await manager.consumers.delete(stream, of.name);
    const { name: _, metadata, ...config } = { name: "", ...wanted, ...other } as ConsumerConfig;
    await manager.consumers.add(stream, config);
    await migrateAll(env);
    const known = await manager.consumers.info(stream, of.name);
    assert.deepEqual(
      { ...known.config, metadata: undefined },
      { ...wanted, metadata: undefined },
      JSON.stringify(other),
    );
    assert.equal(known.num_pending, seq, "from the stream's first event on");
  }
});

test("an operator can recreate a consumer, so that unacknowledged events are delivered again", async () => {
  const of = durableConsumers.followPayments;
  await connection.jetstream().publish(`${namespace}.events.payments.payment.failed`, "held");
  const held = await (await connection.jetstream().consumers.get(stream, of.name)).next({ expires: 2_000 });
  assert(held);
  held.nak(3_600_000);
  await connection.flush();
  await migrateAll(env);
  assert.ok((await manager.consumers.info(stream, of.name)).num_ack_pending > 0, "a correct consumer stays");
  await migrateAll(env, [`${of.source}/${of.name}`]);
  const { num_ack_pending: waiting, num_pending: offered } = await manager.consumers.info(stream, of.name);
  assert.deepEqual([waiting, offered], [0, (await manager.streams.info(stream)).state.messages]);
});

test("a consumer of an earlier release stays until an operator names it, and a name that no stream has is refused", async () => {
  const former = "of-an-earlier-release";
  const names = async () => (await manager.consumers.list(stream).next()).map(({ name }) => name);
  await manager.consumers.add(stream, { durable_name: former, ack_policy: AckPolicy.Explicit });
  await migrateAll(env);
  assert.ok((await names()).includes(former));
  await migrateAll(env, [`payments/${former}`]);
  assert.ok(!(await names()).includes(former));
  await assert.rejects(migrateAll(env, [`payments/${former}`]), /has no consumer of-an-earlier-release/);
});

test("pull requests are limited in number and time", async () => {
  const of = durableConsumers.auditFees;
  const pull = (pullOptions: object) =>
    connection.request(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${of.name}`, JSON.stringify(pullOptions), {
      timeout: 2_000,
    });
  for (const pullOptions of [
    { batch: 1_000_000, expires: nanos(1_000) },
    { batch: 1, expires: nanos(3_600_000) },
  ]) {
    assert.equal((await pull(pullOptions)).headers?.code, 409, JSON.stringify(pullOptions));
  }
});

test("a stream change that would lose events or subjects is refused with its reason", async () => {
  const refusal = async (config: Partial<StreamConfig>): Promise<string> => {
    await manager.streams.delete(stream);
    const wanted = { name: stream, subjects: [`${namespace}.events.payments.>`], ...config };
    const made = (await manager.streams.add(wanted)).config;
    const error = await migrateAll(env).catch((reason: unknown) => reason);
    assert.ok(error instanceof StreamRefused, String(error));
    assert.deepEqual((await manager.streams.info(stream)).config, made);
    return error.message;
  };
  const more = [`${namespace}.events.payments.>`, `${namespace}.audit.>`];
  assert.match(await refusal({ subjects: more }), /would no longer keep .*audit/);
  const inMemory = { storage: "memory" } as Partial<StreamConfig>;
  assert.match(await refusal(inMemory), /its storage is memory, this release wants file/);
});

test("a silent database server ends in a timeout", async () => {
  const silent = createServer((socket) => socket.on("error", () => {}).resume());
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const databaseUrl = `postgres://tollbooth:secret@127.0.0.1:${port}/checkout`;
  await assert.rejects(migrateDatabase({ databaseUrl, service: "checkout" }), /timeout/);
  await new Promise((resolve) => silent.close(resolve));
});

test.run();
