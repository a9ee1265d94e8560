// The JetStream streams, made or updated by one idempotent command: one stream per announcing service, with explicit limits.
import {
  connect,
  DiscardPolicy,
  type JetStreamManager,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from "nats";

/** Services that announce events; each has a stream of its own. */
export const sources = ["checkout", "payments", "merchant", "webhook"] as const;
export type Source = (typeof sources)[number];

const dayMs = 86_400_000;
// Consumers that were away for a week can still catch up; older events are in the outbox tables and the services' own state.
const keepMs = 7 * dayMs;
// The relay sends an event again within seconds of a doubt; a crash of the relay is over well within this window.
const duplicateWindowMs = 5 * 60_000;
const streamMaxBytes = 4 * 2 ** 30;
const eventMaxBytes = 64 * 1024;

/** The stream of a source. */
export function streamName(namespace: string, source: Source): string {
  return `${namespace}-${source}`;
}

/** The subject of an event, e.g. `tollbooth.events.payments.payment.succeeded`. */
export function eventSubject(namespace: string, source: Source, type: string): string {
  return `${namespace}.events.${source}.${type}`;
}

/** How many copies of a stream there should be, and how many are up to date, the leader among them. */
export function copiesOf(stream: StreamInfo): { wanted: number; current: number } {
  const followers = stream.cluster?.replicas ?? [];
  const current = 1 + followers.filter((copy) => copy.current && !copy.offline).length;
  return { wanted: stream.config.num_replicas, current };
}

/**
 * Makes the streams that are missing and brings the others to these limits.
 * @param replicas copies per stream: 1 on a single server, 3 in a cluster.
 */
export async function ensureStreams(options: { natsUrl: string; namespace: string; replicas?: number }): Promise<void> {
  const connection = await connect({ servers: options.natsUrl, timeout: 5_000 });
  try {
    const manager = await connection.jetstreamManager();
    for (const source of sources) await ensureStream(manager, options.namespace, source, options.replicas ?? 1);
  } finally {
    await connection.close();
  }
}

async function ensureStream(
  manager: JetStreamManager,
  namespace: string,
  source: Source,
  replicas: number,
): Promise<void> {
  const config: Partial<StreamConfig> & { name: string } = {
    name: streamName(namespace, source),
    subjects: [eventSubject(namespace, source, ">")],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    // A full stream refuses the publisher, which keeps its outbox row; dropping old events would lose them silently.
    discard: DiscardPolicy.New,
    max_age: nanos(keepMs),
    max_bytes: streamMaxBytes,
    max_msg_size: eventMaxBytes,
    duplicate_window: nanos(duplicateWindowMs),
    num_replicas: replicas,
  };
  const exists = await manager.streams.info(config.name).then(
    () => true,
    (error: Error) => {
      if ("code" in error && error.code === "404") return false;
      throw error;
    },
  );
  if (exists) await manager.streams.update(config.name, config);
  else await manager.streams.add(config);
}
