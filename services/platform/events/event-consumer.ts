// One durable consumer: pulls events in batches, passes each batch to its handler, and acknowledges what is durable.
import type { Tracer } from "@opentelemetry/api";
import type { Counter } from "prom-client";
import type { Log } from "#platform/telemetry/log.ts";
import { type ConsumerMessages, type JsMsg, millis, type NatsConnection, nanos } from "#platform/values/nats.ts";
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
  /** A filter for types, such as `payment.>`. */
  readonly types: string;
  /** The source, which confirms each batch first if its events concern money; absent when the MAC is enough. */
  readonly announcer?: Announcer;
  /** Applies a batch, with its places in the stream. When it resolves, all is durable; a throw causes redelivery. */
  readonly handle: (events: readonly Event[], seqs: readonly number[]) => Promise<void>;
}

interface Consumption {
  readonly connection: NatsConnection;
  readonly stream: string;
  readonly consumer: Consumer;
  readonly keys: EventKeys | undefined;
  /** Aborted when the process closes. */
  readonly closing: AbortSignal;
  readonly log: Log;
  /** Counts rejected events. */
  readonly refused: Counter<"source" | "why">;
  readonly tracer: Tracer | undefined;
}

// Bounds memory and a consumer's transaction; one call to the source confirms a whole batch.
const batchMax = 256;
// The broker ends each pull after this, and the next one starts.
const pullMs = 5_000;
// Pulls were lost after a longer silence. The library's own check uses the machine's clock, which may be set back.
const silentMs = pullMs + 3_000;
// Long enough for this process to disconnect before redelivery.
const handBackMs = 200;
// Progress signals per acknowledgement deadline; they stop for a batch that exceeds every deadline.
const signsPerAckWait = 3;
const holdMsMax = 60_000;
const retryPausesMs = [1_000, 5_000, 30_000, 60_000] as const;

/** Consumes until the pull breaks, and the caller repeats it, or the process closes. */
export async function consumeUntilBroken(options: Consumption): Promise<void> {
  const { connection, stream, consumer, closing } = options;
  const arrived: JsMsg[] = [];
  let open = true;
  let wake = () => {};
  // The source creates it.
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
    // A closed connection returns nothing; its events are redelivered after their deadline.
    if (!connection.isClosed()) for (const message of arrived) message.nak(handBackMs);
    // While the process closes, draining the connection ends this too, and the callback returns events in transit.
    if (!closing.aborted && !connection.isClosed()) await messages.close();
  }
}

interface ReceivedMessage extends ReceivedEvent {
  readonly message: JsMsg;
}

async function handleBatch(consumption: Consumption, batch: readonly JsMsg[]): Promise<void> {
  const { connection, consumer, log } = consumption;
  let received = batch.flatMap((message) => readOrReject(consumption, message) ?? []);
  if (received.length === 0) return;
  let spans: ReturnType<typeof eventSpan>[] = [];
  let isVerified = false;
  try {
    received = await confirmedOrRejected(consumption, received);
    isVerified = true;
    const events = received.map(({ event }) => event);
    spans = events.map((event) => eventSpan(consumption.tracer, "CONSUMER", `${consumer.name} process`, event));
    const seqs = received.map(({ message }) => message.seq);
    await consumer.handle(events, seqs);
    for (const span of spans) span?.end();
    if (!connection.isClosed()) for (const { message } of received) message.ack();
  } catch (error) {
    for (const span of spans) span?.end("not_taken_in");
    const tries = Math.max(0, ...received.map(({ message }) => message.info.redeliveryCount));
    const fields = { err: error, consumer: consumer.name, events: received.length, tries };
    // A source that is unavailable or still runs the previous release is not the event's fault.
    if (!isVerified) log.warn(fields, "event confirmation failed: retrying");
    else if (tries >= 3) log.error(fields, "event batch keeps failing");
    else log.warn(fields, "event batch failed: retrying");
    const pauseMs = retryPausesMs[Math.min(tries, retryPausesMs.length) - 1] ?? retryPausesMs[0];
    if (!connection.isClosed()) for (const { message } of received) message.nak(pauseMs);
  }
}

function readOrReject(consumption: Consumption, message: JsMsg): ReceivedMessage | undefined {
  const event = readEvent(message, consumption.consumer.source, consumption.keys);
  if (typeof event !== "string") return { message, event, body: message.data };
  rejectMessage(consumption, message, event);
  return undefined;
}

/** @throws when the source does not answer; no event is rejected then */
async function confirmedOrRejected(consumption: Consumption, received: ReceivedMessage[]): Promise<ReceivedMessage[]> {
  const { announcer } = consumption.consumer;
  if (!announcer) return received;
  const announced = new Set(await announcedOf(announcer, received));
  for (const one of received) {
    if (announced.has(one)) continue;
    rejectMessage(consumption, one.message, "not_announced");
  }
  return [...announced];
}

function rejectMessage({ connection, consumer, log, refused }: Consumption, message: JsMsg, why: Refusal): void {
  refused.inc({ source: consumer.source, why });
  log.error({ why, consumer: consumer.name, seq: message.seq }, "event rejected");
  // Without a reason: servers before 2.10 would not understand it and redeliver the event.
  if (!connection.isClosed()) message.term();
}

/** After two missed heartbeats, or without a new pull for long, the pull is dead although the connection may work. */
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
