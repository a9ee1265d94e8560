// Outbox → JetStream → consumer on a real PostgreSQL and broker: at least once, and nothing after a rollback.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { EventBus } from "#platform/events/event-bus.ts";
import type { Consumer } from "#platform/events/event-consumer.ts";
import { markConsumed } from "#platform/events/inbox.ts";
import { announcedDigests, Outbox, sweepOutbox } from "#platform/events/outbox.ts";
import { relayOnce } from "#platform/events/relay.ts";
import { createLog } from "#platform/telemetry/log.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { ensureStreams } from "../../../deploy/cli/setup/ensure-streams.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { sharedInfra } from "../../harness/infra.ts";
import { makeConsumer } from "../../harness/payments/test-consumer.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("events");
const log = createLog("test", "error");
const namespace = `t${randomBytes(4).toString("hex")}`;
const outbox = new Outbox({ namespace, source: "payments" });

/** Adds a durable consumer. */
async function consume(consumer: Pick<Consumer, "name" | "handle">): Promise<void> {
  const of = { source: "payments", types: "payment.>", ...consumer } as const;
  await makeConsumer((await sharedInfra()).natsUrl, namespace, of);
  bus.consume(of);
}

const db = fixture(test, async () => await openDatabase((await freshDatabase("payments")).serviceUrl));
const bus = fixture(test, async () => {
  const { natsUrl } = await sharedInfra();
  await ensureStreams({ broker: { url: natsUrl }, namespace });
  return new EventBus({ broker: { url: natsUrl }, namespace, name: "test", log });
});
test.before(() => eventually("the bus to connect", () => bus.connected));

function announcement(objectId: string) {
  const at = new Date();
  return {
    type: "payment.succeeded",
    merchantId: "mer_1",
    environment: Environment.SANDBOX,
    objectId,
    status: "succeeded",
    at,
  };
}

test("a committed announcement reaches the consumer; one rolled back never does", async () => {
  const received: Event[] = [];
  await consume({
    name: "one",
    handle: async (events) => void received.push(...events),
  });
  await db.transaction((tx) => outbox.append(tx, [announcement("pay_a"), announcement("pay_b")]));
  await assert.rejects(
    db.transaction(async (tx) => {
      await outbox.append(tx, [announcement("pay_never")]);
      throw new Error("rolled back");
    }),
  );
  assert.equal(await relayOnce(db, bus), false);
  await eventually("both events to arrive", async () => received.length >= 2);
  assert.deepEqual(received.map((e) => e.objectId).sort(), ["pay_a", "pay_b"]);
  assert.deepEqual(await db.rows(`select 1 from outbox where published_at is null`), []);
});

test("a failed consumer gets the events again, and its inbox recognizes repeats", async () => {
  const seen: string[] = [];
  let failures = 0;
  await consume({
    name: "two",
    handle: async (events) => {
      if (failures++ === 0) throw new Error("first try fails");
      await db.transaction(async (tx) => {
        const fresh = await markConsumed(
          tx,
          "two",
          events.map((e) => e.id),
        );
        seen.push(...events.filter((e) => fresh.has(e.id)).map((e) => e.objectId));
        assert.equal(
          (
            await markConsumed(
              tx,
              "two",
              events.map((e) => e.id),
            )
          ).size,
          0,
        );
      });
    },
  });
  await eventually("the events to come again", async () => seen.length >= 2);
  assert.deepEqual(seen.sort(), ["pay_a", "pay_b"]);
});

test("publishing the same row twice stores it once", async () => {
  await db.transaction((tx) => outbox.append(tx, [announcement("pay_twice")]));
  await relayOnce(db, bus);
  await db.rows(`update outbox set published_at = null`);
  await relayOnce(db, bus);
  const received: string[] = [];
  await consume({
    name: "three",
    handle: async (events) => void received.push(...events.map((e) => e.objectId)),
  });
  await eventually("all three events", async () => received.includes("pay_twice"));
  assert.deepEqual(received.sort(), ["pay_a", "pay_b", "pay_twice"]);
});

test("an event can be verified with its source for longer than the stream keeps it", async () => {
  const state = await bus.state("payments");
  assert(state && state !== "missing");
  const kept = state.stream.config.max_age;
  const { ids, subjects, bodies } = outbox.toRows([announcement("pay_old")]);
  const [eventId = "", body = Buffer.of()] = [ids[0], bodies[0]];
  const claims = [{ eventId, digest: createHash("sha256").update(body).digest() }];
  const publishedAgo = async (seconds: number) => {
    await db.rows(
      `insert into outbox (event_id, subject, body, published_at)
         values ($1, $2, $3, now() - make_interval(secs => $4))
       on conflict (event_id) do update set published_at = excluded.published_at`,
      [eventId, subjects[0], body, seconds],
    );
    await sweepOutbox(db);
    return (await announcedDigests(db, claims)).length;
  };
  const streamSeconds = Number(kept) / 1e9;
  assert(streamSeconds > 0, "the stream has an end");
  assert.equal(await publishedAgo(streamSeconds + 3_600), 1);
  assert.equal(await publishedAgo(streamSeconds + 2 * 86_400), 0);
});

test("a listener receives published events and is notified of the gap before it started", async () => {
  const received: string[] = [];
  let gaps = 0;
  bus.listen({
    source: "payments",
    types: "payment.>",
    onEvent: (e) => received.push(e.objectId),
    onGap: () => gaps++,
  });
  await eventually("the gap to be reported", async () => gaps === 1);
  await db.transaction((tx) => outbox.append(tx, [announcement("pay_live")]));
  await relayOnce(db, bus);
  await eventually("the listener to receive it", async () => received.includes("pay_live"));
});

test.run();
