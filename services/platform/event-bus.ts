// A process's connection to NATS JetStream: publishes event bytes with a deduplication id and consumes events durably. It
// connects in the background and for ever, so that a service starts and serves while the broker is away.
import { fromBinary } from "@bufbuild/protobuf";
import {
  type ConsumerInfo,
  type ConsumerMessages,
  headers,
  type JetStreamClient,
  type JsMsg,
  type NatsConnection,
  type StreamInfo,
} from "nats";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { connectBroker } from "./broker-connection.ts";
import { Failure } from "./failure.ts";
import type { Log } from "./log.ts";
import { consumerConfig, eventSubject, type Source, streamName } from "./streams.ts";
import { isTracing, type OpenSpan, openSpan } from "./trace.ts";

export interface Consumer {
  /** The durable name, unique within the stream. */
  readonly name: string;
  readonly source: Source;
  /** Only events of types under this prefix, e.g. `payment.>`. */
  readonly types: string;
  /** Takes in a batch; when it resolves, every event of it is durable and is acknowledged. A throw sends all again later. */
  readonly handle: (events: readonly Event[]) => Promise<void>;
}

export interface Listener {
  readonly source: Source;
  readonly types: string;
  readonly onEvent: (event: Event) => void;
  readonly onGap: () => void;
}

const reconnectMs = 500;
// A broker that dies while it is being greeted must not be waited for: the library's own limit is 20 s.
const connectMs = 2_000;
const publishTimeoutMs = 5_000;
// Who asks for the state would rather hear nothing than wait.
const stateMs = 1_000;
// A healthy broker answers at once.
const drainMs = 2_000;
// Bounds memory and the size of one transaction of a consumer.
const batchMax = 256;
// A moment, so that the stream does not offer it to this process again before it is gone.
const handBackMs = 200;
const retryPausesMs = [1_000, 5_000, 30_000, 60_000] as const;

export class EventBus {
  readonly #url: string;
  readonly #namespace: string;
  readonly #name: string;
  readonly #log: Log;
  readonly #ackWaitSeconds: number | undefined;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #listeners: Listener[] = [];
  #connection: NatsConnection | undefined;
  #stream: JetStreamClient | undefined;
  #away = false;

  /** @param options.ackWaitSeconds long enough for any batch to commit; a crashed consumer's events come back after it. */
  constructor(options: { url: string; namespace: string; name: string; log: Log; ackWaitSeconds?: number }) {
    this.#url = options.url;
    this.#namespace = options.namespace;
    this.#name = options.name;
    this.#log = options.log;
    this.#ackWaitSeconds = options.ackWaitSeconds;
    this.#running.push(this.#connect());
  }

  get connected(): boolean {
    return this.#connection !== undefined && !this.#connection.isClosed();
  }

  /** True while listeners hear every event; false while the broker is away, when they miss some. */
  get hearing(): boolean {
    return this.connected && !this.#away;
  }

  /** What is known about a source's stream and its durable consumers; undefined: the broker does not answer. */
  async state(source: Source): Promise<{ stream: StreamInfo; consumers: ConsumerInfo[] } | undefined> {
    if (!this.hearing) return undefined;
    try {
      const manager = await this.#connection?.jetstreamManager({ timeout: stateMs });
      const stream = await manager?.streams.info(streamName(this.#namespace, source));
      const consumers = await manager?.consumers.list(streamName(this.#namespace, source)).next();
      return stream && consumers && { stream, consumers };
    } catch {
      return undefined;
    }
  }

  /** Publishes and waits for the stream's acknowledgement. The same id within 5 minutes is stored once. */
  async publish(subject: string, id: string, body: Uint8Array): Promise<void> {
    const span = isTracing() ? eventSpan("PRODUCER", "publish", fromBinary(EventSchema, body)) : undefined;
    try {
      await this.#publish(subject, id, body, span?.traceparent);
      span?.end();
    } catch (error) {
      span?.end("not_published");
      throw error;
    }
  }

  async #publish(subject: string, id: string, body: Uint8Array, traceparent: string | undefined): Promise<void> {
    const stream = this.#stream;
    if (!stream) throw new Failure("SERVICE_UNAVAILABLE", { cause: new Error("the broker is away") });
    const header = headers();
    header.set("Nats-Msg-Id", id);
    if (traceparent !== undefined) header.set("traceparent", traceparent);
    const ack = await stream.publish(subject, body, { headers: header, timeout: publishTimeoutMs });
    // A duplicate without a sequence was never stored: some server versions answer so after a change of leader.
    if (ack.seq === 0) throw new Error("the stream acknowledged without storing");
  }

  /** Consumes until the bus is closed; every replica of a service shares the events of one durable name. */
  consume(consumer: Consumer): void {
    this.#running.push(this.#consumeForever(consumer));
  }

  /**
   * Hears events as they are published, in every replica and without durability: for dropping caches at once. `onGap` is
   * called whenever some may have been missed (at the start and after every reconnect).
   */
  listen(options: Listener): void {
    this.#listeners.push(options);
    if (this.#connection) this.#subscribe(this.#connection, options);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    // Both need the broker's answer, and one that is gone gives none. First the consumers: events that they hold and have not
    // handled go back at once, instead of when their acknowledgement is overdue.
    const late = () => new Promise((resolve) => setTimeout(resolve, drainMs).unref());
    const answered = late();
    await Promise.race([Promise.allSettled(this.#running), answered]);
    await Promise.race([this.#connection?.drain().catch(() => {}), answered]);
    await this.#connection?.close();
    // A batch that a database holds up is given the same time again, and then comes back to another process.
    await Promise.race([Promise.allSettled(this.#running), late()]);
  }

  async #connect(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        const connection = await connectBroker({
          servers: this.#url,
          name: this.#name,
          timeout: connectMs,
          maxReconnectAttempts: -1,
          reconnectTimeWait: reconnectMs,
          pingInterval: 10_000,
        });
        if (this.#closing.signal.aborted) return await connection.close();
        this.#connection = connection;
        this.#stream = connection.jetstream();
        for (const listener of this.#listeners) this.#subscribe(connection, listener);
        this.#watchReconnects(connection);
        return;
      } catch (error) {
        this.#log.warn({ err: error }, "the broker does not answer; trying again");
        await this.#pause(reconnectMs);
      }
    }
  }

  #subscribe(connection: NatsConnection, listener: Listener): void {
    connection.subscribe(eventSubject(this.#namespace, listener.source, listener.types), {
      callback: (error, message) => {
        if (error) return listener.onGap();
        try {
          listener.onEvent(fromBinary(EventSchema, message.data));
        } catch (cause) {
          this.#log.error({ err: cause, subject: message.subject }, "unreadable event passed over");
        }
      },
    });
    // The broker knows of the subscription once it has answered; whatever was cached before may be older than an unheard event.
    void connection.flush().then(listener.onGap, listener.onGap);
  }

  #watchReconnects(connection: NatsConnection): void {
    void (async () => {
      for await (const status of connection.status()) {
        if (status.type === "disconnect") {
          this.#away = true;
          this.#log.warn("the broker is away; reconnecting");
        }
        if (status.type !== "reconnect") continue;
        this.#away = false;
        this.#log.info("the broker is back");
        for (const listener of this.#listeners) listener.onGap();
      }
    })().catch((error) => this.#log.warn({ err: error }, "broker status unknown"));
  }

  async #consumeForever(consumer: Consumer): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#consumeOnce(consumer);
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        this.#log.warn({ err: error, consumer: consumer.name }, "consumer interrupted; starting it again");
      }
      await this.#pause(reconnectMs);
    }
  }

  async #consumeOnce(consumer: Consumer): Promise<void> {
    const connection = this.#connection;
    if (!connection || !this.#stream) return;
    const stream = streamName(this.#namespace, consumer.source);
    const manager = await connection.jetstreamManager();
    await manager.consumers.add(stream, consumerConfig(this.#namespace, consumer, this.#ackWaitSeconds));
    const arrived: JsMsg[] = [];
    let open = true;
    let wake = () => {};
    const messages = await (await this.#stream.consumers.get(stream, consumer.name)).consume({
      max_messages: 2 * batchMax,
      expires: 5_000,
      idle_heartbeat: 1_000,
      callback: (message) => {
        if (!open) return message.nak(handBackMs);
        arrived.push(message);
        wake();
      },
    });
    const stop = () => {
      open = false;
      wake();
    };
    this.#closing.signal.addEventListener("abort", stop, { once: true });
    watchHeartbeats(messages, stop);
    try {
      while (open) {
        if (arrived.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        else await this.#handleBatch(consumer, arrived.splice(0, batchMax));
      }
    } finally {
      this.#closing.signal.removeEventListener("abort", stop);
      for (const message of arrived) message.nak(handBackMs);
      // At the end of the process the connection's draining ends this too, and lets the callback hand back what is on its way.
      if (!this.#closing.signal.aborted) await messages.close();
    }
  }

  async #handleBatch(consumer: Consumer, batch: readonly JsMsg[]): Promise<void> {
    const events: Event[] = [];
    const good: JsMsg[] = [];
    for (const message of batch) {
      try {
        events.push(fromBinary(EventSchema, message.data));
        good.push(message);
      } catch (error) {
        this.#log.error({ err: error, consumer: consumer.name, seq: message.seq }, "unreadable event parked");
        message.term("unreadable");
      }
    }
    const spans = events.map((event) => eventSpan("CONSUMER", `${consumer.name} process`, event));
    try {
      await consumer.handle(events);
      for (const message of good) message.ack();
      for (const span of spans) span?.end();
    } catch (error) {
      for (const span of spans) span?.end("not_taken_in");
      const tries = Math.max(0, ...good.map((m) => m.info.redeliveryCount));
      const fields = { err: error, consumer: consumer.name, events: good.length, tries };
      if (tries >= 3) this.#log.error(fields, "events are still not taken in");
      else this.#log.warn(fields, "events not taken in; trying again");
      const pauseMs = retryPausesMs[Math.min(tries, retryPausesMs.length) - 1] ?? retryPausesMs[0];
      for (const message of good) message.nak(pauseMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      const signal = this.#closing.signal;
      function done() {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done, { once: true });
    });
  }
}

/** A step of an event's way, as a part of the call that caused the event. */
function eventSpan(kind: "PRODUCER" | "CONSUMER", name: string, event: Event): OpenSpan | undefined {
  if (event.traceparent === "") return undefined;
  const attributes = {
    "messaging.system": "nats",
    "messaging.message.id": event.id,
    "tollbooth.event_type": event.type,
  };
  return openSpan({ name, kind, parent: event.traceparent, attributes });
}

// After two missed heartbeats the pull is dead although the connection may live; the loop starts another.
function watchHeartbeats(messages: ConsumerMessages, stop: () => void): void {
  void (async () => {
    for await (const status of await messages.status()) {
      if (String(status.type) === "heartbeats_missed" && Number(status.data) >= 2) stop();
    }
  })().catch(stop);
}
