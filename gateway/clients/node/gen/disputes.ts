// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, IdempotentOptions, RequestOptions } from "../caller.ts";
import type { List } from "../page.ts";
import { path } from "../path.ts";

export interface DisputeEvidence {
  /**
   * `not_submitted`: nothing was sent from here; `pending`: it was, and the processor has not told yet that it has it;
   * `submitted`.
   */
  status: "not_submitted" | "pending" | "submitted" | (string & {});
  /** When the processor was known to have it. */
  submitted_at?: string;
  /** As it was sent. */
  product_description?: string;
  /** As it was sent. */
  customer_name?: string;
  /** As it was sent. */
  customer_email_address?: string;
  /** As it was sent. */
  customer_purchase_ip?: string;
  /** As it was sent. */
  billing_address?: string;
  /** As it was sent. */
  service_date?: string;
  /** As it was sent. */
  shipping_carrier?: string;
  /** As it was sent. */
  shipping_tracking_number?: string;
  /** As it was sent. */
  shipping_date?: string;
  /** As it was sent. */
  shipping_address?: string;
  /** As it was sent. */
  refund_policy?: string;
  /** As it was sent. */
  refund_refusal_explanation?: string;
  /** As it was sent. */
  cancellation_policy?: string;
  /** As it was sent. */
  cancellation_rebuttal?: string;
  /** As it was sent. */
  duplicate_charge_explanation?: string;
  /** As it was sent. */
  access_activity_log?: string;
  /** As it was sent. */
  uncategorized_text?: string;
  /** As it was sent. */
  receipt_file?: string;
  /** As it was sent. */
  customer_communication_file?: string;
  /** As it was sent. */
  customer_signature_file?: string;
  /** As it was sent. */
  shipping_documentation_file?: string;
  /** As it was sent. */
  service_documentation_file?: string;
  /** As it was sent. */
  refund_policy_file?: string;
  /** As it was sent. */
  cancellation_policy_file?: string;
  /** As it was sent. */
  uncategorized_file?: string;
}

export interface DisputeEvidenceState {
  /**
   * `not_submitted`: nothing was sent from here; `pending`: it was, and the processor has not told yet that it has it;
   * `submitted`.
   */
  status: "not_submitted" | "pending" | "submitted" | (string & {});
  /** When the processor was known to have it. */
  submitted_at?: string;
}

export interface DisputeFile {
  /** `file_…`. */
  id: string;
  /** `dp_…`. */
  dispute_id: string;
  /** By its bytes: `application/pdf`, `image/jpeg` or `image/png`. */
  type: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of its bytes, hexadecimal. */
  sha256: string;
  /** When it was uploaded. */
  created_at: string;
}

export interface DisputeItem {
  /** `dp_…`. */
  id: string;
  /** The dispute's id at the processor. */
  connector_dispute_id?: string;
  /** The processor's reason. */
  reason?: string;
  /**
   * `warning_needs_response`, `warning_under_review`, `warning_closed`, `needs_response`, `under_review`, `won` or
   * `lost`.
   */
  status:
    | "warning_needs_response"
    | "warning_under_review"
    | "warning_closed"
    | "needs_response"
    | "under_review"
    | "won"
    | "lost"
    | (string & {});
  /** Minor units. */
  amount: number;
  /** When it was opened. */
  opened_at?: string;
  /** Until when evidence can be sent; absent: not at all, or not told. */
  evidence_due_at?: string;
  /** `won` or `lost`; absent: not decided. */
  outcome?: "won" | "lost" | (string & {});
  /** `pay_…`. */
  payment_id: string;
  /** ISO 4217, upper case. */
  currency: string;
  /** `pending`: it is being conceded, and the processor has not told yet; `accepted`. */
  acceptance?: "pending" | "accepted" | (string & {});
  evidence: DisputeEvidenceState;
}

export interface DisputeRecord {
  /** `dp_…`. */
  id: string;
  /** The dispute's id at the processor. */
  connector_dispute_id?: string;
  /** The processor's reason. */
  reason?: string;
  /**
   * `warning_needs_response`, `warning_under_review`, `warning_closed`, `needs_response`, `under_review`, `won` or
   * `lost`.
   */
  status:
    | "warning_needs_response"
    | "warning_under_review"
    | "warning_closed"
    | "needs_response"
    | "under_review"
    | "won"
    | "lost"
    | (string & {});
  /** Minor units. */
  amount: number;
  /** When it was opened. */
  opened_at?: string;
  /** Until when evidence can be sent; absent: not at all, or not told. */
  evidence_due_at?: string;
  /** `won` or `lost`; absent: not decided. */
  outcome?: "won" | "lost" | (string & {});
  /** `pay_…`. */
  payment_id: string;
  /** ISO 4217, upper case. */
  currency: string;
  /** `pending`: it is being conceded, and the processor has not told yet; `accepted`. */
  acceptance?: "pending" | "accepted" | (string & {});
  evidence: DisputeEvidence;
}

export interface NewEvidence {
  /** What was sold. At most 20,000 characters. */
  product_description?: string | undefined;
  /** The customer's name. At most 500 characters. */
  customer_name?: string | undefined;
  /** The customer's e-mail address. At most 500 characters. */
  customer_email_address?: string | undefined;
  /** The address that the customer bought from. At most 500 characters. */
  customer_purchase_ip?: string | undefined;
  /** The customer's billing address. At most 2,000 characters. */
  billing_address?: string | undefined;
  /** When the customer got the service, in words. At most 500 characters. */
  service_date?: string | undefined;
  /** Who carried it. At most 500 characters. */
  shipping_carrier?: string | undefined;
  /** The carrier's number. At most 500 characters. */
  shipping_tracking_number?: string | undefined;
  /** When it left, in words. At most 500 characters. */
  shipping_date?: string | undefined;
  /** Where it went. At most 2,000 characters. */
  shipping_address?: string | undefined;
  /** The refund policy, and how the customer saw it before the purchase. At most 20,000 characters. */
  refund_policy?: string | undefined;
  /** Why the customer is owed no refund. At most 20,000 characters. */
  refund_refusal_explanation?: string | undefined;
  /** The cancellation policy, and how the customer saw it before the purchase. At most 20,000 characters. */
  cancellation_policy?: string | undefined;
  /** Why the subscription was not canceled. At most 20,000 characters. */
  cancellation_rebuttal?: string | undefined;
  /** What tells this charge from the one that it looks like. At most 20,000 characters. */
  duplicate_charge_explanation?: string | undefined;
  /** Log lines that show the customer's use of what was sold. At most 20,000 characters. */
  access_activity_log?: string | undefined;
  /**
   * Anything else. In the sandbox `winning_evidence` wins the dispute and `losing_evidence` loses it. At most 20,000
   * characters.
   */
  uncategorized_text?: string | undefined;
  /** What the customer got as a receipt. */
  receipt_file?: string | undefined;
  /** What the customer wrote. */
  customer_communication_file?: string | undefined;
  /** The customer's signature. */
  customer_signature_file?: string | undefined;
  /** Proof that it was shipped to the customer. */
  shipping_documentation_file?: string | undefined;
  /** Proof that the service was given. */
  service_documentation_file?: string | undefined;
  /** The refund policy as the customer saw it. */
  refund_policy_file?: string | undefined;
  /** The cancellation policy as the customer saw it. */
  cancellation_policy_file?: string | undefined;
  /** Anything else. */
  uncategorized_file?: string | undefined;
}

/** Filters and pages of "List disputes". */
export interface ListDisputesQuery {
  /** How many to answer at most. 1 to 200. */
  limit?: number | undefined;
  /** How many to pass over. */
  offset?: number | undefined;
  /**
   * Only those that follow this one: pages by the last id of the page before repeat and miss nothing, whatever is
   * created meanwhile. Without `offset`.
   */
  after?: string | undefined;
  /** Exact match. */
  status?:
    | "warning_needs_response"
    | "warning_under_review"
    | "warning_closed"
    | "needs_response"
    | "under_review"
    | "won"
    | "lost"
    | undefined;
  /** Only those of this payment. */
  payment_id?: string | undefined;
  /**
   * Only those whose evidence is due before: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40
   * characters.
   */
  due_before?: string | undefined;
  /** Opened at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters. */
  from?: string | undefined;
  /** Opened before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters. */
  to?: string | undefined;
}

export class DisputesResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List disputes.
   * By when they were opened, newest first. `total` is exact within the filters. With `status=needs_response` and
   * `due_before` it is the list of what is to be answered. A `payment_id` that is none of yours is `not_found`.
   * Iterating reads page after page.
   * Scope `payments:read`.
   */
  list(query: ListDisputesQuery = {}, options?: RequestOptions): List<DisputeItem> {
    return this.#caller.list({ method: "GET", path: "/v1/disputes", query, paging: "after" }, options);
  }

  /**
   * Read a dispute.
   * With the evidence that was sent last.
   * Scope `payments:read`.
   */
  get(disputeId: string, options?: RequestOptions): Promise<DisputeRecord> {
    return this.#caller.send({ method: "GET", path: path`/v1/disputes/${disputeId}` }, options);
  }

  /**
   * Answer a dispute with evidence.
   * Sends texts, and files that were uploaded before, to the processor for good: a dispute is answered once. At least
   * one field is needed; blanks around a text are left away, and a text of blanks alone is refused. The dispute moves
   * to `under_review` by the processor's report. While the processor has not told that it has the evidence,
   * `evidence.status` is `pending`; do not send it again.
   * Without an idempotency key of yours it gets one, so that it is safely repeated.
   * Scope `payments:write`.
   */
  submitEvidence(disputeId: string, body: NewEvidence, options?: IdempotentOptions): Promise<DisputeRecord> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/disputes/${disputeId}/evidence`, body, isIdempotent: true },
      options,
    );
  }

  /**
   * Accept a dispute.
   * Concedes it: the dispute becomes `lost` by the processor's report, and its money stays with the buyer. It cannot be
   * taken back. The body may be empty.
   * Without an idempotency key of yours it gets one, so that it is safely repeated.
   * Scope `payments:write`.
   */
  accept(disputeId: string, options?: IdempotentOptions): Promise<DisputeRecord> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/disputes/${disputeId}/accept`, isIdempotent: true },
      options,
    );
  }

  /**
   * Upload a file for evidence.
   * The body is the file itself: a PDF, a JPEG or a PNG of at most 5 MiB, whole (a PNG with right checksums, a PDF that
   * is one document). What phones, scanners and web frameworks append is cut off: `size` and `sha256` are those of the
   * stored file; a picture has at most 20,000 pixels a side and 100 million in all. At most 20 files a dispute, and 8
   * uploads at once: what is beyond is `service_unavailable` before any of it is read, so send it again after
   * `Retry-After`. A file is part of the evidence once its id is sent with it; one that is never sent is deleted after
   * 30 days.
   * Scope `payments:write`.
   */
  uploadFile(
    disputeId: string,
    file: Uint8Array,
    contentType: "application/pdf" | "image/jpeg" | "image/png",
    options?: RequestOptions,
  ): Promise<DisputeFile> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/disputes/${disputeId}/files`, file: { content: file, type: contentType } },
      options,
    );
  }
}
