// The recovery fence: a restored database is noticed, on a real PostgreSQL and broker. A database is copied, serves on,
// and is then replaced by its copy.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Database } from "#platform/database/database.ts";
import { IdempotencyKeys } from "#platform/database/idempotency.ts";
import { connectBroker } from "#platform/events/connection.ts";
import { EventBus } from "#platform/events/event-bus.ts";
import { EventSeal, sealHeader } from "#platform/events/event-keys.ts";
import { type Announcement, Outbox } from "#platform/events/outbox.ts";
import { relayOnce } from "#platform/events/relay.ts";
import { markPublished, readRecord } from "#platform/events/stream-record.ts";
import { StreamWatch } from "#platform/events/stream-watch.ts";
import { eventSubject, streamName } from "#platform/events/streams.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { Recovery } from "#platform/service/recovery.ts";
import { beginRecovery, endRecovery, missingEvents, readFence, serverOf } from "#platform/service/recovery-store.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { headers, type NatsConnection } from "#platform/values/nats.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { ensureStreams } from "../../../deploy/cli/setup/ensure-streams.ts";
import { insertPayments } from "../../../services/payments/store/new-payments.ts";
import { freshDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { sharedInfra } from "../../harness/infra.ts";
import { paymentInsert } from "../../harness/payments/payment-insert.ts";
import { copyOf } from "../../harness/servers/backup.ts";
import { suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";

const test = suite("recovery: noticing a restore");
const log = createLog("test", "silent");
const seal = new EventSeal(new Map([["k1", randomBytes(32)]]));
const vault = new Vault(new Map([["k1", randomBytes(32)]]));
const service = "payments";
const type = "payment.succeeded";
let namespace: string;
let outbox: Outbox;
let bus: EventBus;
let nats: NatsConnection;
let url: string;
const open: Database[] = [];

test.beforeEach(async () => {
  const { natsUrl } = await sharedInfra();
  namespace = `t${randomBytes(4).toString("hex")}`;
  await ensureStreams({ broker: { url: natsUrl }, namespace, only: [service] });
  outbox = new Outbox({ namespace, source: service });
  bus = new EventBus({ broker: { url: natsUrl }, seal, namespace, name: "test", log });
  nats = await connectBroker({ url: natsUrl }, { name: "test" });
  url = (await freshDatabase("payments")).serviceUrl;
  await eventually("the broker to answer", () => bus.connected);
});
test.afterEach(async () => {
  await closeAll();
  await nats.close();
  await bus.close();
});

async function closeAll(): Promise<void> {
  for (const db of open.splice(0)) await db.close();
}

async function connect(databaseUrl: string): Promise<Database> {
  const db = await Database.open({ url: databaseUrl, name: "test", log });
  open.push(db);
  return db;
}

function announcement(objectId: string): Announcement {
  return { type, merchantId: "mer_1", environment: Environment.SANDBOX, objectId, status: "succeeded", at: new Date() };
}

async function announce(db: Database, ...objectIds: string[]): Promise<void> {
  await outbox.append(db, objectIds.map(announcement));
  await relayOnce(db, bus);
}

/** By default it compares on every check. */
function compare(db: Database, settleMs = Number.POSITIVE_INFINITY): Promise<Recovery> {
  return Recovery.begin({ service, db, bus, seal, log, settleMs });
}

/** Serves, takes a backup, and announces more events. @returns the backup's URL */
async function backupBefore(...lost: string[]): Promise<string> {
  const before = await connect(url);
  await new StreamWatch({ db: before, bus, source: service, replicas: 1, log }).checkStream();
  await compare(before);
  await announce(before, "pay_before");
  await closeAll();
  const backup = await copyOf(url);
  const after = await connect(url);
  const recovery = await compare(after);
  await announce(after, ...lost);
  await recovery.checkDatabase();
  assert.equal(recovery.isOn, false, "the live database has all of its events");
  await closeAll();
  return backup;
}

test("refuses to serve when the database is behind the stream", async () => {
  const backup = await backupBefore("pay_lost");
  const recovery = await compare(await connect(backup));
  assert.equal(recovery.isOn, true);
  assert.throws(() => recovery.assertOff(), isRefusal("SERVICE_UNAVAILABLE"));
});

/** The positions that are read from the stream from now on. */
function readPositions(): number[] {
  const reads: number[] = [];
  const stored = bus.stored.bind(bus);
  bus.stored = (source, seq) => {
    reads.push(seq);
    return stored(source, seq);
  };
  return reads;
}

test("reads back to the position compared before, and no further", async () => {
  const db = await connect(await backupBefore("pay_lost_1", "pay_lost_2"));
  await announce(db, "pay_new_1", "pay_new_2");
  const reads = readPositions();
  await compare(db);
  assert.deepEqual(reads.sort(), [1, 2, 3, 4, 5]);
  assert.equal((await readFence(db)).streamSeq, 5);
  assert.equal((await missingEvents(db, 10)).left, 2);
  await compare(db);
  assert.equal(reads.length, 5);
});

test("finds every lost event of many, and stops at a thousand positions that lack nothing", async () => {
  const before = await connect(url);
  await compare(before);
  const kept = Array.from({ length: 2_100 }, (_, i) => `pay_kept_${i}`);
  const lost = Array.from({ length: 1_900 }, (_, i) => `pay_lost_${i}`);
  await outbox.append(before, [...kept, ...lost].map(announcement));
  while (await relayOnce(before, bus));
  await before.rows("delete from outbox where stream_seq > 2100");
  const reads = readPositions();
  assert.equal((await compare(before)).isOn, true);
  assert.equal((await missingEvents(before, 10)).left, 1_900);
  assert.equal(Math.min(...reads), 1_001);
  assert.equal((await readFence(before)).streamSeq, 4_000);
});

for (const [what, change] of Object.entries({
  "a new connection to the broker": async () => {
    const { connection } = bus;
    await connection?.close();
    await eventually("another connection", () => bus.connected && bus.connection !== connection);
  },
  "a loss in the stream": (db: Database) => db.rows("update event_stream set epoch = epoch + 1"),
  "the stream being replaced": (db: Database) => db.rows("update event_stream set made_at = 'now'"),
  "another server": (db: Database) => db.rows("update recovery set server = 'another'").then(() => compare(db, 0)),
})) {
  test(`a running process compares again after ${what}, and otherwise reads nothing`, async () => {
    const db = await connect(await backupBefore());
    const recovery = await compare(db, 0);
    await announce(db, "pay_lost");
    await db.rows("delete from outbox where stream_seq = 2");
    const reads = readPositions();
    assert.equal(await recovery.checkDatabase(), false);
    assert.deepEqual(reads, []);
    assert.equal(recovery.isOn, false);
    await change(db);
    await recovery.checkDatabase();
    assert.equal(recovery.isOn, true);
  });
}

test("the relay publishes on a new connection only after the database was compared on it", async () => {
  const db = await connect(await backupBefore());
  const recovery = await compare(db, 0);
  await announce(db, "pay_lost");
  await db.rows("delete from outbox where stream_seq = 2");
  const { connection } = bus;
  assert.equal(await recovery.mayPublish(), true);
  assert.equal(recovery.isOn, false);
  await connection?.close();
  assert.equal(await recovery.mayPublish(), false, "no connection");
  await eventually("another connection", () => bus.connected && bus.connection !== connection);
  assert.equal(await recovery.mayPublish(), true);
  assert.equal(recovery.isOn, true);
});

test("compares repeatedly after a change, until calls in progress have arrived", async () => {
  const db = await connect(await backupBefore());
  const recovery = await compare(db, 60_000);
  await announce(db, "pay_lost");
  await db.rows("delete from outbox where stream_seq = 2");
  await recovery.checkDatabase();
  assert.equal(recovery.isOn, true);
});

test("an acknowledgement for a lost row hides nothing, also when a new row has its number", async () => {
  const backup = await backupBefore("pay_lost_1", "pay_lost_2");
  const old = await connect(url);
  const sent = await old.rows<{ seq: string; event_id: string; stream_seq: string }>(
    "select seq, event_id, stream_seq from outbox where stream_seq > 1 order by seq",
  );
  const db = await connect(backup);
  await outbox.append(db, [announcement("pay_new")]);
  const [mine] = await db.rows<{ seq: string }>("select seq from outbox where published_at is null");
  assert.equal(mine?.seq, sent[0]?.seq, "the lost row's number is reused");
  const acknowledged = sent.map(({ seq, event_id, stream_seq }) => ({
    seq,
    eventId: event_id,
    position: Number(stream_seq),
  }));
  await markPublished(db, (await readRecord(db)).epoch, acknowledged);
  const [waiting] = await db.rows<{ seq: string }>("select seq from outbox where published_at is null");
  assert.equal(waiting?.seq, mine?.seq);
  assert.equal((await compare(db)).isOn, true);
  assert.equal((await missingEvents(db, 10)).left, 2);
});

test("a fence beyond the end of a truncated stream hides no lost event", async () => {
  const db = await connect(await backupBefore("pay_lost"));
  await db.rows("update recovery set stream_seq = 10");
  const recovery = await compare(db);
  assert.equal((await readFence(db)).why, "server_changed");
  await endRecovery(db, { operator: "ann", note: "a failover", server: await serverOf(db) });
  while (await recovery.checkDatabase());
  assert.equal((await readFence(db)).why, "events_unknown");
  assert.equal((await missingEvents(db, 10)).left, 1);
});

test("a recovery lasts over restarts until an operator ends it, and the ended loss is not reported again", async () => {
  const db = await connect(await backupBefore("pay_lost"));
  await compare(db);
  const again = await compare(db);
  assert.equal(again.isOn, true);
  await endRecovery(db, { operator: "ann", note: "rebuilt by hand", server: await serverOf(db) });
  await again.checkDatabase();
  assert.equal(again.isOn, false);
  assert.equal((await compare(db)).isOn, false);
});

test("a restore whose stream is lost too waits for an operator", async () => {
  const backup = await backupBefore("pay_lost");
  const { natsUrl } = await sharedInfra();
  const manager = await nats.jetstreamManager();
  await manager.streams.delete(streamName(namespace, service));
  await ensureStreams({ broker: { url: natsUrl }, namespace, only: [service] });
  const db = await connect(backup);
  const recovery = await compare(db);
  assert.equal((await readFence(db)).why, "server_changed");
  await endRecovery(db, { operator: "ann", note: "nothing was paid since", server: await serverOf(db) });
  while (await recovery.checkDatabase());
  assert.equal(recovery.isOn, false);
});

test("a lost stream without a restore is refilled and starts no recovery", async () => {
  const db = await connect(url);
  const recovery = await compare(db);
  const watch = new StreamWatch({ db, bus, source: service, replicas: 1, log });
  await watch.checkStream();
  await announce(db, "pay_1");
  await recovery.checkDatabase();
  await (await nats.jetstreamManager()).streams.delete(streamName(namespace, service));
  await watch.checkStream();
  await announce(db, "pay_2");
  while (await recovery.checkDatabase());
  assert.equal(recovery.isOn, false);
  assert.equal((await readFence(db)).streamSeq, 2);
});

for (const [what, sealed] of Object.entries({
  "without our seal": () => "",
  "with a seal of another key": (subject: string, body: Uint8Array) =>
    new EventSeal(new Map([["k1", randomBytes(32)]])).of(subject, body),
  "with our seal of another event": (subject: string) => seal.of(subject, randomBytes(8)),
})) {
  test(`a foreign event in the stream ${what} starts no recovery`, async () => {
    const db = await connect(url);
    const recovery = await compare(db);
    const seq = await write(sealed, new Date());
    while (await recovery.checkDatabase());
    assert.equal((await readFence(db)).streamSeq, seq);
    assert.equal(recovery.isOn, false);
  });
}

test("a replayed own event starts a recovery only while the outbox would still have it", async () => {
  const db = await connect(url);
  const recovery = await compare(db);
  const sealed = (subject: string, body: Uint8Array) => seal.of(subject, body);
  const seq = await write(sealed, new Date(Date.now() - 7.1 * 86_400_000));
  while (await recovery.checkDatabase());
  assert.equal((await readFence(db)).streamSeq, seq);
  assert.equal(recovery.isOn, false);
  await write(sealed, new Date(Date.now() - 6.9 * 86_400_000));
  while (await recovery.checkDatabase());
  assert.equal(recovery.isOn, true);
});

test("a recovery that an operator began ends only by an operator", async () => {
  const db = await connect(url);
  const recovery = await compare(db);
  assert.equal(await beginRecovery(db, { operator: "ann", note: "the volume was rolled back" }), true);
  assert.equal(await beginRecovery(db, { operator: "bob", note: "the same" }), false);
  await recovery.checkDatabase();
  await recovery.checkDatabase();
  assert.equal((await readFence(db)).why, "operator");
  assert.equal(recovery.isOn, true);
});

/** Writes that start something new: a claimed key and a payment. */
function startingWrites(db: Database): readonly (() => Promise<unknown>)[] {
  const keys = new IdempotencyKeys(db, vault, 30);
  const scope = { merchantId: newId("merchant"), environment: Environment.SANDBOX, operation: "create_session" };
  return [
    () => keys.claim({ ...scope, key: newId("session"), fingerprint: randomBytes(32) }, newId("session")),
    () => insertedPayment(db, "started"),
  ];
}

async function insertedPayment(db: Database, state: "started" | "done"): Promise<void> {
  const { payment, operation, ...delays } = paymentInsert({}, 60);
  await insertPayments(db, [{ payment, operation: { ...operation, state }, ...delays }]);
}

const refusedByDatabase = { code: "57TB1" };

test("on an unconfirmed server the database refuses new work until the first successful comparison", async () => {
  const db = await connect(await backupBefore());
  for (const begin of startingWrites(db)) await assert.rejects(begin, refusedByDatabase);
  const recovery = await compare(db);
  assert.equal(recovery.isOn, false);
  for (const begin of startingWrites(db)) await begin();
});

test("a refusal on another server starts a comparison immediately", async () => {
  const db = await connect(url);
  await compare(db);
  await db.rows("update recovery set server = 'another'");
  // No job runs here: only the refusal can start the check.
  const [claim = () => Promise.reject()] = startingWrites(db);
  await assert.rejects(claim, refusedByDatabase);
  await eventually("the server to be known", () => claim().then(() => true));
});

test("during a recovery the database refuses new work of every replica, and accepts restored rows", async () => {
  const db = await connect(url);
  await compare(db);
  await beginRecovery(db, { operator: "ann", note: "the volume was rolled back" });
  for (const begin of startingWrites(db)) await assert.rejects(begin, refusedByDatabase);
  const scope = { merchantId: newId("merchant"), environment: Environment.SANDBOX, operation: "create_session" };
  const keys = new IdempotencyKeys(db, vault, 30);
  const lost = { ...scope, key: "order-1", fingerprint: randomBytes(32) };
  assert.equal(await keys.restore(db, lost, newId("session")), true);
  await insertedPayment(db, "done");
});

test("jobs that send pause during a recovery", async () => {
  const db = await connect(url);
  const recovery = await compare(db);
  let runs = 0;
  const [job] = recovery.pausing([{ name: "send", everyMs: 1_000, runOnce: async () => ++runs > 0 }]);
  await beginRecovery(db, { operator: "ann", note: "a drill" });
  await recovery.checkDatabase();
  assert.equal(await job?.runOnce(), false);
  assert.equal(runs, 0);
  await endRecovery(db, { operator: "ann", note: "a drill", server: "" });
  await recovery.checkDatabase();
  assert.equal(await job?.runOnce(), true);
});

/** Publishes with all rights at the broker. @returns the position in the stream */
async function write(sealed: (subject: string, body: Uint8Array) => string, at: Date): Promise<number> {
  const subject = eventSubject(namespace, service, type);
  const event = create(EventSchema, { id: newId("event"), type, source: service, occurredAt: timestampFromDate(at) });
  const body = toBinary(EventSchema, event);
  const header = headers();
  header.set(sealHeader, sealed(subject, body));
  return (await nats.jetstream().publish(subject, body, { headers: header })).seq;
}

test.run();
