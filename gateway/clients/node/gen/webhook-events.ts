// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.

/** A payment reached an authorized or captured state; fires on confirm and again on the processor's word. */
export interface PaymentSucceededEvent {
  type: "payment.succeeded";
  /** Read the payment for amounts. */
  payment_id: string;
  /** The object's state for this event. */
  status: string;
}

/** The processor reports that the charge failed. */
export interface PaymentFailedEvent {
  type: "payment.failed";
  /** Read the payment for amounts. */
  payment_id: string;
  /** The object's state for this event. */
  status: string;
}

/** A refund was created or settled. */
export interface PaymentRefundedEvent {
  type: "payment.refunded";
  /** Read the payment for amounts. */
  payment_id: string;
  /** The object's state for this event. */
  status: string;
}

/** The processor opened a dispute or chargeback. */
export interface PaymentDisputedEvent {
  type: "payment.disputed";
  /** Read the payment for amounts. */
  payment_id: string;
  /** The object's state for this event. */
  status: string;
}

/** The processor has paid a refund out. */
export interface RefundSucceededEvent {
  type: "refund.succeeded";
  /** The refund. */
  refund_id: string;
  /** Read the payment for amounts. */
  payment_id: string;
  /** The object's state for this event. */
  status: string;
}

/** A refund was not made, or its money came back: its amount can be refunded again. */
export interface RefundFailedEvent {
  type: "refund.failed";
  /** The refund. */
  refund_id: string;
  /** Read the payment for amounts. */
  payment_id: string;
  /** The object's state for this event. */
  status: string;
}

/** A session was paid. */
export interface CheckoutSessionCompletedEvent {
  type: "checkout_session.completed";
  /** The session. */
  session_id: string;
  /** Read the payment for amounts. */
  payment_id: string;
  /** The object's state for this event. */
  status: string;
}

/** A session's time was over and it was unpaid. */
export interface CheckoutSessionExpiredEvent {
  type: "checkout_session.expired";
  /** The session. */
  session_id: string;
  /** Read the payment for amounts. */
  payment_id?: string;
  /** The object's state for this event. */
  status: string;
}

/** A session ended unpaid: ten attempts were declined, or risk screening refused the buyer. */
export interface CheckoutSessionCanceledEvent {
  type: "checkout_session.canceled";
  /** The session. */
  session_id: string;
  /** Read the payment for amounts. */
  payment_id?: string;
  /** The object's state for this event. */
  status: string;
}

/** The test operation was called on the endpoint; carries no payment. */
export interface TestPingEvent {
  type: "test.ping";
  created_at: string;
}

/**
 * An event of a type that is newer than this library. `type` is what was sent; it is declared as a text that no event
 * has, so that TypeScript can tell the known ones apart: read it as `String(event.type)`.
 */
export interface UnknownEvent {
  type: "newer than this library";
  [field: string]: unknown;
}

/** Told apart by `type`; one that is none of these is to be acknowledged and passed over. */
export type WebhookEvent =
  | PaymentSucceededEvent
  | PaymentFailedEvent
  | PaymentRefundedEvent
  | PaymentDisputedEvent
  | RefundSucceededEvent
  | RefundFailedEvent
  | CheckoutSessionCompletedEvent
  | CheckoutSessionExpiredEvent
  | CheckoutSessionCanceledEvent
  | TestPingEvent
  | UnknownEvent;
