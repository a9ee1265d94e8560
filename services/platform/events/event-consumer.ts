// One durable consumer of a stream: pulls events in batches, hands each batch over, and acknowledges what is durable.

import type { Tracer } from "@opentelemetry/api";
import { type ConsumerMessages, type JsMsg, millis, type NatsConnection, nanos } from "nats";
import type { Counter } from "prom-client";
import type { Log } from "#platform/telemetry/log.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import type { Source } from "../../services.ts";
import { streamClient } from "./connection.ts";
import type { EventKeys } from "./event-keys.ts";
import {
  type Announcer,
  announcedOf,
  eventSpan,
  type ReceivedEvent,
  type Refusal,
  readEvent,
} from "./event-message.ts";

export interface Consumer {
  /** The durable name, unique within the stream. */
  readonly name: string;
  readonly source: Source;
  /** Only events of types under this prefix, e.g. `payment.>`. */
  readonly types: string;
  /** The source, asked about each batch before it is handled, where events claim money; absent: their MAC is enough. */
  readonly announcer?: Announcer;
  /**
   * Takes in a batch; when it resolves, every event of it is durable and is acknowledged. A throw sends all again
   * later.
   */
  readonly handle: (events: readonly Event[]) => Promise<void>;
}

/** What a consumer runs with. */
export interface Consumption {
  readonly connection: NatsConnection;
  readonly stream: string;
  readonly consumer: Consumer;
  readonly keys: EventKeys | undefined;
  /** Aborted when the process closes. */
  readonly closing: AbortSignal;
  readonly log: Log;
  /** Counts what is passed over. */
  readonly refused: Counter<"source" | "why">;
  readonly tracer: Tracer | undefined;
}

// Bounds memory and the size of one transaction of a consumer; its source is asked about as many events in one call.
const batchMax = 256;
// The broker ends each request for events after this long, and the next one is made.
const pullMs = 5_000;
// Nothing at all for longer: requests were lost. The library's own watch goes by the machine's clock, which may be set
// back.
const silentMs = pullMs + 3_000;
// A moment, so that the stream does not offer it to this process again before it is gone.
const handBackMs = 200;
// The broker hears this often, within the time after which it offers an event again, that the event is still worked on;
// of a batch that takes longer than any deadline it hears no more.
const signsPerAckWait = 3;
const holdMsMax = 60_000;
const retryPausesMs = [1_000, 5_000, 30_000, 60_000] as const;

/** Consumes until the pull breaks, which is the caller's to repeat, or the process closes. */
export async function consumeUntilBroken(options: Consumption): Promise<void> {
  const { connection, stream, consumer, closing } = options;
  const arrived: JsMsg[] = [];
  let open = true;
  let wake = () => {};
  // Its source makes it.
  const pulled = await streamClient(connection).consumers.get(stream, consumer.name);
  const { ack_wait: ackWait = nanos(1_000) } = (await pulled.info(true)).config;
  const messages = await pulled.consume({
    max_messages: 2 * batchMax,
    expires: pullMs,
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
  closing.addEventListener("abort", stop, { once: true });
  if (closing.aborted) stop();
  void connection.closed().then(stop);
  const watch = watchPulls(messages, stop);
  let inHand: readonly JsMsg[] = [];
  let inHandAt = 0;
  const signs = setInterval(() => {
    if (connection.isClosed() || performance.now() - inHandAt > holdMsMax) return;
    for (const message of [...inHand, ...arrived]) message.working();
  }, millis(ackWait) / signsPerAckWait);
  try {
    while (open) {
      inHand = arrived.splice(0, batchMax);
      inHandAt = performance.now();
      if (inHand.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      else await handleBatch(options, inHand);
    }
  } finally {
    clearInterval(watch);
    clearInterval(signs);
    closing.removeEventListener("abort", stop);
    // On a connection that is gone nothing can be handed back; its events come again when their acknowledgement is
    // overdue.
    if (!connection.isClosed()) for (const message of arrived) message.nak(handBackMs);
    // At the end of the process the connection's draining ends this too, and lets the callback hand back what is on its
    // way.
    if (!closing.aborted && !connection.isClosed()) await messages.close();
  }
}

interface ReceivedMessage extends ReceivedEvent {
  readonly message: JsMsg;
}

async function handleBatch(consumption: Consumption, batch: readonly JsMsg[]): Promise<void> {
  const { connection, consumer, log } = consumption;
  let received = batch.flatMap((message) => readOrPark(consumption, message) ?? []);
  if (received.length === 0) return;
  let spans: ReturnType<typeof eventSpan>[] = [];
  let isVerified = false;
  try {
    received = await announcedOrParked(consumption, received);
    isVerified = true;
    const events = received.map(({ event }) => event);
    spans = events.map((event) => eventSpan(consumption.tracer, "CONSUMER", `${consumer.name} process`, event));
    await consumer.handle(events);
    for (const span of spans) span?.end();
    if (!connection.isClosed()) for (const { message } of received) message.ack();
  } catch (error) {
    for (const span of spans) span?.end("not_taken_in");
    const tries = Math.max(0, ...received.map(({ message }) => message.info.redeliveryCount));
    const fields = { err: error, consumer: consumer.name, events: received.length, tries };
    // A source that is away, or of the release before while both run, is no defect of an event.
    if (!isVerified) log.warn(fields, "the source of events cannot be asked; trying again");
    else if (tries >= 3) log.error(fields, "events are still not taken in");
    else log.warn(fields, "events not taken in; trying again");
    const pauseMs = retryPausesMs[Math.min(tries, retryPausesMs.length) - 1] ?? retryPausesMs[0];
    if (!connection.isClosed()) for (const { message } of received) message.nak(pauseMs);
  }
}

function readOrPark(consumption: Consumption, message: JsMsg): ReceivedMessage | undefined {
  const event = readEvent(message, consumption.consumer.source, consumption.keys);
  if (typeof event !== "string") return { message, event, body: message.data };
  parkMessage(consumption, message, event);
  return undefined;
}

/** @throws when the source does not answer; nothing is parked then. */
async function announcedOrParked(consumption: Consumption, received: ReceivedMessage[]): Promise<ReceivedMessage[]> {
  const { announcer } = consumption.consumer;
  if (!announcer) return received;
  const announced = new Set(await announcedOf(announcer, received));
  for (const one of received) {
    if (announced.has(one)) continue;
    parkMessage(consumption, one.message, "not_announced");
  }
  return [...announced];
}

function parkMessage({ connection, consumer, log, refused }: Consumption, message: JsMsg, why: Refusal): void {
  refused.inc({ source: consumer.source, why });
  log.error({ why, consumer: consumer.name, seq: message.seq }, "event parked: not proved to be its source's");
  // Why is not said to the broker: servers before 2.10 do not know the word then, and offer the event again.
  if (!connection.isClosed()) message.term();
}

/**
 * After two missed heartbeats, or long without a new request, the pull is dead although the connection may live:
 * another is begun.
 */
function watchPulls(messages: ConsumerMessages, stop: () => void): NodeJS.Timeout {
  let signAt = performance.now();
  void (async () => {
    for await (const status of await messages.status()) {
      const type = String(status.type);
      if (type === "next") signAt = performance.now();
      if (type === "heartbeats_missed" && Number(status.data) >= 2) stop();
    }
  })().catch(stop);
  return setInterval(() => {
    if (performance.now() - signAt > silentMs) stop();
  }, 1_000).unref();
}
