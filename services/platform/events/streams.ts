// The JetStream streams, one for each announcing service; who follows them, and the subjects of it all.
import type { ConsumerInfo, StreamInfo } from "nats";
import { type DurableConsumer, durableConsumers, type Source, sources } from "../../services.ts";

/** Consumers that were away for a week can still catch up; older events are in the services' own state. */
export const streamKeepDays = 7;
/**
 * Outboxes keep published rows for longer than streams do: whoever takes an event from a stream asks its source whether
 * it was announced, and a stream that lost events is filled again from there.
 */
export const outboxKeepDays = streamKeepDays + 1;
/**
 * No event is offered longer than this after it happened: it is sent again within the days that its row is kept for,
 * and the stream keeps it once more. Consumers know for this long which ones they have taken in.
 */
export const offerDaysMax = outboxKeepDays + streamKeepDays + 1;

/** The stream of a source. */
export function streamName(namespace: string, source: Source): string {
  return `${namespace}-${source}`;
}

// Between the namespace and the source.
const eventWords = "events";

/** The subject of an event, e.g. `tollbooth.events.payments.payment.succeeded`. */
export function eventSubject(namespace: string, source: Source, type: string): string {
  return `${namespace}.${eventWords}.${source}.${type}`;
}

/** True for the subject of an event of this type, in any namespace. */
export function isSubjectOf(subject: string, source: Source, type: string): boolean {
  return subject.endsWith(`.${eventWords}.${source}.${type}`);
}

/** The source of an event's subject. */
export function sourceOf(subject: string): Source {
  const [, , label] = subject.split(".");
  const source = sources.find((each) => each === label);
  if (!source) throw new Error("not the subject of an event");
  return source;
}

/** How many copies of a stream there should be, and how many are up to date, the leader among them. */
export function copiesOf(stream: StreamInfo): { wanted: number; current: number } {
  const followers = stream.cluster?.replicas ?? [];
  const current = 1 + followers.filter((copy) => copy.current && !copy.offline).length;
  return { wanted: stream.config.num_replicas, current };
}

/**
 * Up to which place a consumer has taken in what it follows.
 * @param stream as it was before the consumer was asked about: who waits for nothing then has taken in all of it
 */
export function findConsumedSeq(consumer: ConsumerInfo, stream: StreamInfo): number {
  const waits = consumer.num_pending > 0 || consumer.num_ack_pending > 0;
  return waits ? Math.min(consumer.ack_floor.stream_seq, stream.state.last_seq) : stream.state.last_seq;
}

/** Those of a source's stream. */
export function consumersOf(source: Source): DurableConsumer[] {
  return Object.values(durableConsumers).filter((consumer) => consumer.source === source);
}

/** Where the gateway's replicas tell each other which tokens of rate limits they took. */
export function limitsSubject(namespace: string): string {
  return `${namespace}.gateway.tokens`;
}
