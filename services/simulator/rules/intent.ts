// The processor's objects, in the words of its API, and the one shape in which they change: a whole next intent, the
// events that tell it, and what will happen later by itself. Plain data: nothing here is ever modified in place.

export type IntentStatus =
  | "requires_payment_method"
  | "requires_action"
  | "processing"
  /** Authorized: the money is held, and nothing of it is taken. */
  | "requires_capture"
  | "succeeded"
  | "canceled"
  /** Its page's time is over, and nobody had begun to pay. */
  | "expired";
export type CaptureMethod = "automatic" | "manual";
export type AttemptStatus = "succeeded" | "failed" | "processing" | "requires_action";

/** An instant: RFC 3339, UTC, milliseconds. */
export type Timestamp = string;

/** What is kept of a card. Never its number. */
export interface CardFacts {
  readonly brand: string;
  readonly last4: string;
  readonly funding: string;
  /** Keyed hash of the number: the same card gives the same one, and nobody else can compute it. */
  readonly fingerprint: string;
  readonly exp_month: number;
  readonly exp_year: number;
}

/** What was checked at an attempt; values of docs/contract.md §5. */
export interface Verification {
  readonly avs_line1: string;
  readonly avs_zip: string;
  readonly cvc_check: string;
  readonly three_ds_result: string | null;
  readonly three_ds_version: string | null;
  readonly risk_level: string;
  readonly risk_score: number;
}

/** One try to pay. */
export interface Attempt extends CardFacts, Verification {
  readonly id: string;
  readonly intent_id: string;
  /** 1, 2, 3 … within its intent. */
  readonly seq: number;
  readonly status: AttemptStatus;
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  readonly authorization_code: string | null;
  readonly created_at: Timestamp;
  readonly settled_at: Timestamp | null;
  /** Name of the test card, see test-card.ts: decides what happens next. */
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

/** What a merchant answers: texts, and ids of files. */
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
  /** The caller's name for what it sent last; null: nothing was sent. */
  readonly evidence_reference: string | null;
  readonly evidence: Evidence | null;
  readonly evidence_at: Timestamp | null;
  readonly closed_at: Timestamp | null;
  readonly moved_at: Timestamp;
}

/** What is bought; the amount is of the whole line, negative for a discount. */
export interface LineItem {
  readonly name: string;
  readonly quantity: number;
  readonly amount: number;
}

/** A payment that a merchant wants. Amounts in minor units. */
export interface Intent {
  readonly id: string;
  readonly account: string;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly description: string | null;
  readonly return_url: string | null;
  readonly capture_method: CaptureMethod;
  /** Null: not told. */
  readonly line_items: readonly LineItem[] | null;
  /** The how-manieth intent under its reference, as the caller counts; null: the first. */
  readonly renewal: number | null;
  /** When its page ends; null: never. */
  readonly page_expires_at: Timestamp | null;
  readonly status: IntentStatus;
  readonly client_secret: string;
  readonly receipt_token: string;
  readonly captured_amount: number;
  /** Pending and succeeded refunds. */
  readonly refunded_amount: number;
  readonly created_at: Timestamp;
  /** When it was captured. */
  readonly paid_at: Timestamp | null;
  /** While it is authorized: until when it can be captured. */
  readonly capture_before: Timestamp | null;
  readonly canceled_at: Timestamp | null;
  /** Why it is canceled. */
  readonly cancellation_reason: "requested" | "expired" | null;
  readonly outage_until: Timestamp | null;
  /** When its debit came back last. */
  readonly returned_at: Timestamp | null;
  /** Since when the processor knows nothing of it any more. */
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

/** Something that will happen by itself: after `delays` times the configured delay, or at a moment of its own. */
export interface DelayedFact {
  readonly kind: "open_dispute" | "fail_refund" | "settle_attempt" | "decide_dispute" | "lapse_authorization";
  readonly object_id: string;
  readonly delays: number;
  readonly at?: Timestamp;
}

/** What a rule decides. */
export interface Change {
  readonly intent: Intent;
  readonly events: readonly EventType[];
  readonly delayed?: readonly DelayedFact[];
}

/** Why a rule says no; becomes a 400 with this code. */
export interface Refusal {
  readonly refused: string;
  readonly message: string;
}

/** The list with one object put in: replaced where its id is known, else at the end. */
export function withObject<T extends { readonly id: string }>(list: readonly T[], object: T): readonly T[] {
  return list.some((known) => known.id === object.id)
    ? list.map((known) => (known.id === object.id ? object : known))
    : [...list, object];
}
