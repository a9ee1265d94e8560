// A process's connection to NATS JetStream: publishes event bytes with a deduplication id and consumes events durably. It
// connects in the background and for ever, so that a service starts and serves while the broker is away.
import { fromBinary } from "@bufbuild/protobuf";
import { type ConsumerInfo, headers, type JetStreamClient, type NatsConnection, type StreamInfo } from "nats";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { connectBroker } from "./broker-connection.ts";
import { type Consumer, consumeUntilBroken } from "./event-consumer.ts";
import { eventSpan } from "./event-span.ts";
import { Failure } from "./failure.ts";
import { Hearing } from "./hearing.ts";
import type { Log } from "./log.ts";
import { consumerConfig, eventSubject, type Source, streamName } from "./streams.ts";
import { isTracing } from "./trace.ts";

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
  #hearing: Hearing | undefined;

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

  /** The broker answered within the last second. */
  get answering(): boolean {
    return this.#hearing?.isHeard ?? false;
  }

  /** True while listeners surely hear every event; false while they may miss some, and for some seconds after that. */
  get hearing(): boolean {
    return this.#hearing?.isSure ?? false;
  }

  /** What is known about a source's stream and its durable consumers; undefined: the broker does not answer. */
  async state(source: Source): Promise<{ stream: StreamInfo; consumers: ConsumerInfo[] } | undefined> {
    if (!this.answering) return undefined;
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
   * called whenever some may have been missed (at the start, after every reconnect and every silence of the broker).
   */
  listen(options: Listener): void {
    this.#listeners.push(options);
    if (this.#connection) this.#subscribe(this.#connection, options);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#hearing?.stop();
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
        const connection = await connectBroker(this.#url, {
          name: this.#name,
          timeout: connectMs,
          maxReconnectAttempts: -1,
          reconnectTimeWait: reconnectMs,
          pingInterval: 10_000,
          // An error made ahead for every publish, in case it fails, is a quarter of what publishing costs.
          noAsyncTraces: true,
        });
        if (this.#closing.signal.aborted) return await connection.close();
        this.#connection = connection;
        this.#stream = connection.jetstream();
        for (const listener of this.#listeners) this.#subscribe(connection, listener);
        this.#hearing = new Hearing(connection, () => this.#tellGap());
        this.#watchConnection(connection, this.#hearing);
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

  #tellGap(): void {
    for (const listener of this.#listeners) listener.onGap();
  }

  #watchConnection(connection: NatsConnection, hearing: Hearing): void {
    void (async () => {
      for await (const status of connection.status()) {
        if (status.type === "reconnect") this.#log.info("the broker is back");
        if (status.type !== "disconnect") continue;
        hearing.lose();
        this.#log.warn("the broker is away; reconnecting");
      }
    })().catch((error) => this.#log.warn({ err: error }, "broker status unknown"));
  }

  async #consumeForever(consumer: Consumer): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#consume(consumer);
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        this.#log.warn({ err: error, consumer: consumer.name }, "consumer interrupted; starting it again");
      }
      await this.#pause(reconnectMs);
    }
  }

  async #consume(consumer: Consumer): Promise<void> {
    const connection = this.#connection;
    if (!connection) return;
    const config = consumerConfig(this.#namespace, consumer, this.#ackWaitSeconds);
    const stream = streamName(this.#namespace, consumer.source);
    await consumeUntilBroken({ connection, stream, config, consumer, closing: this.#closing.signal, log: this.#log });
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
