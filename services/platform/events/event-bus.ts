// A process's NATS JetStream client: publishes event bytes with a deduplication id and consumes events durably. It
// connects in the background without giving up, so a service starts and serves without the broker.
import { setTimeout as pause } from "node:timers/promises";
import { fromBinary } from "@bufbuild/protobuf";
import type { Tracer } from "@opentelemetry/api";
import { type Counter, type Registry, register } from "prom-client";
import type { Log } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import {
  type ConsumerInfo,
  headers,
  type JetStreamClient,
  type NatsConnection,
  NatsError,
  type PubAck,
  type StreamInfo,
} from "#platform/values/nats.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import type { Source } from "../../services.ts";
import { type Broker, BrokerLink, streamClient, streamManager, unlessMissing, waitAtMost } from "./connection.ts";
import { type Consumer, consumeUntilBroken } from "./event-consumer.ts";
import { type EventKeys, type EventSeal, macHeader, sealHeader } from "./event-keys.ts";
import { type EventMessage, eventSpan, readEvent, refusals, refusedEvents } from "./event-message.ts";
import { eventSubject, sourceOf, streamName } from "./streams.ts";

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
// State requests fail fast.
const stateMs = 1_000;
// A healthy broker answers at once.
const drainMs = 2_000;

export class EventBus {
  readonly #link: BrokerLink;
  readonly #keys: EventKeys | undefined;
  readonly #seal: EventSeal | undefined;
  readonly #namespace: string;
  readonly #log: Log;
  readonly #refused: Counter<"source" | "why">;
  readonly #tracer: Tracer | undefined;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #listeners: Listener[] = [];
  #stream: JetStreamClient | undefined;

  /**
   * @param options.keys without them events are sent without a MAC and not verified
   * @param options.seal without it the process cannot recognise its own events later
   * @param options.registry absent for a process with one service
   */
  constructor(options: {
    broker: Broker;
    keys?: EventKeys | undefined;
    seal?: EventSeal;
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

  /** Undefined while disconnected. A lost connection is replaced by a new one. */
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

  /** A source's stream and its durable consumers; undefined when the broker does not answer. */
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

  /** A message of a source's own stream; undefined if the position is empty. @throws when the broker does not answer */
  async stored(source: Source, seq: number): Promise<EventMessage | undefined> {
    const { connection } = this.#link;
    if (!connection) throw new Failure("SERVICE_UNAVAILABLE", { cause: new Error("the broker is away") });
    const manager = await streamManager(connection, stateMs);
    const found = await unlessMissing(manager.streams.getMessage(streamName(this.#namespace, source), { seq }));
    return found && { subject: found.subject, data: found.data, headers: found.header };
  }

  /**
   * Publishes and waits for the acknowledgement. A repeated id within 5 minutes is stored once and returns the first
   * position.
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
    // A duplicate without a sequence was never stored: some server versions answer this after a leader change.
    if (ack.seq === 0) throw new Error("the stream acknowledged without storing");
    return ack;
  }

  /** Consumes until the bus closes; the replicas of a service share the events of one durable name. */
  consume(consumer: Consumer): void {
    this.#initRefusals(consumer.source);
    this.#running.push(this.#keepConsuming(consumer));
  }

  /**
   * Receives live events in every replica, not durably, to invalidate caches. `onGap` is called when events may have
   * been missed: at the start and after each reconnect.
   */
  listen(options: Listener): void {
    this.#initRefusals(options.source);
    this.#listeners.push(options);
    if (this.#link.connection) this.#subscribe(this.#link.connection, options);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    // Consumers first: unhandled events return at once instead of after their acknowledgement deadline. A lost broker
    // gives no answer, so the wait is bounded.
    await waitAtMost(drainMs, Promise.allSettled(this.#running));
    await this.#link.close();
    // A batch that waits for a database gets the same time again; then another process receives it.
    await waitAtMost(drainMs, Promise.allSettled(this.#running));
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
        this.#log.error({ why: read, source: listener.source }, "event rejected");
      },
    });
    // After the broker's answer the subscription is active; anything cached before may be outdated.
    void connection.flush().then(listener.onGap, listener.onGap);
  }

  /** Starts at zero, so the first increment is visible. */
  #initRefusals(source: Source): void {
    for (const why of refusals) this.#refused.inc({ source, why }, 0);
  }

  async #keepConsuming(consumer: Consumer): Promise<void> {
    let lastError = "";
    while (!this.#closing.signal.aborted) {
      try {
        await this.#consume(consumer);
        lastError = "";
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        // Its source may still be creating it.
        const isNew = String(error) !== lastError;
        if (isNew) this.#log.warn({ err: error, consumer: consumer.name }, "consumer interrupted: restarting");
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

/**
 * The client's error has only a code, 503 for a full and for a missing stream; the broker's description explains it.
 */
function refusalOf(error: unknown): unknown {
  const description = error instanceof NatsError ? error.api_error?.description : undefined;
  return description === undefined
    ? error
    : new Error(`the stream refuses the event: ${description}`, { cause: error });
}
