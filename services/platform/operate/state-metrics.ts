// What a process tells Prometheus about its surroundings when it is asked: its database connections, its outbox, its
// stream and who consumes it, the age of its encryption key. Asked at each scrape; what cannot be found out is
// left out rather than told wrongly.
import type pg from "pg";
import { copiesOf, type Source, takenBy } from "#platform/broker/streams.ts";
import type { Database } from "#platform/database/database.ts";
import type { EventBus, StreamState } from "#platform/events/event-bus.ts";
import { outboxState } from "#platform/events/outbox.ts";
import { lastLossSeconds, untakenSeconds } from "#platform/events/stream-record.ts";
import { Gauge } from "#platform/parts/metric.ts";
import { ownState } from "#platform/parts/part.ts";
import { readKeyAges } from "./key-age.ts";

/** Where the state is read. */
export interface StateSources {
  readonly service: Source;
  readonly db: Database;
  readonly bus: EventBus;
  /** Of the key that encrypts. */
  readonly keyId: string;
}

const sources = ownState(() => new Set<StateSources>());

/** From now on scrapes tell of these. @returns ends it */
export function tellState(given: StateSources): () => void {
  const own = sources();
  own.add(given);
  return () => void own.delete(given);
}

new Gauge({
  name: "tollbooth_database_connections",
  help: "Connections of this process's pool: open, idle, and requests that wait for one.",
  labelNames: ["state"] as const,
  collect() {
    const sum = (count: (pool: pg.Pool) => number) => [...sources()].reduce((n, { db }) => n + count(db.pool), 0);
    this.set(
      { state: "open" },
      sum((pool) => pool.totalCount),
    );
    this.set(
      { state: "idle" },
      sum((pool) => pool.idleCount),
    );
    this.set(
      { state: "waiting" },
      sum((pool) => pool.waitingCount),
    );
  },
});

new Gauge({
  name: "tollbooth_broker_connected",
  help: "1 while NATS answers this process, else 0.",
  collect() {
    for (const { bus } of sources()) this.set(bus.connected ? 1 : 0);
  },
});

/** For gauges that are read together: each scrape waits for the reading, whichever of them it comes to first. */
function oneReading(read: () => Promise<void>): () => Promise<void> {
  const own = ownState<{ underWay?: Promise<void> | undefined }>(() => ({}));
  return () => {
    const state = own();
    state.underWay ??= read().finally(() => {
      state.underWay = undefined;
    });
    return state.underWay;
  };
}

const readOutboxes = oneReading(async () => {
  const states = await Promise.all(
    [...sources()].map(async ({ service, db }) => ({ service, state: await outboxState(db).catch(() => undefined) })),
  );
  for (const gauge of [waiting, oldest]) gauge.reset();
  for (const { service, state } of states) {
    if (!state) continue;
    waiting.set({ service }, state.waiting);
    oldest.set({ service }, state.oldestSeconds);
  }
});
const waiting = new Gauge({
  name: "tollbooth_outbox_waiting",
  help: "Committed events that are not published yet, by service.",
  labelNames: ["service"] as const,
  collect: readOutboxes,
});
const oldest = new Gauge({
  name: "tollbooth_outbox_oldest_seconds",
  help: "Age of the oldest committed event that is not published yet; 0: none waits.",
  labelNames: ["service"] as const,
  collect: readOutboxes,
});

const readStreams = oneReading(async () => {
  const states = await Promise.all(
    [...sources()].map(async ({ service, bus, db }) => {
      const state = await bus.state(service);
      const known = state && state !== "missing" ? state : undefined;
      return { state: known, ages: await untakenOf(db, known) };
    }),
  );
  for (const gauge of [messages, bytes, bytesMax, copies, pending, unacknowledged, redelivered, untaken]) gauge.reset();
  for (const { state, ages } of states) {
    if (!state) continue;
    const stream = state.stream.config.name;
    messages.set({ stream }, state.stream.state.messages);
    bytes.set({ stream }, state.stream.state.bytes);
    // 0 or less is no limit.
    if (state.stream.config.max_bytes > 0) bytesMax.set({ stream }, state.stream.config.max_bytes);
    const { wanted, current } = copiesOf(state.stream);
    copies.set({ stream, state: "wanted" }, wanted);
    copies.set({ stream, state: "current" }, current);
    for (const { name: consumer, num_pending, num_ack_pending, num_redelivered } of state.consumers) {
      pending.set({ stream, consumer }, num_pending);
      unacknowledged.set({ stream, consumer }, num_ack_pending);
      redelivered.set({ stream, consumer }, num_redelivered);
    }
    for (const [consumer, seconds] of ages) untaken.set({ stream, consumer }, seconds);
  }
});

/** By the outbox, whatever the broker says that it has. */
async function untakenOf(db: Database, state: StreamState | undefined): Promise<Map<string, number>> {
  const consumers = (state?.consumers ?? []).map((consumer) => ({
    name: consumer.name,
    follows: consumer.config.filter_subject ?? "",
    takenSeq: state ? takenBy(consumer, state.stream) : 0,
  }));
  return await untakenSeconds(db, consumers).catch(() => new Map());
}
const messages = new Gauge({
  name: "tollbooth_stream_messages",
  help: "Events in a JetStream stream.",
  labelNames: ["stream"] as const,
  collect: readStreams,
});
const bytes = new Gauge({
  name: "tollbooth_stream_bytes",
  help: "Size of a JetStream stream.",
  labelNames: ["stream"] as const,
  collect: readStreams,
});
const bytesMax = new Gauge({
  name: "tollbooth_stream_bytes_max",
  help: "Size at which a JetStream stream refuses events.",
  labelNames: ["stream"] as const,
  collect: readStreams,
});
const copies = new Gauge({
  name: "tollbooth_stream_copies",
  help: "Copies of a JetStream stream: wanted, and current ones.",
  labelNames: ["stream", "state"] as const,
  collect: readStreams,
});
const pending = new Gauge({
  name: "tollbooth_consumer_pending",
  help: "Events that a durable consumer has not been offered yet.",
  labelNames: ["stream", "consumer"] as const,
  collect: readStreams,
});
const unacknowledged = new Gauge({
  name: "tollbooth_consumer_unacknowledged",
  help: "Events that a durable consumer was offered and has not acknowledged.",
  labelNames: ["stream", "consumer"] as const,
  collect: readStreams,
});
const redelivered = new Gauge({
  name: "tollbooth_consumer_redelivered",
  help: "Unacknowledged events that a durable consumer was offered more than once.",
  labelNames: ["stream", "consumer"] as const,
  collect: readStreams,
});

const untaken = new Gauge({
  name: "tollbooth_consumer_untaken_seconds",
  help: "Time since the oldest event was published that a durable consumer has not taken in, by its source's own books; 0: it has all.",
  labelNames: ["stream", "consumer"] as const,
  collect: readStreams,
});

new Gauge({
  name: "tollbooth_stream_lost_timestamp_seconds",
  help: "When the broker was last found to have lost published events or the whole stream, by source; 0: never.",
  labelNames: ["source"] as const,
  async collect() {
    this.reset();
    for (const { service, db } of sources()) {
      const at = await lastLossSeconds(db).catch(() => undefined);
      if (at !== undefined) this.set({ source: service }, at);
    }
  },
});

new Gauge({
  name: "tollbooth_encryption_key_age_seconds",
  help: "Time since the key that encrypts was first used for this service.",
  labelNames: ["service", "key"] as const,
  async collect() {
    this.reset();
    for (const { service, db, keyId: key } of sources()) {
      const ages = await readKeyAges(db).catch(() => undefined);
      const age = ages?.get(key);
      if (age) this.set({ service, key }, age.seconds);
    }
  },
});
