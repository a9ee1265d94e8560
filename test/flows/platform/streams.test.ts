// Lost streams: a NATS server whose store the test deletes, replaces and truncates, with a real PostgreSQL. Every
// announced event reaches its consumer once.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { register } from "prom-client";
import { Database } from "#platform/database/database.ts";
import { connectBroker } from "#platform/events/connection.ts";
import { EventBus } from "#platform/events/event-bus.ts";
import { markConsumed } from "#platform/events/inbox.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { outboxJobs, relayOnce } from "#platform/events/relay.ts";
import { StreamCut, StreamWatch } from "#platform/events/stream-watch.ts";
import { makeStream, streamName } from "#platform/events/streams.ts";
import { startJobs } from "#platform/process/job.ts";
import { createLog } from "#platform/telemetry/log.ts";
import type { JetStreamManager, NatsConnection, StreamConfig } from "#platform/values/nats.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import { type NatsServer, startNats } from "../../../deploy/local/nats.ts";
import { findNatsServer } from "../../../deploy/local/nats-binary.ts";
import { durableConsumers } from "../../../services/services.ts";
import { freshDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const test = suite("lost streams", { timeoutMs: 60_000 });
const log = createLog("test", "silent");
const source = "payments";
const consumer = durableConsumers.fanOut;

let home: string;
let program: string;
let port: number;
let server: NatsServer;

test.before(async () => {
  home = await tempDir("lost-streams");
  program = (await findNatsServer()).path;
  port = await freePort();
  await startBroker();
});
test.after(async () => {
  await server.stop();
  await rm(home, { recursive: true, force: true });
});

const store = () => join(home, "nats");
async function startBroker(): Promise<void> {
  server = await startNats({ program, storeDir: store(), port, keepsParentAlive: false });
}

/** Stops the broker, runs the work, and starts it again. */
async function whileDown(work: () => Promise<void>): Promise<void> {
  await server.stop();
  await work();
  await startBroker();
}

/** Replicas of payments that announce events, and a consumer. */
class EventSource {
  readonly namespace = `t${randomBytes(4).toString("hex")}`;
  readonly stream = streamName(this.namespace, source);
  readonly outbox = new Outbox({ namespace: this.namespace, source });
  readonly consumed: string[] = [];
  db!: Database;
  #ends: (() => Promise<void>)[] = [];

  static async begin({ migrated = true } = {}): Promise<EventSource> {
    const eventSource = new EventSource();
    // Like migrate, but without consumers.
    const of = { namespace: eventSource.namespace, source, replicas: 1 } as const;
    if (migrated) await asAdmin((manager) => makeStream(manager, of));
    eventSource.db = await Database.open({ url: (await freshDatabase(source)).serviceUrl, name: "test", log });
    return eventSource;
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
    await this.db.close();
  }

  async bus(): Promise<EventBus> {
    const bus = new EventBus({
      broker: { url: server.url },
      namespace: this.namespace,
      name: "test",
      log,
    });
    this.#ends.push(() => bus.close());
    await eventually("the bus to connect", () => bus.connected);
    return bus;
  }

  /** A replica with the jobs that every service has. */
  async replica(): Promise<void> {
    const jobs = startJobs(
      outboxJobs(this.db, await this.bus(), this.outbox, { replicas: 1, ackWaitSeconds: 1, log }),
      log,
    );
    this.#ends.push(() => jobs.stop());
  }

  /** Consumes with an inbox; `consumed` lists the objects of new events. */
  async follow(): Promise<EventBus> {
    const bus = await this.bus();
    // The source creates this consumer too.
    bus.consume({ ...durableConsumers.followPayments, handle: async () => {} });
    bus.consume({
      ...consumer,
      handle: async (events) => {
        const fresh = await this.db.transaction((tx) =>
          markConsumed(
            tx,
            consumer.name,
            events.map(({ id }) => id),
          ),
        );
        this.consumed.push(...events.filter(({ id }) => fresh.has(id)).map(({ objectId }) => objectId));
      },
    });
    return bus;
  }

  async announce(...objectIds: string[]): Promise<void> {
    const about = {
      type: "payment.succeeded",
      merchantId: "mer_1",
      environment: Environment.SANDBOX,
      status: "succeeded",
    };
    await this.outbox.append(
      this.db,
      objectIds.map((objectId) => ({ ...about, objectId, at: new Date() })),
    );
    this.outbox.wake();
  }

  async published(count: number): Promise<void> {
    await eventually(`${count} events to be published`, async () => (await this.positions()).length === count);
  }

  /** Stream positions of the published rows, in order. */
  async positions(): Promise<(string | null)[]> {
    const rows = await this.db.rows<{ position: string | null }>(
      "select stream_seq as position from outbox where published_at is not null order by seq",
    );
    return rows.map(({ position }) => position);
  }

  async waitForConsumed(...objectIds: string[]): Promise<void> {
    await eventually("all events to be consumed", () => objectIds.every((id) => this.consumed.includes(id)));
  }

  /** Waits until the source knows that all events were consumed. */
  async settled(): Promise<void> {
    const wanted =
      "select from event_stream where last_seq > 0 and taken_seq = last_seq and settled_before > '-infinity'";
    await eventually("the consumed position to be recorded", async () => (await this.db.rows(wanted)).length > 0);
  }
}

async function asAdmin<T>(work: (manager: JetStreamManager, nats: NatsConnection) => Promise<T>): Promise<T> {
  const nats = await connectBroker({ url: server.url }, { name: "admin", reconnect: false });
  try {
    return await work(await nats.jetstreamManager(), nats);
  } finally {
    await nats.close();
  }
}

async function ofSource(name: string) {
  const { values = [] } = (await register.getSingleMetric(name)?.get()) ?? {};
  return values.filter(({ labels }) => labels.source === source);
}

/** A test with payments as the source. */
function withPayments(name: string, body: (payments: EventSource) => Promise<void>, options?: { migrated: boolean }) {
  test(name, async () => {
    const payments = await EventSource.begin(options);
    await body(payments).finally(() => payments.end());
  });
}

/** Increases of the counters during the work. */
async function counted(work: () => Promise<void>): Promise<{ losses: Record<string, number>; sentAgain: number }> {
  const read = async () => ({
    losses: (await ofSource("tollbooth_stream_losses_total")).map(
      ({ labels, value }) => [String(labels.how), value] as const,
    ),
    sentAgain: (await ofSource("tollbooth_events_sent_again_total"))[0]?.value ?? 0,
  });
  const before = await read();
  await work();
  const after = await read();
  const risen = after.losses.map(([how, value], i) => [how, value - (before.losses[i]?.[1] ?? 0)] as const);
  return {
    losses: Object.fromEntries(risen.filter(([, rise]) => rise > 0)),
    sentAgain: after.sentAgain - before.sentAgain,
  };
}

const deletion = (stream: string) => asAdmin((manager) => manager.streams.delete(stream));

withPayments("a deleted stream is created again, and its unconsumed events arrive once", async (payments) => {
  await payments.replica();
  const following = await payments.follow();
  await payments.announce("pay_before");
  await payments.waitForConsumed("pay_before");
  await payments.settled();
  await following.close();
  await payments.announce("pay_1", "pay_2", "pay_3");
  await payments.published(4);
  const wanted = await asAdmin(async (manager) => (await manager.streams.info(payments.stream)).config);
  const rise = await counted(async () => {
    await deletion(payments.stream);
    await eventually("the loss to be found", async () => (await payments.positions()).join() === "1,1,2,3");
  });
  assert.deepEqual(rise, { losses: { another_stream: 1 }, sentAgain: 3 }, "consumed events are not sent again");
  const made = await asAdmin(async (manager) => (await manager.streams.info(payments.stream)).config);
  assert.deepEqual(made, wanted, "same configuration as from migrate");
  await payments.follow();
  await payments.announce("pay_after");
  await payments.waitForConsumed("pay_1", "pay_2", "pay_3", "pay_after");
  assert.deepEqual(payments.consumed, ["pay_before", "pay_1", "pay_2", "pay_3", "pay_after"]);
});

withPayments(
  "after the broker lost its store, one of the replicas restores the stream and its unconsumed events",
  async (payments) => {
    for (let i = 0; i < 3; i++) await payments.replica();
    await payments.announce("pay_1", "pay_2");
    await payments.published(2);
    const rise = await counted(async () => {
      await whileDown(() => rm(store(), { recursive: true }));
      await payments.follow();
      await payments.announce("pay_3");
      await payments.waitForConsumed("pay_1", "pay_2", "pay_3");
    });
    assert.deepEqual(rise, { losses: { another_stream: 1 }, sentAgain: 2 });
    assert.deepEqual(payments.consumed.sort(), ["pay_1", "pay_2", "pay_3"]);
  },
);

withPayments(
  "an older copy of the store gets the missing events again, also when new events take their positions",
  async (payments) => {
    await payments.replica();
    await payments.announce("pay_1");
    await payments.published(1);
    const copy = join(home, "copy");
    await whileDown(() => cp(store(), copy, { recursive: true }));
    await payments.announce("pay_2", "pay_3");
    await payments.published(3);
    const rise = await counted(async () => {
      await whileDown(async () => {
        await rm(store(), { recursive: true });
        await cp(copy, store(), { recursive: true });
        // The relay publishes these as soon as the broker is back.
        await payments.announce("pay_4", "pay_5", "pay_6");
      });
      await payments.follow();
      await payments.waitForConsumed("pay_1", "pay_2", "pay_3", "pay_4", "pay_5", "pay_6");
    });
    assert.deepEqual(rise, { losses: { shorter: 1 }, sentAgain: 2 });
    assert.equal(payments.consumed.length, 6);
  },
);

withPayments(
  "a reused stream position reveals a truncated stream, also when it is longer than before",
  async (payments) => {
    const bus = await payments.bus();
    const watch = new StreamWatch({ db: payments.db, bus, source, replicas: 1, log });
    await watch.checkStream();
    await payments.announce("pay_1", "pay_2");
    await relayOnce(payments.db, bus);
    // The end of the stream is lost: these rows were acknowledged, but the stream does not have them.
    await payments.announce("pay_lost_1", "pay_lost_2");
    await payments.db.rows("update outbox set published_at = now(), stream_seq = seq where published_at is null");
    await payments.db.rows("update event_stream set last_seq = 4");
    await payments.announce(...Array.from({ length: 5 }, (_, i) => `pay_new_${i}`));
    const failure = await relayOnce(payments.db, bus).catch((error: unknown) => error);
    assert(failure instanceof StreamCut);
    assert.equal(failure.lastSeq, 2);
    const rise = await counted(() => watch.checkAfter(failure));
    assert.deepEqual(rise, { losses: { shorter: 1 }, sentAgain: 2 });
    await relayOnce(payments.db, bus);
    assert.deepEqual(await payments.positions(), ["1", "2", "8", "9", "3", "4", "5", "6", "7"]);
  },
);

withPayments(
  "a gap in the stream is found, and its event is sent again once",
  async (payments) => {
    // Our streams forbid deletion, so this one has its own configuration.
    const config = { name: payments.stream, subjects: [`${payments.namespace}.events.payments.>`] };
    await asAdmin((manager) => manager.streams.add(config as Partial<StreamConfig>));
    const bus = await payments.bus();
    const watch = new StreamWatch({ db: payments.db, bus, source, replicas: 1, log });
    await watch.checkStream();
    await payments.announce("pay_1", "pay_2", "pay_3");
    await relayOnce(payments.db, bus);
    await asAdmin((manager) => manager.streams.deleteMessage(payments.stream, 2));
    // As if the broker's duplicate window were over.
    await payments.db.rows("update outbox set event_id = event_id || 'x' where stream_seq = 2");
    assert.deepEqual(await counted(() => watch.checkStream()), { losses: { gaps: 1 }, sentAgain: 1 });
    await relayOnce(payments.db, bus);
    assert.deepEqual(await payments.positions(), ["1", "4", "3"]);
    assert.deepEqual(await counted(() => watch.checkStream()), { losses: {}, sentAgain: 0 });
  },
  { migrated: false },
);

withPayments(
  "a missing stream is distinguished from an unreachable broker",
  async (payments) => {
    const bus = await payments.bus();
    assert.equal(await bus.state(source), "missing");
    await whileDown(async () => {
      await eventually("the broker to be unreachable", async () => (await bus.state(source)) === undefined);
    });
  },
  { migrated: false },
);

withPayments("a row that is acknowledged after the loss was found is sent again", async (payments) => {
  const bus = await payments.bus();
  const [one, other] = [0, 0].map(() => new StreamWatch({ db: payments.db, bus, source, replicas: 1, log }));
  await one?.checkStream();
  await payments.announce("pay_1");
  // Between the acknowledgement and the mark, the stream is lost and the other replica finds it.
  const published = bus.publish.bind(bus);
  bus.publish = async (...event) => {
    const placed = await published(...event);
    await deletion(payments.stream);
    await other?.checkStream();
    return placed;
  };
  await relayOnce(payments.db, bus);
  assert.deepEqual(await payments.positions(), [], "an acknowledgement of a deleted stream marks no row");
  bus.publish = published;
  await relayOnce(payments.db, bus);
  const { messages } = await asAdmin(async (manager) => (await manager.streams.info(payments.stream)).state);
  assert.equal(messages, 1);
});

withPayments(
  "expired events are no loss, nor is a stream older than its service's record",
  async (payments) => {
    const config = {
      name: payments.stream,
      subjects: [`${payments.namespace}.events.payments.>`],
      max_age: 100_000_000,
    };
    await asAdmin((manager) =>
      manager.streams.add({ ...config, duplicate_window: 100_000_000 } as Partial<StreamConfig>),
    );
    const bus = await payments.bus();
    await payments.announce("pay_1", "pay_2");
    await relayOnce(payments.db, bus);
    const state = () => asAdmin(async (manager) => (await manager.streams.info(payments.stream)).state);
    await eventually("the stream to be empty", async () => (await state()).messages === 0);
    const watch = new StreamWatch({ db: payments.db, bus, source, replicas: 1, log });
    const rise = await counted(async () => {
      await watch.checkStream();
      await watch.checkStream();
    });
    assert.deepEqual(rise, { losses: {}, sentAgain: 0 });
    assert.deepEqual(await payments.positions(), ["1", "2"]);
  },
  { migrated: false },
);

withPayments("an event older than the inbox is not sent again", async (payments) => {
  const bus = await payments.bus();
  const watch = new StreamWatch({ db: payments.db, bus, source, replicas: 1, log });
  await watch.checkStream();
  await payments.announce("pay_old", "pay_young");
  await relayOnce(payments.db, bus);
  await payments.db.rows("update outbox set created_at = now() - interval '8 days 1 minute' where seq = 1");
  await payments.db.rows("update outbox set created_at = now() - interval '7 days 23 hours' where seq = 2");
  await deletion(payments.stream);
  assert.deepEqual(await counted(() => watch.checkStream()), { losses: { another_stream: 1 }, sentAgain: 1 });
});

test.run();
