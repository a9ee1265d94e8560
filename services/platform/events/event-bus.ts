// A process's connection to NATS JetStream: publishes event bytes with a deduplication id and consumes events durably.
// It connects in the background and for ever, so that a service starts and serves while the broker is away.
import { setTimeout as pause } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import type { Tracer } from "@opentelemetry/api";
import {
  type ConsumerInfo,
  headers,
  type JetStreamClient,
  type NatsConnection,
  NatsError,
  type PubAck,
  type StreamInfo,
} from "nats";
import { type Counter, type Registry, register } from "prom-client";
import type { Log } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import type { Source } from "../../services.ts";
import { type Broker, BrokerLink, streamClient, streamManager, unlessMissing } from "./connection.ts";
import { type Consumer, consumeUntilBroken } from "./event-consumer.ts";
import { type EventKeys, macHeader, type OwnSeal, sealHeader } from "./event-keys.ts";
import { type EventMessage, eventSpan, readEvent, refusals, refusedEvents } from "./event-message.ts";
import { eventSubject, sourceOf, streamName } from "./streams.ts";

/** A stream and its durable consumers, in the broker's words. */
export interface StreamState {
  readonly stream: StreamInfo;
  readonly consumers: readonly ConsumerInfo[];
}

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
  readonly #seal: OwnSeal | undefined;
  readonly #namespace: string;
  readonly #log: Log;
  readonly #refused: Counter<"source" | "why">;
  readonly #tracer: Tracer | undefined;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #listeners: Listener[] = [];
  #stream: JetStreamClient | undefined;

  /**
   * @param options.keys absent: events are sent without a MAC, and believed as they come
   * @param options.seal absent: this process could not recognise its own events again
   * @param options.registry absent: that of a process with one service
   */
  constructor(options: {
    broker: Broker;
    keys?: EventKeys | undefined;
    seal?: OwnSeal;
    namespace: string;
    name: string;
    log: Log;
    registry?: Registry;
    tracer?: Tracer | undefined;
  }) {
    this.#keys = options.keys;
    this.#seal = options.seal;
    this.#namespace = options.namespace;
    this.#log = options.log;
    this.#refused = refusedEvents(options.registry ?? register);
    this.#tracer = options.tracer;
    this.#link = new BrokerLink({ ...options, onConnected: (connection) => this.#begin(connection) });
  }

  get connected(): boolean {
    return this.#link.connection !== undefined;
  }

  /** Undefined while there is none. Each is used until it is lost, and then another one is made. */
  get connection(): NatsConnection | undefined {
    return this.#link.connection;
  }

  get namespace(): string {
    return this.#namespace;
  }

  /** True while listeners receive every event; false while they may miss some, and for some seconds after that. */
  get isUpToDate(): boolean {
    return this.#link.isSettled;
  }

  /** What is known about a source's stream and its durable consumers; undefined: the broker does not answer. */
  async state(source: Source): Promise<StreamState | "missing" | undefined> {
    if (!this.connected) return undefined;
    try {
      const { connection } = this.#link;
      if (!connection) return undefined;
      const manager = await streamManager(connection, stateMs);
      const stream = await unlessMissing(manager.streams.info(streamName(this.#namespace, source)));
      if (!stream) return "missing";
      const consumers = await manager.consumers.list(streamName(this.#namespace, source)).next();
      return { stream, consumers };
    } catch {
      return undefined;
    }
  }

  /**
   * A message of a source's own stream; undefined: there is none under this number any more. @throws when the broker
   * does not answer.
   */
  async stored(source: Source, seq: number): Promise<EventMessage | undefined> {
    const { connection } = this.#link;
    if (!connection) throw new Failure("SERVICE_UNAVAILABLE", { cause: new Error("the broker is away") });
    const manager = await streamManager(connection, stateMs);
    const found = await unlessMissing(manager.streams.getMessage(streamName(this.#namespace, source), { seq }));
    return found && { subject: found.subject, data: found.data, headers: found.header };
  }

  /**
   * Publishes and waits for the stream's acknowledgement. The same id within 5 minutes is stored once, and answered
   * with its place.
   */
  async publish(subject: string, id: string, body: Uint8Array): Promise<{ position: number; isRepeat: boolean }> {
    const span = this.#tracer && eventSpan(this.#tracer, "PRODUCER", "publish", fromBinary(EventSchema, body));
    try {
      const ack = await this.#publish(subject, id, body, span?.traceparent);
      span?.end();
      return { position: ack.seq, isRepeat: ack.duplicate };
    } catch (error) {
      span?.end("not_published");
      throw refusalOf(error);
    }
  }

  async #publish(subject: string, id: string, body: Uint8Array, traceparent: string | undefined): Promise<PubAck> {
    const stream = this.#stream;
    if (!stream) throw new Failure("SERVICE_UNAVAILABLE", { cause: new Error("the broker is away") });
    const header = headers();
    header.set("Nats-Msg-Id", id);
    if (this.#keys) header.set(macHeader, this.#keys.macOf(sourceOf(subject), subject, body));
    if (this.#seal) header.set(sealHeader, this.#seal.of(subject, body));
    if (traceparent !== undefined) header.set("traceparent", traceparent);
    const ack = await stream.publish(subject, body, { headers: header, timeout: publishTimeoutMs });
    // A duplicate without a sequence was never stored: some server versions answer so after a change of leader.
    if (ack.seq === 0) throw new Error("the stream acknowledged without storing");
    return ack;
  }

  /** Consumes until the bus is closed; every replica of a service shares the events of one durable name. */
  consume(consumer: Consumer): void {
    this.#beginRefusals(consumer.source);
    this.#running.push(this.#consumeForever(consumer));
  }

  /**
   * Hears events as they are published, in every replica and without durability: for dropping caches at once. `onGap`
   * is called whenever some may have been missed: at the start and after every reconnect.
   */
  listen(options: Listener): void {
    this.#beginRefusals(options.source);
    this.#listeners.push(options);
    if (this.#link.connection) this.#subscribe(this.#link.connection, options);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    // Needs the broker's answer, and one that is gone gives none. First the consumers: events that they hold and have
    // not handled go back at once, instead of when their acknowledgement is overdue.
    const late = () => new Promise((resolve) => setTimeout(resolve, drainMs).unref());
    const answered = late();
    await Promise.race([Promise.allSettled(this.#running), answered]);
    await this.#link.close();
    // A batch that a database holds up is given the same time again, and then comes back to another process.
    await Promise.race([Promise.allSettled(this.#running), late()]);
  }

  #begin(connection: NatsConnection): void {
    this.#stream = streamClient(connection);
    for (const listener of this.#listeners) this.#subscribe(connection, listener);
  }

  #subscribe(connection: NatsConnection, listener: Listener): void {
    connection.subscribe(eventSubject(this.#namespace, listener.source, listener.types), {
      callback: (error, message) => {
        if (error) return listener.onGap();
        const read = readEvent(message, listener.source, this.#keys);
        if (typeof read !== "string") return listener.onEvent(read);
        this.#refused.inc({ source: listener.source, why: read });
        this.#log.error({ why: read, source: listener.source }, "event passed over: not proved to be its source's");
      },
    });
    // The broker knows of the subscription once it has answered; whatever was cached before may be older than an
    // unheard event.
    void connection.flush().then(listener.onGap, listener.onGap);
  }

  /** From zero on, so that the first one is seen. */
  #beginRefusals(source: Source): void {
    for (const why of refusals) this.#refused.inc({ source, why }, 0);
  }

  async #consumeForever(consumer: Consumer): Promise<void> {
    let lastError = "";
    while (!this.#closing.signal.aborted) {
      try {
        await this.#consume(consumer);
        lastError = "";
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        // Its source may be making it.
        const isNew = String(error) !== lastError;
        if (isNew) this.#log.warn({ err: error, consumer: consumer.name }, "consumer interrupted; starting it again");
        lastError = String(error);
      }
      await pause(consumeAgainMs, undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  async #consume(consumer: Consumer): Promise<void> {
    const { connection } = this.#link;
    if (!connection) return;
    const stream = streamName(this.#namespace, consumer.source);
    await consumeUntilBroken({
      ...{ connection, stream, consumer },
      keys: this.#keys,
      closing: this.#closing.signal,
      log: this.#log,
      refused: this.#refused,
      tracer: this.#tracer,
    });
  }
}

/** The client's error has the code alone, 503 for a full stream as for none; what the broker said stands beside it. */
function refusalOf(error: unknown): unknown {
  const description = error instanceof NatsError ? error.api_error?.description : undefined;
  return description === undefined
    ? error
    : new Error(`the stream refuses the event: ${description}`, { cause: error });
}
