// The catalogue of event types (docs/contract.md §9): which codes can be subscribed to, and which of them are
// delivered.

export interface EventType {
  readonly code: string;
  /** For people. */
  readonly label: string;
  readonly category: "dispute" | "payment" | "test";
  /** False: reserved; can be subscribed to, is never sent. */
  readonly isDelivered: boolean;
}

/** By category, then code. */
export const eventTypes: readonly EventType[] = [
  { code: "dispute.closed", label: "Dispute closed", category: "dispute", isDelivered: false },
  { code: "dispute.created", label: "Dispute created", category: "dispute", isDelivered: false },
  { code: "dispute.lost", label: "Dispute lost", category: "dispute", isDelivered: false },
  { code: "dispute.updated", label: "Dispute updated", category: "dispute", isDelivered: false },
  { code: "dispute.won", label: "Dispute won", category: "dispute", isDelivered: false },
  { code: "payment.canceled", label: "Payment canceled", category: "payment", isDelivered: false },
  { code: "payment.created", label: "Payment created", category: "payment", isDelivered: false },
  { code: "payment.disputed", label: "Payment disputed", category: "payment", isDelivered: true },
  { code: "payment.expired", label: "Payment expired", category: "payment", isDelivered: false },
  { code: "payment.failed", label: "Payment failed", category: "payment", isDelivered: true },
  { code: "payment.processing", label: "Payment processing", category: "payment", isDelivered: false },
  { code: "payment.refund_failed", label: "Refund failed", category: "payment", isDelivered: false },
  { code: "payment.refunded", label: "Payment refunded", category: "payment", isDelivered: true },
  { code: "payment.succeeded", label: "Payment succeeded", category: "payment", isDelivered: true },
  { code: "test.ping", label: "Test event", category: "test", isDelivered: true },
];

const codes = new Set(eventTypes.map((t) => t.code));
const deliveredPaymentCodes = new Set(
  eventTypes.filter((t) => t.isDelivered && t.category === "payment").map((t) => t.code),
);

/** True when the code is in the catalogue. */
export function isEventType(code: string): boolean {
  return codes.has(code);
}

/** True when an event of this type from the payments service becomes deliveries. */
export function isDeliveredPaymentEvent(code: string): boolean {
  return deliveredPaymentCodes.has(code);
}

/**
 * The body of a payment event: exactly three fields, in this order (docs/contract.md §9). The bytes are what is signed
 * and sent.
 */
export function paymentEventBody(type: string, paymentId: string, status: string): Buffer {
  return Buffer.from(JSON.stringify({ type, payment_id: paymentId, status }));
}

/** The body of a test event (docs/contract.md §9). */
export function testEventBody(at: Date): Buffer {
  return Buffer.from(JSON.stringify({ type: "test.ping", created_at: at.toISOString() }));
}
