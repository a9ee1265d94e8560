// The JetStream streams, made or updated by one idempotent command: one stream per announcing service, with explicit
// limits.
import {
  AckPolicy,
  type ConsumerInfo,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from "nats";
import { type Broker, connectBroker, streamManager } from "./connection.ts";
import { keptLimits, lossesOf, type WantedStream } from "./stream-changes.ts";

/** Services that announce events; each has a stream of its own. */
export const sources = ["checkout", "payments", "merchant", "webhook"] as const;
export type Source = (typeof sources)[number];

const dayMs = 86_400_000;
/** Consumers that were away for a week can still catch up; older events are in the services' own state. */
export const streamKeepDays = 7;
const keepMs = streamKeepDays * dayMs;
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
// The relay sends an event again within seconds of a doubt; a crash of the relay is over well within this window.
const duplicateWindowMs = 5 * 60_000;
const streamMaxBytes = 4 * 2 ** 30;
const eventMaxBytes = 64 * 1024;

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
  const [, , word] = subject.split(".");
  const source = sources.find((each) => each === word);
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
export function takenBy(consumer: ConsumerInfo, stream: StreamInfo): number {
  const waits = consumer.num_pending > 0 || consumer.num_ack_pending > 0;
  return waits ? Math.min(consumer.ack_floor.stream_seq, stream.state.last_seq) : stream.state.last_seq;
}

/** The durable consumers of this release, all of them: whoever consumes takes its name, source and filter from here. */
export const durableConsumers = {
  followPayments: { by: "checkout", name: "checkout-payments", source: "payments", types: "payment.>" },
  fanOut: { by: "webhook", name: "webhook-fan-out", source: "payments", types: "payment.>" },
  // A consumer has one filter, so the audit log has one for each kind of administrative act.
  auditMerchants: { by: "merchant", name: "merchant-audit", source: "merchant", types: ">" },
  auditEndpoints: { by: "merchant", name: "merchant-audit", source: "webhook", types: "endpoint.>" },
  auditRefunds: { by: "merchant", name: "merchant-audit", source: "payments", types: "refund.requested" },
  auditFees: { by: "merchant", name: "merchant-audit-fees", source: "payments", types: "fee_schedule.>" },
  auditOperations: { by: "merchant", name: "merchant-audit-operations", source: "payments", types: "operation.>" },
  auditReplays: { by: "merchant", name: "merchant-audit-replays", source: "payments", types: "events.>" },
  auditCheckoutReplays: { by: "merchant", name: "merchant-audit-replays", source: "checkout", types: "events.>" },
  auditWebhookReplays: { by: "merchant", name: "merchant-audit-replays", source: "webhook", types: "events.>" },
  auditExpiries: { by: "merchant", name: "merchant-audit", source: "checkout", types: "session.expiry_requested" },
  auditRiskRules: { by: "merchant", name: "merchant-audit-risk", source: "checkout", types: "risk_rule.>" },
} as const satisfies Readonly<Record<string, { by: Source; name: string; source: Source; types: string }>>;

/** What each process hears besides, as it is published and without durability, to forget what it has kept. */
export const heardEvents = {
  apiKeys: { by: "gateway", source: "merchant", types: "api_key.>" },
  merchants: { by: "gateway", source: "merchant", types: "merchant.>" },
  connectors: { by: "payments", source: "merchant", types: ">" },
  riskRules: { by: "checkout", source: "checkout", types: "risk_rule.>" },
  endpoints: { by: "webhook", source: "webhook", types: "endpoint.>" },
} as const satisfies Readonly<Record<string, { by: Source | "gateway"; source: Source; types: string }>>;

/** Where the gateway's replicas tell each other which tokens of rate limits they took. */
export function limitsSubject(namespace: string): string {
  return `${namespace}.gateway.tokens`;
}

// What a process held that crashed, or whose connection vanished, comes back after it; one that works says so
// meanwhile.
export const ackWaitSecondsDefault = 10;
// After this many tries the broker stops offering an event; it is logged as poison from the third on.
const deliverMax = 1_000;
const ackPendingMax = 2_000;

/** A change that an operator has to decide on. Nothing was changed. */
export class StreamRefused extends Error {
  override name = "StreamRefused";
}

/** What a durable consumer is on the broker. */
export function consumerConfig(
  namespace: string,
  of: { name: string; source: Source; types: string },
  ackWaitSeconds = ackWaitSecondsDefault,
) {
  return {
    durable_name: of.name,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(1_000 * ackWaitSeconds),
    deliver_policy: DeliverPolicy.All,
    filter_subject: eventSubject(namespace, of.source, of.types),
    max_deliver: deliverMax,
    max_ack_pending: ackPendingMax,
  };
}

/**
 * Makes the streams that are missing and brings the others to these limits; the same for the durable consumers on them.
 * @param replicas copies per stream: 1 on a single server, 3 in a cluster.
 * @param only the streams of these sources; default all
 * @throws StreamRefused when that would lose events or safety: it changes nothing then and says what an operator has to
 * decide.
 */
export async function ensureStreams(options: {
  broker: Broker;
  namespace: string;
  replicas?: number;
  only?: readonly Source[];
}): Promise<void> {
  const connection = await connectBroker(options.broker, { name: "migrate", timeout: 5_000 });
  try {
    const manager = await streamManager(connection);
    for (const source of options.only ?? sources) {
      await ensureStream(manager, streamConfig(options.namespace, source, options.replicas ?? 1));
      for (const consumer of Object.values(durableConsumers)) {
        if (consumer.source === source) await ensureConsumer(manager, options.namespace, consumer);
      }
    }
  } finally {
    await connection.close();
  }
}

function streamConfig(namespace: string, source: Source, replicas: number) {
  return {
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
  of: { namespace: string; source: Source; replicas: number },
): Promise<void> {
  await manager.streams.add(streamConfig(of.namespace, of.source, of.replicas));
}

async function ensureStream(manager: JetStreamManager, wanted: WantedStream): Promise<void> {
  const known = await unlessMissing(manager.streams.info(wanted.name));
  if (!known) return void (await manager.streams.add(wanted));
  const lost = lossesOf(known.config, wanted);
  if (lost.length > 0) throw new StreamRefused(`stream ${wanted.name} is left as it is: ${lost.join("; ")}`);
  await manager.streams.update(wanted.name, { ...wanted, ...keptLimits(known.config, wanted) });
}

async function ensureConsumer(
  manager: JetStreamManager,
  namespace: string,
  of: { name: string; source: Source; types: string },
): Promise<void> {
  const stream = streamName(namespace, of.source);
  const wanted = consumerConfig(namespace, of);
  const known = await unlessMissing(manager.consumers.info(stream, of.name));
  if (known && known.config.filter_subject !== wanted.filter_subject) {
    throw new StreamRefused(
      `consumer ${of.name} of ${stream} is left as it is: it hears ${known.config.filter_subject}, this release wants ` +
        `${wanted.filter_subject}; a consumer of another name keeps what was not acknowledged yet`,
    );
  }
  // Its consumer says how long it may take; what stands is left.
  if (!known) await manager.consumers.add(stream, wanted);
}

/** What was asked for, or undefined when the broker says that there is none. */
export async function unlessMissing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "404") return undefined;
    throw error;
  }
}
