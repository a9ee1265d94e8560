// The JetStream streams: names, subjects, retention and consumers, one stream for each announcing service.
import {
  type ConsumerInfo,
  DiscardPolicy,
  type JetStreamManager,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from "#platform/values/nats.ts";
import { type DurableConsumer, durableConsumers, type Source, sources } from "../../services.ts";

/** Consumers can catch up after a week's outage; older events are in the services' own state. */
export const streamKeepDays = 7;
/** Longer than streams: consumers ask the source to confirm an event, and lost events are resent from the outbox. */
export const outboxKeepDays = streamKeepDays + 1;
/**
 * The longest time that an event may be offered: it is resent within its row's retention, and the stream then keeps it
 * again. Inboxes keep ids this long.
 */
export const offerDaysMax = outboxKeepDays + streamKeepDays + 1;

export function streamName(namespace: string, source: Source): string {
  return `${namespace}-${source}`;
}

// Between the namespace and the source.
const eventWords = "events";

/** For example `tollbooth.events.payments.payment.succeeded`. */
export function eventSubject(namespace: string, source: Source, type: string): string {
  return `${namespace}.${eventWords}.${source}.${type}`;
}

/** In any namespace. */
export function isSubjectOf(subject: string, source: Source, type: string): boolean {
  return subject.endsWith(`.${eventWords}.${source}.${type}`);
}

/** The source in an event's subject. */
export function sourceOf(subject: string): Source {
  const [, , label] = subject.split(".");
  const source = sources.find((each) => each === label);
  if (!source) throw new Error("not the subject of an event");
  return source;
}

/** Copies of a stream that are configured, and that are current, including the leader. */
export function copiesOf(stream: StreamInfo): { wanted: number; current: number } {
  const followers = stream.cluster?.replicas ?? [];
  const current = 1 + followers.filter((copy) => copy.current && !copy.offline).length;
  return { wanted: stream.config.num_replicas, current };
}

/**
 * The position up to which a consumer has consumed its events.
 * @param stream as read before the consumer: an idle consumer has consumed the whole stream
 */
export function findConsumedSeq(consumer: ConsumerInfo, stream: StreamInfo): number {
  const waits = consumer.num_pending > 0 || consumer.num_ack_pending > 0;
  return waits ? Math.min(consumer.ack_floor.stream_seq, stream.state.last_seq) : stream.state.last_seq;
}

export function consumersOf(source: Source): DurableConsumer[] {
  return Object.values(durableConsumers).filter((consumer) => consumer.source === source);
}

/** Where gateway replicas share their use of rate limits. */
export function limitsSubject(namespace: string): string {
  return `${namespace}.gateway.tokens`;
}

const dayMs = 86_400_000;
// The relay repeats a publication within seconds; a crash of the relay is over well within this window.
const duplicateWindowMs = 5 * 60_000;
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
    max_bytes: Math.round(gib * 2 ** 30),
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
