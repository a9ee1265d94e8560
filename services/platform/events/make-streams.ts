// The configuration of the broker's streams, with explicit limits. A source creates its own missing stream; `migrate`
// changes one.
import { DiscardPolicy, type JetStreamManager, nanos, RetentionPolicy, StorageType } from "nats";
import type { Source } from "../../services.ts";
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

export function streamConfig(namespace: string, source: Source, { replicas = 1, gib = streamGibDefault }: StreamSize) {
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
