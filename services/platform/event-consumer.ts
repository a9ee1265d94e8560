// One durable consumer of a stream: pulls events in batches, hands each batch over, and acknowledges what is durable.
import type { ConsumerConfig, ConsumerMessages, JsMsg, NatsConnection } from "nats";
import type { Event } from "#proto/events/v1/events_pb.ts";
import type { EventKeys } from "./event-keys.ts";
import { readEvent } from "./event-message.ts";
import { eventSpan } from "./event-span.ts";
import type { Log } from "./log.ts";
import type { Source } from "./streams.ts";

export interface Consumer {
  /** The durable name, unique within the stream. */
  readonly name: string;
  readonly source: Source;
  /** Only events of types under this prefix, e.g. `payment.>`. */
  readonly types: string;
  /** Takes in a batch; when it resolves, every event of it is durable and is acknowledged. A throw sends all again later. */
  readonly handle: (events: readonly Event[]) => Promise<void>;
}

/** What a consumer runs with. */
export interface Consumption {
  readonly connection: NatsConnection;
  readonly stream: string;
  readonly config: Partial<ConsumerConfig>;
  readonly consumer: Consumer;
  readonly keys: EventKeys | undefined;
  /** Aborted when the process closes. */
  readonly closing: AbortSignal;
  readonly log: Log;
}

// Bounds memory and the size of one transaction of a consumer.
const batchMax = 256;
// The broker ends each request for events after this long, and the next one is made.
const pullMs = 5_000;
// Nothing at all for longer: requests were lost. The library's own watch goes by the machine's clock, which may be set back.
const silentMs = pullMs + 3_000;
// A moment, so that the stream does not offer it to this process again before it is gone.
const handBackMs = 200;
const retryPausesMs = [1_000, 5_000, 30_000, 60_000] as const;

/** Consumes until the pull breaks, which is the caller's to repeat, or the process closes. */
export async function consumeUntilBroken(options: Consumption): Promise<void> {
  const { connection, stream, consumer, closing } = options;
  const manager = await connection.jetstreamManager();
  await manager.consumers.add(stream, options.config);
  const arrived: JsMsg[] = [];
  let open = true;
  let wake = () => {};
  const messages = await (await connection.jetstream().consumers.get(stream, consumer.name)).consume({
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
  try {
    while (open) {
      if (arrived.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      else await handleBatch(options, arrived.splice(0, batchMax));
    }
  } finally {
    clearInterval(watch);
    closing.removeEventListener("abort", stop);
    // On a connection that is gone nothing can be handed back; its events come again when their acknowledgement is overdue.
    if (!connection.isClosed()) for (const message of arrived) message.nak(handBackMs);
    // At the end of the process the connection's draining ends this too, and lets the callback hand back what is on its way.
    if (!closing.aborted && !connection.isClosed()) await messages.close();
  }
}

async function handleBatch({ connection, consumer, keys, log }: Consumption, batch: readonly JsMsg[]): Promise<void> {
  const events: Event[] = [];
  const good: JsMsg[] = [];
  for (const message of batch) {
    const read = readEvent(message, consumer.source, keys);
    if (typeof read === "string") {
      log.error(
        { why: read, consumer: consumer.name, seq: message.seq },
        "event parked: not proved to be its source's",
      );
      message.term(read);
    } else {
      events.push(read);
      good.push(message);
    }
  }
  const spans = events.map((event) => eventSpan("CONSUMER", `${consumer.name} process`, event));
  try {
    await consumer.handle(events);
    for (const span of spans) span?.end();
    if (!connection.isClosed()) for (const message of good) message.ack();
  } catch (error) {
    for (const span of spans) span?.end("not_taken_in");
    const tries = Math.max(0, ...good.map((m) => m.info.redeliveryCount));
    const fields = { err: error, consumer: consumer.name, events: good.length, tries };
    if (tries >= 3) log.error(fields, "events are still not taken in");
    else log.warn(fields, "events not taken in; trying again");
    const pauseMs = retryPausesMs[Math.min(tries, retryPausesMs.length) - 1] ?? retryPausesMs[0];
    if (!connection.isClosed()) for (const message of good) message.nak(pauseMs);
  }
}

/** After two missed heartbeats, or long without a new request, the pull is dead although the connection may live: another is begun. */
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
