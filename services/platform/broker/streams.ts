// The JetStream streams, one for each announcing service; who follows them, and the subjects of it all.
import type { ConsumerInfo, StreamInfo } from "nats";

/** Services that announce events; each has a stream of its own. */
export const sources = ["checkout", "payments", "merchant", "webhook"] as const;
export type Source = (typeof sources)[number];

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

/** The durable consumers of this release, all of them: whoever consumes takes its name, source and filter from here. */
export const durableConsumers = {
  followPayments: { by: "checkout", name: "checkout-payments", source: "payments", types: "payment.>" },
  // Receipts by e-mail: of what is paid, of what is captured later, of what is refunded.
  receiptCompletions: { by: "checkout", name: "checkout-receipts", source: "checkout", types: "session.completed" },
  receiptCaptures: { by: "checkout", name: "checkout-receipts", source: "payments", types: "payment.captured" },
  receiptRefunds: {
    by: "checkout",
    name: "checkout-receipts-refunds",
    source: "payments",
    types: "payment.refund_succeeded",
  },
  fanOut: { by: "webhook", name: "webhook-fan-out", source: "payments", types: "payment.>" },
  // A consumer has one filter, so there is one for each end of a session: most of what checkout announces is no end.
  fanOutCompletions: { by: "webhook", name: "webhook-fan-out", source: "checkout", types: "session.completed" },
  fanOutExpiries: { by: "webhook", name: "webhook-fan-out-expiries", source: "checkout", types: "session.expired" },
  fanOutCancellations: {
    by: "webhook",
    name: "webhook-fan-out-canceled",
    source: "checkout",
    types: "session.canceled",
  },
  // So the audit log has one for each kind of administrative act.
  auditMerchants: { by: "merchant", name: "merchant-audit", source: "merchant", types: ">" },
  auditEndpoints: { by: "merchant", name: "merchant-audit", source: "webhook", types: "endpoint.>" },
  auditRefunds: { by: "merchant", name: "merchant-audit", source: "payments", types: "refund.requested" },
  auditDisputes: { by: "merchant", name: "merchant-audit-disputes", source: "payments", types: "dispute_response.>" },
  auditFees: { by: "merchant", name: "merchant-audit-fees", source: "payments", types: "fee_schedule.>" },
  auditOperations: { by: "merchant", name: "merchant-audit-operations", source: "payments", types: "operation.>" },
  auditAdjustments: {
    by: "merchant",
    name: "merchant-audit-adjustments",
    source: "payments",
    types: "adjustment.>",
  },
  auditReplays: { by: "merchant", name: "merchant-audit-replays", source: "payments", types: "events.>" },
  auditCheckoutReplays: { by: "merchant", name: "merchant-audit-replays", source: "checkout", types: "events.>" },
  auditWebhookReplays: { by: "merchant", name: "merchant-audit-replays", source: "webhook", types: "events.>" },
  auditExpiries: { by: "merchant", name: "merchant-audit", source: "checkout", types: "session.expiry_requested" },
  // Mails to merchants' people.
  notifyDisputes: { by: "merchant", name: "merchant-notify-disputes", source: "payments", types: "dispute.>" },
  notifyRefunds: {
    by: "merchant",
    name: "merchant-notify-refunds",
    source: "payments",
    types: "payment.refund_failed",
  },
  notifyDeliveries: { by: "merchant", name: "merchant-notify-deliveries", source: "webhook", types: "delivery.>" },
  auditRiskRules: { by: "merchant", name: "merchant-audit-risk", source: "checkout", types: "risk_rule.>" },
} as const satisfies Readonly<Record<string, { by: Source; name: string; source: Source; types: string }>>;

/** A durable consumer of this release. */
export type DurableConsumer = (typeof durableConsumers)[keyof typeof durableConsumers];

/** Those of a source's stream. */
export function consumersOf(source: Source): DurableConsumer[] {
  return Object.values(durableConsumers).filter((consumer) => consumer.source === source);
}

/** What each process hears besides, as it is published and without durability, to forget what it has kept. */
export const liveSubscriptions = {
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
