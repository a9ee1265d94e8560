// The catalogue of event types (docs/contract.md §9): all codes that merchants can subscribe to.
import { closest, distance } from "fastest-levenshtein";

export interface EventType {
  readonly code: string;
  readonly label: string;
  readonly category: "authorization" | "checkout" | "dispute" | "payment" | "payout" | "refund" | "report" | "test";
  /** The internal event's type; absent if no service announces it. */
  readonly announcedAs?: string;
}

/** By category, then code. A payment's code without `announcedAs` is reserved: it is never sent. */
export const eventTypes: readonly EventType[] = [
  type("authorization", "authorization.canceled", "Authorization canceled", "payment.authorization_canceled"),
  type("authorization", "authorization.captured", "Authorization captured", "payment.captured"),
  type("authorization", "authorization.expired", "Authorization expired", "payment.authorization_expired"),
  type("checkout", "checkout_session.canceled", "Checkout session canceled", "session.canceled"),
  type("checkout", "checkout_session.completed", "Checkout session completed", "session.completed"),
  type("checkout", "checkout_session.expired", "Checkout session expired", "session.expired"),
  type("dispute", "dispute.closed", "Dispute closed", "dispute.closed"),
  type("dispute", "dispute.created", "Dispute created", "dispute.created"),
  type("dispute", "dispute.lost", "Dispute lost", "dispute.lost"),
  type("dispute", "dispute.updated", "Dispute updated", "dispute.updated"),
  type("dispute", "dispute.won", "Dispute won", "dispute.won"),
  type("payment", "payment.canceled", "Payment canceled"),
  type("payment", "payment.created", "Payment created"),
  type("payment", "payment.disputed", "Payment disputed", "payment.disputed"),
  type("payment", "payment.expired", "Payment expired"),
  type("payment", "payment.failed", "Payment failed", "payment.failed"),
  type("payment", "payment.processing", "Payment processing", "payment.processing"),
  type("payment", "payment.refund_failed", "Payment refund failed"),
  type("payment", "payment.refunded", "Payment refunded", "payment.refunded"),
  type("payment", "payment.succeeded", "Payment succeeded", "payment.succeeded"),
  type("payout", "payout.failed", "Payout failed", "payout.failed"),
  type("payout", "payout.paid", "Payout paid", "payout.paid"),
  type("refund", "refund.failed", "Refund failed", "payment.refund_failed"),
  type("refund", "refund.succeeded", "Refund succeeded", "payment.refund_succeeded"),
  type("report", "report.ready", "Report ready", "report.ready"),
  type("test", "test.ping", "Test event"),
];

function type(category: EventType["category"], code: string, label: string, announcedAs?: string): EventType {
  return { code, label, category, ...(announcedAs !== undefined && { announcedAs }) };
}

const codes = new Set(eventTypes.map(({ code }) => code));
const byAnnouncement = new Map(
  eventTypes.flatMap((one) => (one.announcedAs === undefined ? [] : [[one.announcedAs, one] as const])),
);

/** Undefined: the code is known. An unknown one gets the most similar code if half of that fits. */
export function eventTypeProblem(code: string): string | undefined {
  if (codes.has(code)) return undefined;
  const nearest = closest(code, [...codes]);
  const isMeant = distance(code, nearest) <= nearest.length / 2;
  return `is not an event type; ${isMeant ? `did you mean ${nearest}? ` : ""}see /docs/api/events`;
}

/** The codes that a merchant's list of events may contain. */
export const listedCodes: readonly string[] = [...byAnnouncement.values()].map(({ code }) => code);

/** The public type of an internal event, if it has one. */
export function deliveredType(announced: string): EventType | undefined {
  return byAnnouncement.get(announced);
}
