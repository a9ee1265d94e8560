// The JetStream streams: names, subjects, retention and consumers, one stream for each announcing service.
import type { ConsumerInfo, StreamInfo } from "nats";
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
