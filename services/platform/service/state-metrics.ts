// Metrics of a service's database connections, outbox, stream, consumers and encryption key, read at each scrape.
// Unreadable values are left out instead of reported wrongly.
import type { Registry } from "prom-client";
import type { Database } from "#platform/database/database.ts";
import type { EventBus, StreamState } from "#platform/events/event-bus.ts";
import { outboxState } from "#platform/events/outbox.ts";
import { lastLossSeconds, readLagSeconds } from "#platform/events/stream-record.ts";
import { copiesOf, findConsumedSeq } from "#platform/events/streams.ts";
import type { JobWatch } from "#platform/process/job.ts";
import { newGauge } from "#platform/telemetry/metrics.ts";
import type { Source } from "../../services.ts";
import { readKeyAges } from "./encryption-keys.ts";

export interface StateSources {
  readonly service: Source;
  readonly db: Database;
  readonly bus: EventBus;
  /** Of the key that encrypts. */
  readonly keyId: string;
  readonly watch: JobWatch;
}

/** Registers the metrics; each scrape reads these sources. */
export function reportState(registry: Registry, sources: StateSources): void {
  reportConnections(registry, sources);
  reportOutbox(registry, sources);
  reportStream(registry, sources);
  reportEncryptionKey(registry, sources);
}

function reportConnections(registry: Registry, { db, bus }: StateSources): void {
  newGauge(registry, {
    name: "tollbooth_database_connections",
    help: "Connections of this process's pool: open, idle, and requests that wait for one.",
    labelNames: ["state"] as const,
    collect() {
      this.set({ state: "open" }, db.pool.totalCount);
      this.set({ state: "idle" }, db.pool.idleCount);
      this.set({ state: "waiting" }, db.pool.waitingCount);
    },
  });
  newGauge(registry, {
    name: "tollbooth_broker_connected",
    help: "1 while NATS answers this process, else 0.",
    collect() {
      this.set(bus.connected ? 1 : 0);
    },
  });
}

/** Gauges that are read together share one reading per scrape. */
function oneReading(read: () => Promise<void>): () => Promise<void> {
  let reading: Promise<void> | undefined;
  return () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

function reportOutbox(registry: Registry, { service, db }: StateSources): void {
  const collect = oneReading(async () => {
    const state = await outboxState(db).catch(() => undefined);
    for (const each of [waiting, oldest]) each.reset();
    if (!state) return;
    waiting.set({ service }, state.waiting);
    oldest.set({ service }, state.oldestSeconds);
  });
  const waiting = newGauge(registry, {
    name: "tollbooth_outbox_waiting",
    help: "Committed events that are not published yet, by service.",
    labelNames: ["service"] as const,
    collect,
  });
  const oldest = newGauge(registry, {
    name: "tollbooth_outbox_oldest_seconds",
    help: "Age of the oldest committed event that is not published yet; 0: none waits.",
    labelNames: ["service"] as const,
    collect,
  });
}

function reportStream(registry: Registry, { service, bus, db }: StateSources): void {
  const collect = oneReading(async () => {
    const answered = await bus.state(service);
    const state = answered === "missing" ? undefined : answered;
    const ages = await readLag(db, state);
    for (const each of Object.values(gauges)) each.reset();
    if (!state) return;
    const stream = state.stream.config.name;
    gauges.messages.set({ stream }, state.stream.state.messages);
    gauges.bytes.set({ stream }, state.stream.state.bytes);
    // 0 or less is unlimited.
    if (state.stream.config.max_bytes > 0) gauges.bytesMax.set({ stream }, state.stream.config.max_bytes);
    const { wanted, current } = copiesOf(state.stream);
    gauges.copies.set({ stream, state: "wanted" }, wanted);
    gauges.copies.set({ stream, state: "current" }, current);
    for (const { name: consumer, num_pending, num_ack_pending, num_redelivered } of state.consumers) {
      gauges.pending.set({ stream, consumer }, num_pending);
      gauges.unacknowledged.set({ stream, consumer }, num_ack_pending);
      gauges.redelivered.set({ stream, consumer }, num_redelivered);
    }
    for (const [consumer, seconds] of ages) gauges.untaken.set({ stream, consumer }, seconds);
  });
  const gauges = streamGauges(registry, collect);
  newGauge(registry, {
    name: "tollbooth_stream_lost_timestamp_seconds",
    help: "When the broker was last found to have lost published events or the whole stream, by source; 0: never.",
    labelNames: ["source"] as const,
    async collect() {
      this.reset();
      const at = await lastLossSeconds(db).catch(() => undefined);
      if (at !== undefined) this.set({ source: service }, at);
    },
  });
}

function streamGauges(registry: Registry, collect: () => Promise<void>) {
  const made = <L extends string>(name: string, labelNames: readonly L[], help: string) =>
    newGauge(registry, { name: `tollbooth_${name}`, help, labelNames, collect });
  const stream = ["stream"] as const;
  const consumer = ["stream", "consumer"] as const;
  const untaken =
    "Time since the oldest event was published that a durable consumer has not consumed, by its source's records; 0 when all are consumed.";
  return {
    messages: made("stream_messages", stream, "Events in a JetStream stream."),
    bytes: made("stream_bytes", stream, "Size of a JetStream stream."),
    bytesMax: made("stream_bytes_max", stream, "Size at which a JetStream stream refuses events."),
    copies: made("stream_copies", ["stream", "state"], "Copies of a JetStream stream: wanted, and current ones."),
    pending: made("consumer_pending", consumer, "Events that a durable consumer has not been offered yet."),
    unacknowledged: made(
      "consumer_unacknowledged",
      consumer,
      "Events that a durable consumer was offered and has not acknowledged.",
    ),
    redelivered: made(
      "consumer_redelivered",
      consumer,
      "Unacknowledged events that a durable consumer was offered more than once.",
    ),
    untaken: made("consumer_untaken_seconds", consumer, untaken),
  };
}

/** From the outbox, independent of the broker's stored messages. */
async function readLag(db: Database, state: StreamState | undefined): Promise<Map<string, number>> {
  const consumers = (state?.consumers ?? []).map((consumer) => ({
    name: consumer.name,
    follows: consumer.config.filter_subject ?? "",
    consumedSeq: state ? findConsumedSeq(consumer, state.stream) : 0,
  }));
  return await readLagSeconds(db, consumers).catch(() => new Map());
}

function reportEncryptionKey(registry: Registry, { service, db, keyId: key }: StateSources): void {
  newGauge(registry, {
    name: "tollbooth_encryption_key_age_seconds",
    help: "Time since the key that encrypts was first used for this service.",
    labelNames: ["service", "key"] as const,
    async collect() {
      this.reset();
      const ages = await readKeyAges(db).catch(() => undefined);
      const age = ages?.get(key);
      if (age) this.set({ service, key }, age.seconds);
    },
  });
}
