// The streams of the broker, made or updated by one idempotent command, with explicit limits; a source makes its own
// when it is gone.
import { DiscardPolicy, type JetStreamManager, nanos, RetentionPolicy, StorageType } from "nats";
import { type Broker, connectBroker, streamManager } from "./connection.ts";
import { ensureConsumers } from "./consumers.ts";
import { keptLimits, lossesOf, StreamRefused, unlessMissing, type WantedStream } from "./stream-changes.ts";
import { eventSubject, type Source, sources, streamKeepDays, streamName } from "./streams.ts";

const dayMs = 86_400_000;
// The relay sends an event again within seconds of a doubt; a crash of the relay is over well within this window.
const duplicateWindowMs = 5 * 60_000;
const gibibyte = 2 ** 30;
const streamGibDefault = 4;
const eventMaxBytes = 64 * 1024;

/** How much a stream takes, and on how many servers. */
export interface StreamSize {
  /** Copies: 1 on a single server, 3 in a cluster; default 1. */
  readonly replicas?: number;
  /** What it takes in its days before it refuses more, GiB; default 4. */
  readonly gib?: number;
}

/**
 * Makes the streams that are missing and brings the others to these limits; the same for the durable consumers on them.
 * @param ackWaitSeconds of the consumers
 * @param only the streams of these sources; default all
 * @param remake consumers that are made again from the stream's beginning, as `payments/webhook-fan-out`
 * @throws StreamRefused when that would lose events or safety: it changes nothing then and says what an operator has to
 * decide.
 */
export async function ensureStreams(
  options: StreamSize & {
    broker: Broker;
    namespace: string;
    ackWaitSeconds?: number;
    only?: readonly Source[];
    remake?: readonly string[];
  },
): Promise<void> {
  const connection = await connectBroker(options.broker, { name: "migrate", timeout: 5_000 });
  try {
    const manager = await streamManager(connection);
    for (const source of options.only ?? sources) {
      await ensureStream(manager, streamConfig(options.namespace, source, options));
      await ensureConsumers(manager, { ...options, source, mayRemove: true });
    }
  } finally {
    await connection.close();
  }
}

function streamConfig(namespace: string, source: Source, { replicas = 1, gib = streamGibDefault }: StreamSize) {
  return {
    name: streamName(namespace, source),
    subjects: [eventSubject(namespace, source, ">")],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    // A full stream refuses the publisher, which keeps its outbox row; dropping old events would lose them silently.
    discard: DiscardPolicy.New,
    max_age: nanos(streamKeepDays * dayMs),
    max_bytes: Math.round(gib * gibibyte),
    max_msg_size: eventMaxBytes,
    duplicate_window: nanos(duplicateWindowMs),
    num_replicas: replicas,
    // What was announced stays announced: nobody takes a single event back, or all of them, before its time.
    deny_delete: true,
    deny_purge: true,
  };
}

/**
 * Makes the stream of a source that is missing. One that stands stays as it is, and where it is another one the broker
 * refuses.
 */
export async function makeStream(
  manager: JetStreamManager,
  of: StreamSize & { namespace: string; source: Source },
): Promise<void> {
  await manager.streams.add(streamConfig(of.namespace, of.source, of));
}

async function ensureStream(manager: JetStreamManager, wanted: WantedStream): Promise<void> {
  const known = await unlessMissing(manager.streams.info(wanted.name));
  if (!known) return void (await manager.streams.add(wanted));
  const lost = lossesOf(known.config, wanted);
  if (lost.length > 0) throw new StreamRefused(`stream ${wanted.name} is left as it is: ${lost.join("; ")}`);
  await manager.streams.update(wanted.name, { ...wanted, ...keptLimits(known.config, wanted) });
}
