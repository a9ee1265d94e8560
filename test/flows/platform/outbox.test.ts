// Outbox and inbox on a real PostgreSQL and broker: what is published, in which order, and how long rows are kept.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import { Database } from "#platform/database/database.ts";
import { EventBus } from "#platform/events/event-bus.ts";
import type { Consumer } from "#platform/events/event-consumer.ts";
import { markConsumed, sweepInbox } from "#platform/events/inbox.ts";
import { type Announcement, Outbox, sweepOutbox } from "#platform/events/outbox.ts";
import { relayOnce } from "#platform/events/relay.ts";
import { readRecord, sendAgain } from "#platform/events/stream-record.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import { connect } from "#platform/values/nats.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { ensureStreams } from "../../../deploy/cli/setup/ensure-streams.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { sharedInfra } from "../../harness/infra.ts";
import { makeConsumer } from "../../harness/payments/test-consumer.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("outbox and inbox", { timeoutMs: 20_000 });
const log = createLog("test", "silent");
const namespace = `t${randomBytes(4).toString("hex")}`;
const outbox = new Outbox({ namespace, source: "payments" });

/** Adds a durable consumer. */
async function consume(consumer: Pick<Consumer, "name" | "handle">): Promise<void> {
  const of = { source: "payments", types: "payment.>", ...consumer } as const;
  await makeConsumer((await sharedInfra()).natsUrl, namespace, of);
  bus.consume(of);
}

const db = fixture(test, async () => await openDatabase((await freshDatabase("payments")).url));
const bus = fixture(test, async () => {
  const { natsUrl } = await sharedInfra();
  await ensureStreams({ broker: { url: natsUrl }, namespace });
  return new EventBus({ broker: { url: natsUrl }, namespace, name: "test", log });
});
test.before(() => eventually("the bus to connect", () => bus.connected));
test.afterEach(() => db.rows("delete from outbox"));

const announcement = (objectId: string): Announcement => ({
  ...{ type: "payment.succeeded", merchantId: "mer_1", environment: Environment.SANDBOX },
  ...{ objectId, status: "succeeded", at: new Date() },
});

async function waiting(of = db): Promise<string[]> {
  const rows = await of.rows<{ body: Buffer }>("select body from outbox where published_at is null order by seq");
  return rows.map(({ body }) => fromBinary(EventSchema, body).objectId);
}

test("an event counts as published when the stream stored it; others wait, and the failure is reported", async () => {
  await outbox.append(db, [announcement("pay_1"), announcement("pay_2"), announcement("pay_3")]);
  await db.rows(
    "update outbox set subject = 'no.stream.' || subject where event_id in (select event_id from outbox order by seq offset 1 limit 1)",
  );
  await assert.rejects(relayOnce(db, bus));
  assert.deepEqual(await waiting(), ["pay_2"]);
  await db.rows("update outbox set subject = replace(subject, 'no.stream.', '')");
  assert.equal(await relayOnce(db, bus), false);
  assert.deepEqual(await waiting(), []);
});

test("events that a full stream refuses wait until migrate enlarges it", async () => {
  const broker = { url: (await sharedInfra()).natsUrl };
  const narrow = { broker, namespace: `${namespace}narrow`, only: ["payments"] } as const;
  await ensureStreams({ ...narrow, gib: (64 * 1024) / 2 ** 30 });
  const itsBus = new EventBus({ broker, namespace: narrow.namespace, name: "test", log });
  const itsDb = await Database.open({ url: (await freshDatabase("payments")).url, name: "test", log });
  await eventually("the bus to connect", async () => itsBus.connected);
  const ids = Array.from({ length: 400 }, (_, i) => `pay_${i}`);
  await new Outbox({ namespace: narrow.namespace, source: "payments" }).append(itsDb, ids.map(announcement));
  await assert.rejects(relayOnce(itsDb, itsBus), /the stream refuses the event: maximum bytes exceeded/);
  const refused = await waiting(itsDb);
  assert.ok(refused.length > 0 && refused.length < ids.length, `${refused.length} refused`);
  await assert.rejects(relayOnce(itsDb, itsBus), /the stream refuses the event: maximum bytes exceeded/);
  assert.deepEqual(await waiting(itsDb), refused);
  await ensureStreams({ ...narrow, gib: 1 });
  await relayOnce(itsDb, itsBus);
  assert.deepEqual(await waiting(itsDb), []);
  const state = await itsBus.state("payments");
  assert.ok(state && state !== "missing");
  assert.deepEqual([state.stream.state.messages, state.stream.config.max_bytes], [ids.length, 2 ** 30]);
  await itsBus.close();
  await itsDb.close();
});

test("an acknowledgement without a stored position is rejected, since a NATS 2.10 cluster may send one after a refusal", async () => {
  const foreignNamespace = `${namespace}foreign`;
  const server = await connect({ servers: (await sharedInfra()).natsUrl });
  const stored = JSON.stringify({ stream: `${foreignNamespace}-payments`, seq: 0, duplicate: true });
  server.subscribe(`${foreignNamespace}.>`, {
    callback: (_error, message) => void message.respond(Buffer.from(stored)),
  });
  await server.flush();
  await new Outbox({ namespace: foreignNamespace, source: "payments" }).append(db, [announcement("pay_1")]);
  await assert.rejects(relayOnce(db, bus), /acknowledged without storing/);
  assert.deepEqual(await waiting(), ["pay_1"]);
  await server.close();
});

test("events are published in the order of their rows", async () => {
  const received: string[] = [];
  await consume({
    name: "order",
    handle: async (events) => void received.push(...events.map(({ objectId }) => objectId)),
  });
  const ids = Array.from({ length: 50 }, (_, i) => `pay_order_${i}`);
  await outbox.append(db, ids.map(announcement));
  await relayOnce(db, bus);
  await eventually("all events to arrive", async () => received.filter((id) => ids.includes(id)).length === ids.length);
  assert.deepEqual(
    received.filter((id) => ids.includes(id)),
    ids,
  );
});

test("events that an operator resends arrive again, also within the broker's duplicate window", async () => {
  const received: string[] = [];
  await consume({
    name: "again",
    handle: async (events) => void received.push(...events.map(({ objectId }) => objectId)),
  });
  const times = () => received.filter((id) => id === "pay_again").length;
  await outbox.append(db, [announcement("pay_again")]);
  await relayOnce(db, bus);
  await eventually("it to arrive", () => times() === 1);
  const since = new Date(Date.now() - 60_000);
  for (const count of [2, 3]) {
    const { readAt: asOf } = await readRecord(db);
    assert.equal(await sendAgain(db, { since, until: new Date(Date.now() + 60_000), asOf }), 1);
    await relayOnce(db, bus);
    await eventually("it to arrive again", () => times() === count);
  }
});

test("published rows are kept for eight days, unpublished ones without limit", async () => {
  await outbox.append(db, ["pay_old", "pay_late", "pay_never"].map(announcement));
  const times = [
    ["now() - interval '20 days'", "now() - interval '9 days'"],
    ["now() - interval '20 days'", "now() - interval '7 days'"],
    ["now() - interval '20 days'", "null"],
  ];
  const rows = await db.rows<{ seq: string }>("select seq from outbox order by seq");
  for (const [i, [created, published]] of times.entries()) {
    await db.rows(`update outbox set created_at = ${created}, published_at = ${published} where seq = $1`, [
      rows[i]?.seq,
    ]);
  }
  assert.equal(await sweepOutbox(db), false);
  assert.deepEqual(
    (await db.rows<{ seq: string }>("select seq from outbox order by seq")).map(({ seq }) => seq),
    rows.slice(1).map(({ seq }) => seq),
  );
});

test("the inbox keeps an event per consumer for 16 days, longer than it can be resent", async () => {
  const [known, fresh] = [newId("event"), newId("event")];
  assert.deepEqual(await markConsumed(db, "one", [known]), new Set([known]));
  assert.deepEqual(await markConsumed(db, "one", [known, fresh]), new Set([fresh]));
  assert.deepEqual(await markConsumed(db, "two", [known]), new Set([known]));
  const days = (n: number, consumer: string) =>
    db.rows("update inbox set received_at = now() - make_interval(days => $1) where consumer = $2", [n, consumer]);
  await days(15, "one");
  await days(17, "two");
  assert.equal(await sweepInbox(db), false);
  assert.deepEqual(await markConsumed(db, "one", [known]), new Set());
  assert.deepEqual(await markConsumed(db, "two", [known]), new Set([known]));
});

test.run();
