// The catalogue of event types (docs/contract.md §9): which codes can be subscribed to, and which of them are
// delivered.

export interface EventType {
  readonly code: string;
  /** For people. */
  readonly label: string;
  readonly category: "authorization" | "checkout" | "dispute" | "payment" | "refund" | "test";
  /** What our services announce it as; absent: none of them does. */
  readonly announcedAs?: string;
}

/** By category, then code. A payment's or dispute's code that nobody announces is reserved: it is never sent. */
export const eventTypes: readonly EventType[] = [
  type("authorization", "authorization.canceled", "Authorization canceled", "payment.authorization_canceled"),
  type("authorization", "authorization.captured", "Authorization captured", "payment.captured"),
  type("authorization", "authorization.expired", "Authorization expired", "payment.authorization_expired"),
  type("checkout", "checkout_session.canceled", "Checkout session canceled", "session.canceled"),
  type("checkout", "checkout_session.completed", "Checkout session completed", "session.completed"),
  type("checkout", "checkout_session.expired", "Checkout session expired", "session.expired"),
  type("dispute", "dispute.closed", "Dispute closed"),
  type("dispute", "dispute.created", "Dispute created"),
  type("dispute", "dispute.lost", "Dispute lost"),
  type("dispute", "dispute.updated", "Dispute updated"),
  type("dispute", "dispute.won", "Dispute won"),
  type("payment", "payment.canceled", "Payment canceled"),
  type("payment", "payment.created", "Payment created"),
  type("payment", "payment.disputed", "Payment disputed", "payment.disputed"),
  type("payment", "payment.expired", "Payment expired"),
  type("payment", "payment.failed", "Payment failed", "payment.failed"),
  type("payment", "payment.processing", "Payment processing"),
  type("payment", "payment.refund_failed", "Payment refund failed"),
  type("payment", "payment.refunded", "Payment refunded", "payment.refunded"),
  type("payment", "payment.succeeded", "Payment succeeded", "payment.succeeded"),
  type("refund", "refund.failed", "Refund failed", "payment.refund_failed"),
  type("refund", "refund.succeeded", "Refund succeeded", "payment.refund_succeeded"),
  type("test", "test.ping", "Test event"),
];

function type(category: EventType["category"], code: string, label: string, announcedAs?: string): EventType {
  return { code, label, category, ...(announcedAs !== undefined && { announcedAs }) };
}

const codes = new Set(eventTypes.map(({ code }) => code));
const byAnnouncement = new Map(
  eventTypes.flatMap((one) => (one.announcedAs === undefined ? [] : [[one.announcedAs, one] as const])),
);

/** True when the code is in the catalogue. */
export function isEventType(code: string): boolean {
  return codes.has(code);
}

/** The codes that stand in a merchant's list of events. */
export const listedCodes: readonly string[] = [...byAnnouncement.values()].map(({ code }) => code);

/** What merchants are told when a service announces this; undefined: nothing. */
export function deliveredType(announced: string): EventType | undefined {
  return byAnnouncement.get(announced);
}
