// Watches a service's own stream: creates it if missing, and finds lost events for the relay to resend. Nothing is
// published on a connection before this check: a store that lost its end would assign the lost positions to other
// events and look complete again.
import { type Counter, type Registry, register } from "prom-client";
import type { Database } from "#platform/database/database.ts";
import type { JobContext } from "#platform/process/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { newCounter } from "#platform/telemetry/metrics.ts";
import type { JetStreamManager, NatsConnection, StreamInfo } from "#platform/values/nats.ts";
import type { Source } from "../../services.ts";
import { streamManager, unlessMissing } from "./connection.ts";
import { ensureConsumers } from "./consumers.ts";
import type { EventBus } from "./event-bus.ts";
import { judgeStream, lossKinds, type SeenStream } from "./stream-loss.ts";
import { readRecord, rememberStream, type StreamLoss, type StreamRecord, sendLostAgain } from "./stream-record.ts";
import { findConsumedSeq, makeStream, type StreamSize, streamName } from "./streams.ts";

/** The stream reused a position for another event. */
export class StreamCut extends Error {
  override name = "StreamCut";
  /** Its last position when it was cut. */
  readonly lastSeq: number;

  constructor(lastSeq: number) {
    super("the stream has lost its end and was published to since");
    this.lastSeq = lastSeq;
  }
}

interface StreamWatchOptions extends StreamSize {
  readonly db: Database;
  readonly bus: EventBus;
  readonly source: Source;
  readonly ackWaitSeconds?: number;
  readonly log: Log;
  /** Absent for a process with one service. */
  readonly registry?: Registry;
}

// Merchants wait for lost events, and three small requests cost the broker almost nothing.
const everyMs = 5_000;
const failurePauseMsMax = 5_000;
const askMs = 5_000;

export class StreamWatch {
  readonly #watched: StreamWatchOptions;
  readonly #losses: Counter<"source" | "how">;
  readonly #sentAgain: Counter<"source">;
  #checked: NatsConnection | undefined;

  constructor(watched: StreamWatchOptions) {
    this.#watched = watched;
    const { source, registry = register } = watched;
    this.#losses = newCounter(registry, {
      name: "tollbooth_stream_losses_total",
      help: "Times that the broker was found to have lost published events or a whole stream, by source and how.",
      labelNames: ["source", "how"] as const,
    });
    // Consumers have seen most of them and skip them.
    this.#sentAgain = newCounter(registry, {
      name: "tollbooth_events_sent_again_total",
      help: "Published events that are sent again because the broker has lost them, by source.",
      labelNames: ["source"] as const,
    });
    for (const how of lossKinds) this.#losses.inc({ source, how }, 0);
    this.#sentAgain.inc({ source }, 0);
  }

  get job(): JobContext {
    return { name: "watch-stream", everyMs, failurePauseMsMax, runOnce: () => this.checkStream().then(() => false) };
  }

  /** The bus's connection after its stream was checked. */
  async checkedConnection(): Promise<NatsConnection | undefined> {
    const { bus } = this.#watched;
    if (this.#checked === undefined || this.#checked !== bus.connection) await this.checkStream();
    return this.#checked;
  }

  /** After a failed round: the stream may be missing or cut. */
  async checkAfter(failure: unknown): Promise<void> {
    this.#checked = undefined;
    if (failure instanceof StreamCut) await this.checkStream(failure.lastSeq);
  }

  /** @param endedAt a position at which the stream is known to have ended */
  async checkStream(endedAt?: number): Promise<void> {
    const { db, bus } = this.#watched;
    const { connection } = bus;
    if (!connection) return;
    // Read before the broker is asked: the answer must include everything recorded here.
    const record = await readRecord(db);
    const answered = await this.#ask(connection);
    const seen = endedAt !== undefined && endedAt < answered.lastSeq ? { ...answered, lastSeq: endedAt } : answered;
    const finding = judgeStream(record, seen);
    if (finding.kind === "whole") {
      if (finding.gaps.length > 0) await this.#sendAgain(record, { kind: "gaps", positions: finding.gaps });
      await rememberStream(db, record, seen, finding);
    } else if (finding.kind === "shorter") {
      await this.#sendAgain(record, { kind: "shorter", lastSeq: seen.lastSeq });
    } else {
      await this.#sendAgain(record, { kind: "another_stream", seen });
    }
    this.#checked = connection;
  }

  async #sendAgain(record: StreamRecord, lost: StreamLoss): Promise<void> {
    const { db, source, log } = this.#watched;
    const events = await sendLostAgain(db, record, lost);
    if (events === undefined) return;
    // A new installation's first stream, or positions whose events were already resent.
    if (events === 0 && (record.stream === "" || lost.kind === "gaps")) return;
    this.#losses.inc({ source, how: lost.kind });
    this.#sentAgain.inc({ source }, events);
    log.error({ how: lost.kind, events }, "stream lost events: resending");
  }

  /** Publishing continues in any case. */
  async #ensureConsumers(manager: JetStreamManager): Promise<void> {
    const { bus, source, ackWaitSeconds, log } = this.#watched;
    try {
      const strays = await ensureConsumers(manager, { namespace: bus.namespace, source, ackWaitSeconds });
      for (const stray of strays) log.error({ consumer: stray }, "consumer configuration differed: repaired");
    } catch (error) {
      log.error({ err: error }, "consumer update failed");
    }
  }

  async #ask(connection: NatsConnection): Promise<SeenStream> {
    const { bus, source, log } = this.#watched;
    const { namespace } = bus;
    const name = streamName(namespace, source);
    const manager = await streamManager(connection, askMs);
    const known = await unlessMissing(manager.streams.info(name));
    if (!known) {
      log.warn({ stream: name }, "event stream missing: creating it");
      await makeStream(manager, { ...this.#watched, namespace });
    }
    const stream = known ?? (await manager.streams.info(name));
    await this.#ensureConsumers(manager);
    const consumers = await manager.consumers.list(name).next();
    const gaps = await gapsOf(manager, stream);
    const after = await manager.streams.info(name);
    if (after.created !== stream.created || after.state.last_seq < stream.state.last_seq)
      throw new Error("the event stream was replaced during the check");
    return {
      stream: name,
      madeAt: String(stream.created),
      isOurs: !known,
      lastSeq: stream.state.last_seq,
      gaps,
      consumers: consumers.map((consumer) => ({
        name: consumer.name,
        madeAt: String(consumer.created),
        consumedSeq: findConsumedSeq(consumer, stream),
      })),
    };
  }
}

async function gapsOf(manager: JetStreamManager, stream: StreamInfo): Promise<number[]> {
  if (!stream.state.num_deleted) return [];
  const { state } = await manager.streams.info(stream.config.name, { deleted_details: true });
  return state.deleted ?? [];
}
