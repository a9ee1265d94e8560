// Creates and updates the broker's streams with explicit limits, idempotently; a source recreates its own missing
// stream.
import { DiscardPolicy, type JetStreamManager, nanos, RetentionPolicy, StorageType, type StreamConfig } from "nats";
import { type Source, sources } from "../../services.ts";
import { type Broker, connectBroker, streamManager, unlessMissing } from "./connection.ts";
import { ensureConsumers, StreamRefused } from "./consumers.ts";
import { eventSubject, streamKeepDays, streamName } from "./streams.ts";

const dayMs = 86_400_000;
// The relay repeats a publication within seconds; a crash of the relay is over well within this window.
const duplicateWindowMs = 5 * 60_000;
const gibibyte = 2 ** 30;
const streamGibDefault = 4;
const eventMaxBytes = 64 * 1024;

export interface StreamSize {
  /** Copies: 1 on a single server, 3 in a cluster; default 1. */
  readonly replicas?: number;
  /** Size before it refuses more, GiB; default 4. */
  readonly gib?: number;
}

/**
 * Creates missing streams and durable consumers and updates the others.
 * @param ackWaitSeconds of the consumers
 * @param only sources to update; default all
 * @param remake consumers to recreate from the stream's start, as `payments/webhook-fan-out`
 * @throws StreamRefused when that would lose events or safety; nothing is changed then
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
    // Published events cannot be deleted or purged before their time.
    deny_delete: true,
    deny_purge: true,
  };
}

/** Creates a source's missing stream. An existing stream is unchanged, and the broker refuses a different one. */
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

type WantedStream = Pick<StreamConfig, "name" | "subjects" | "retention" | "storage" | "num_replicas" | Limit> &
  Partial<StreamConfig>;

/** Limits that may be larger than wanted. */
const limits = ["max_age", "max_bytes", "max_msg_size", "duplicate_window"] as const;
type Limit = (typeof limits)[number];

/** Losses that the change would cause, in words; empty if none. */
function lossesOf(known: StreamConfig, wanted: WantedStream): string[] {
  const dropped = known.subjects.filter((subject) => !wanted.subjects.includes(subject));
  const foreign = (["mirror", "sources", "republish", "sealed"] as const).filter((field) => known[field]);
  return [
    ...(foreign.length === 0 ? [] : [`it has ${foreign.join(", ")}, which nothing of ours sets`]),
    ...(known.storage === wanted.storage
      ? []
      : [`its storage is ${known.storage}, this release wants ${wanted.storage}`]),
    ...(known.retention === wanted.retention
      ? []
      : [`its retention is ${known.retention}, this release wants ${wanted.retention}`]),
    ...(dropped.length === 0 ? [] : [`it would no longer keep ${dropped.join(", ")}`]),
    ...(known.num_replicas <= wanted.num_replicas
      ? []
      : [`it has ${known.num_replicas} copies and NATS_REPLICAS asks for ${wanted.num_replicas}`]),
  ];
}

/** Limits that stay because they are already wider (0 or less is unlimited). */
function keptLimits(known: StreamConfig, wanted: WantedStream): Partial<Record<Limit, number>> {
  const isWider = (limit: Limit) => known[limit] <= 0 || known[limit] > wanted[limit];
  return Object.fromEntries(limits.filter(isWider).map((limit) => [limit, known[limit]]));
}
