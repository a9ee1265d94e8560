// The processor's objects as in its API, and the form of their changes: the next intent, its events and delayed facts.
// Objects are never modified in place.

export type IntentStatus =
  | "requires_payment_method"
  | "requires_action"
  | "processing"
  /** Authorized: the money is held but not captured. */
  | "requires_capture"
  | "succeeded"
  | "canceled"
  /** The page has expired before a payment began. */
  | "expired";
export type CaptureMethod = "automatic" | "manual";
export type AttemptStatus = "succeeded" | "failed" | "processing" | "requires_action";

/** RFC 3339, UTC, milliseconds. */
export type Timestamp = string;

export const methodTypes = ["card", "ideal", "sepa_debit"] as const;
export type MethodType = (typeof methodTypes)[number];

/** A stored card without its number, or a bank account: then only `last4` and `bank_country` mean something. */
export interface CardFacts {
  readonly method: MethodType;
  /** ISO 3166; null: a card. */
  readonly bank_country: string | null;
  readonly brand: string;
  readonly last4: string;
  readonly funding: string;
  /** Keyed hash of the number, equal for the same card. */
  readonly fingerprint: string;
  readonly exp_month: number;
  readonly exp_year: number;
}

/** Checks of an attempt; values of docs/contract.md §5. */
export interface Verification {
  readonly avs_line1: string;
  readonly avs_zip: string;
  readonly cvc_check: string;
  readonly three_ds_result: string | null;
  readonly three_ds_version: string | null;
  readonly risk_level: string;
  readonly risk_score: number;
}

export interface Attempt extends CardFacts, Verification {
  readonly id: string;
  readonly intent_id: string;
  /** 1, 2, 3 … within the intent. */
  readonly seq: number;
  readonly status: AttemptStatus;
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  readonly authorization_code: string | null;
  readonly created_at: Timestamp;
  readonly settled_at: Timestamp | null;
  /** Name of the test card (test-card.ts), which decides the outcome. */
  readonly behaviour: string;
  readonly challenge_token: string | null;
  /** BCP 47 tag of the buyer's page, for the receipt. */
  readonly locale: string | null;
}

export type RefundStatus = "pending" | "succeeded" | "failed" | "canceled";

export interface Refund {
  readonly id: string;
  readonly account: string;
  readonly intent_id: string;
  readonly amount: number;
  readonly status: RefundStatus;
  readonly reason: string | null;
  readonly reference: string | null;
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  readonly created_at: Timestamp;
  /** Last time its money moved. */
  readonly moved_at: Timestamp;
}

export type DisputeStatus =
  | "warning_needs_response"
  | "warning_under_review"
  | "warning_closed"
  | "needs_response"
  | "under_review"
  | "won"
  | "lost";

/** A merchant's texts and file ids. */
export type Evidence = Readonly<Record<string, string>>;

export interface Dispute {
  readonly id: string;
  readonly account: string;
  readonly intent_id: string;
  readonly amount: number;
  readonly status: DisputeStatus;
  readonly reason: string;
  readonly opened_at: Timestamp;
  readonly evidence_due_at: Timestamp;
  /** The caller's reference of the last evidence; null: none. */
  readonly evidence_reference: string | null;
  readonly evidence: Evidence | null;
  readonly evidence_at: Timestamp | null;
  readonly closed_at: Timestamp | null;
  readonly moved_at: Timestamp;
}

/** The amount is of the whole line, negative for a discount. */
export interface LineItem {
  readonly name: string;
  readonly quantity: number;
  readonly amount: number;
}

/** Amounts in minor units. */
export interface Intent {
  readonly id: string;
  readonly account: string;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly description: string | null;
  readonly return_url: string | null;
  readonly capture_method: CaptureMethod;
  /** Null: unknown. */
  readonly line_items: readonly LineItem[] | null;
  /** The caller's number of the intent under its reference; null: the first. */
  readonly renewal: number | null;
  /** Offered on its page; null: cards. */
  readonly payment_methods: readonly MethodType[] | null;
  /** When its page ends; null: never. */
  readonly page_expires_at: Timestamp | null;
  readonly status: IntentStatus;
  readonly client_secret: string;
  readonly receipt_token: string;
  readonly captured_amount: number;
  /** Pending and succeeded refunds. */
  readonly refunded_amount: number;
  readonly created_at: Timestamp;
  readonly paid_at: Timestamp | null;
  /** Last time for a capture while it is authorized. */
  readonly capture_before: Timestamp | null;
  readonly canceled_at: Timestamp | null;
  readonly cancellation_reason: "requested" | "expired" | null;
  readonly outage_until: Timestamp | null;
  /** Last return of its debit. */
  readonly returned_at: Timestamp | null;
  /** Since when the processor has lost the intent. */
  readonly lost_at: Timestamp | null;
  readonly version: number;
  readonly attempts: readonly Attempt[];
  readonly refunds: readonly Refund[];
  readonly disputes: readonly Dispute[];
}

export type EventType =
  | "intent.authorized"
  | "intent.succeeded"
  | "intent.processing"
  | "intent.requires_action"
  | "intent.attempt_failed"
  | "intent.canceled"
  | "refund.created"
  | "refund.updated"
  | "dispute.opened"
  | "dispute.updated"
  | "dispute.closed";

/** A fact that occurs after `delays` times the configured delay, or at its own time. */
export interface DelayedFact {
  readonly kind:
    | "open_dispute"
    | "fail_refund"
    | "settle_attempt"
    | "decide_dispute"
    | "lapse_authorization"
    | "return_debit";
  readonly object_id: string;
  readonly delays: number;
  readonly at?: Timestamp;
}

export interface Change {
  readonly intent: Intent;
  readonly events: readonly EventType[];
  readonly delayed?: readonly DelayedFact[];
}

/** Becomes a 400 with this code. */
export interface Refusal {
  readonly refused: string;
  readonly message: string;
}

export function withObject<T extends { readonly id: string }>(list: readonly T[], object: T): readonly T[] {
  return list.some((known) => known.id === object.id)
    ? list.map((known) => (known.id === object.id ? object : known))
    : [...list, object];
}
