// A process's connection to NATS JetStream: publishes event bytes with a deduplication id and consumes events durably. It
// connects in the background and for ever, so that a service starts and serves while the broker is away.
import { setTimeout as pause } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import { type ConsumerInfo, headers, type JetStreamClient, type NatsConnection, type StreamInfo } from "nats";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import type { Broker } from "./broker-connection.ts";
import { BrokerLink } from "./broker-link.ts";
import { type Consumer, consumeUntilBroken } from "./event-consumer.ts";
import { type EventKeys, macHeader } from "./event-keys.ts";
import { countRefusals, readEvent } from "./event-message.ts";
import { eventSpan } from "./event-span.ts";
import { Failure } from "./failure.ts";
import type { Log } from "./log.ts";
import { consumerConfig, eventSubject, type Source, sourceOf, streamName } from "./streams.ts";
import { isTracing } from "./trace.ts";

export interface Listener {
  readonly source: Source;
  readonly types: string;
  readonly onEvent: (event: Event) => void;
  readonly onGap: () => void;
}

const consumeAgainMs = 500;
const publishTimeoutMs = 5_000;
// Who asks for the state would rather hear nothing than wait.
const stateMs = 1_000;
// A healthy broker answers at once.
const drainMs = 2_000;

export class EventBus {
  readonly #link: BrokerLink;
  readonly #keys: EventKeys | undefined;
  readonly #namespace: string;
  readonly #log: Log;
  readonly #ackWaitSeconds: number | undefined;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #listeners: Listener[] = [];
  #stream: JetStreamClient | undefined;

  /**
   * @param options.keys absent: events are sent without a MAC, and believed as they come
   * @param options.ackWaitSeconds long enough for any batch to commit; a crashed consumer's events come back after it
   */
  constructor(options: {
    broker: Broker;
    keys?: EventKeys | undefined;
    namespace: string;
    name: string;
    log: Log;
    ackWaitSeconds?: number;
  }) {
    this.#keys = options.keys;
    this.#namespace = options.namespace;
    this.#log = options.log;
    this.#ackWaitSeconds = options.ackWaitSeconds;
    this.#link = new BrokerLink({
      ...options,
      onConnected: (connection) => this.#begin(connection),
      onReturn: () => this.#tellGap(),
    });
  }

  get connected(): boolean {
    return this.#link.connection !== undefined;
  }

  /** The broker answered within the last second. */
  get answering(): boolean {
    return this.#link.isAnswering;
  }

  /** True while listeners surely hear every event; false while they may miss some, and for some seconds after that. */
  get hearing(): boolean {
    return this.#link.isSure;
  }

  /** What is known about a source's stream and its durable consumers; undefined: the broker does not answer. */
  async state(source: Source): Promise<{ stream: StreamInfo; consumers: ConsumerInfo[] } | undefined> {
    if (!this.answering) return undefined;
    try {
      const manager = await this.#link.connection?.jetstreamManager({ timeout: stateMs });
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
    if (this.#keys) header.set(macHeader, this.#keys.macOf(sourceOf(subject), subject, body));
    if (traceparent !== undefined) header.set("traceparent", traceparent);
    const ack = await stream.publish(subject, body, { headers: header, timeout: publishTimeoutMs });
    // A duplicate without a sequence was never stored: some server versions answer so after a change of leader.
    if (ack.seq === 0) throw new Error("the stream acknowledged without storing");
  }

  /** Consumes until the bus is closed; every replica of a service shares the events of one durable name. */
  consume(consumer: Consumer): void {
    countRefusals(consumer.source);
    this.#running.push(this.#consumeForever(consumer));
  }

  /**
   * Hears events as they are published, in every replica and without durability: for dropping caches at once. `onGap` is
   * called whenever some may have been missed (at the start, after every reconnect and every silence of the broker).
   */
  listen(options: Listener): void {
    countRefusals(options.source);
    this.#listeners.push(options);
    if (this.#link.connection) this.#subscribe(this.#link.connection, options);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    // Needs the broker's answer, and one that is gone gives none. First the consumers: events that they hold and have not
    // handled go back at once, instead of when their acknowledgement is overdue.
    const late = () => new Promise((resolve) => setTimeout(resolve, drainMs).unref());
    const answered = late();
    await Promise.race([Promise.allSettled(this.#running), answered]);
    await this.#link.close();
    // A batch that a database holds up is given the same time again, and then comes back to another process.
    await Promise.race([Promise.allSettled(this.#running), late()]);
  }

  #begin(connection: NatsConnection): void {
    this.#stream = connection.jetstream();
    for (const listener of this.#listeners) this.#subscribe(connection, listener);
  }

  #tellGap(): void {
    for (const listener of this.#listeners) listener.onGap();
  }

  #subscribe(connection: NatsConnection, listener: Listener): void {
    connection.subscribe(eventSubject(this.#namespace, listener.source, listener.types), {
      callback: (error, message) => {
        if (error) return listener.onGap();
        const read = readEvent(message, listener.source, this.#keys);
        if (typeof read !== "string") listener.onEvent(read);
        else
          this.#log.error({ why: read, source: listener.source }, "event passed over: not proved to be its source's");
      },
    });
    // The broker knows of the subscription once it has answered; whatever was cached before may be older than an unheard event.
    void connection.flush().then(listener.onGap, listener.onGap);
  }

  async #consumeForever(consumer: Consumer): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#consume(consumer);
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        this.#log.warn({ err: error, consumer: consumer.name }, "consumer interrupted; starting it again");
      }
      await pause(consumeAgainMs, undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  async #consume(consumer: Consumer): Promise<void> {
    const { connection } = this.#link;
    if (!connection) return;
    const config = consumerConfig(this.#namespace, consumer, this.#ackWaitSeconds);
    const stream = streamName(this.#namespace, consumer.source);
    const [keys, log, closing] = [this.#keys, this.#log, this.#closing.signal];
    await consumeUntilBroken({ connection, stream, config, consumer, keys, closing, log });
  }
}
