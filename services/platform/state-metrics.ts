// What a process tells Prometheus about its surroundings when it is asked: its database connections, its outbox, its stream and who
// consumes it. Asked at each scrape; what cannot be found out is left out rather than told wrongly.
import type pg from "pg";
import { Gauge } from "prom-client";
import type { Database } from "./database.ts";
import type { EventBus } from "./event-bus.ts";
import { outboxState } from "./outbox.ts";
import { copiesOf, type Source } from "./streams.ts";

/** Where the state is read. */
export interface StateSources {
  readonly service: Source;
  readonly db: Database;
  readonly bus: EventBus;
}

const sources = new Set<StateSources>();

/** From now on scrapes tell of these. @returns ends it */
export function tellState(given: StateSources): () => void {
  sources.add(given);
  return () => void sources.delete(given);
}

new Gauge({
  name: "tollbooth_database_connections",
  help: "Connections of this process's pool: open, idle, and requests that wait for one.",
  labelNames: ["state"] as const,
  collect() {
    const sum = (count: (pool: pg.Pool) => number) => [...sources].reduce((n, { db }) => n + count(db.pool), 0);
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
    for (const { bus } of sources) this.set(bus.answering ? 1 : 0);
  },
});

const waiting = new Gauge({
  name: "tollbooth_outbox_waiting",
  help: "Committed events that are not published yet, by service.",
  labelNames: ["service"] as const,
  async collect() {
    waiting.reset();
    oldest.reset();
    for (const { service, db } of sources) {
      const state = await outboxState(db).catch(() => undefined);
      if (!state) continue;
      waiting.set({ service }, state.waiting);
      oldest.set({ service }, state.oldestAt ? Math.max(0, (Date.now() - state.oldestAt.getTime()) / 1_000) : 0);
    }
  },
});
const oldest = new Gauge({
  name: "tollbooth_outbox_oldest_seconds",
  help: "Age of the oldest committed event that is not published yet; 0: none waits.",
  labelNames: ["service"] as const,
});

const messages = new Gauge({
  name: "tollbooth_stream_messages",
  help: "Events in a JetStream stream.",
  labelNames: ["stream"] as const,
  async collect() {
    for (const gauge of [messages, bytes, copies, pending, unacknowledged, redelivered]) gauge.reset();
    for (const { service, bus } of sources) {
      const state = await bus.state(service);
      if (!state) continue;
      const stream = state.stream.config.name;
      messages.set({ stream }, state.stream.state.messages);
      bytes.set({ stream }, state.stream.state.bytes);
      const { wanted, current } = copiesOf(state.stream);
      copies.set({ stream, state: "wanted" }, wanted);
      copies.set({ stream, state: "current" }, current);
      for (const { name: consumer, num_pending, num_ack_pending, num_redelivered } of state.consumers) {
        pending.set({ stream, consumer }, num_pending);
        unacknowledged.set({ stream, consumer }, num_ack_pending);
        redelivered.set({ stream, consumer }, num_redelivered);
      }
    }
  },
});
const bytes = new Gauge({
  name: "tollbooth_stream_bytes",
  help: "Size of a JetStream stream.",
  labelNames: ["stream"] as const,
});
const copies = new Gauge({
  name: "tollbooth_stream_copies",
  help: "Copies of a JetStream stream: wanted, and current ones.",
  labelNames: ["stream", "state"] as const,
});
const pending = new Gauge({
  name: "tollbooth_consumer_pending",
  help: "Events that a durable consumer has not been offered yet.",
  labelNames: ["stream", "consumer"] as const,
});
const unacknowledged = new Gauge({
  name: "tollbooth_consumer_unacknowledged",
  help: "Events that a durable consumer was offered and has not acknowledged.",
  labelNames: ["stream", "consumer"] as const,
});
const redelivered = new Gauge({
  name: "tollbooth_consumer_redelivered",
  help: "Unacknowledged events that a durable consumer was offered more than once.",
  labelNames: ["stream", "consumer"] as const,
});
