// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, IdempotentOptions, RequestOptions } from "../caller.ts";
import type { List } from "../page.ts";
import { path } from "../path.ts";

export interface AttemptCard {
  /** Card brand. */
  brand: string;
  /** The last four digits. */
  last4: string;
}

export interface Card {
  /** Card brand. */
  brand?: string;
  /** The last four digits. */
  last4?: string;
  /** `credit`, `debit` or `prepaid`. */
  funding?: "credit" | "debit" | "prepaid" | (string & {});
  /** The same for the same card number. */
  fingerprint?: string;
  exp_month: number;
  exp_year: number;
}

export interface CardSummary {
  /** Card brand. */
  brand?: string;
  /** The last four digits. */
  last4?: string;
  /** `credit`, `debit` or `prepaid`. */
  funding?: "credit" | "debit" | "prepaid" | (string & {});
}

export interface Dispute {
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
}

export interface NewCapture {
  /** Minor units; absent: all that is authorized. A part releases the rest. */
  amount?: number | undefined;
}

export interface NewPayment {
  /** Minor units: 1050 means 10.50. 1 to 99,999,999. */
  amount: number;
  /** ISO 4217, any case. */
  currency: string;
  /** The processor's token of a card. The buyer's browser gets it from the processor: card data never comes here. */
  payment_method: string;
  /** At most 255 characters. */
  description?: string | undefined;
  /** Your own order number; need not be unique. Lists find it by its beginning. At most 100 characters. */
  reference?: string | undefined;
  /** The buyer's e-mail. At most 254 characters. */
  customer_email?: string | undefined;
  /** Up to 50 names of 1 to 40 characters with text values of up to 500. */
  metadata?: Record<string, string> | undefined;
  /**
   * `automatic` when absent. `manual`: the payment is authorized, and you capture it, whole or in part, before
   * `capture_before`.
   */
  capture_method?: "automatic" | "manual" | undefined;
}

export interface Verification {
  /** `pass`, `fail`, `unavailable` or `unchecked`. */
  avs_line1?: "pass" | "fail" | "unavailable" | "unchecked" | (string & {});
  /** As avs_line1. */
  avs_zip?: string;
  /** As avs_line1. */
  cvc_check?: string;
  /** Result of 3-D Secure. */
  three_ds_result?: string;
  /** Version of 3-D Secure. */
  three_ds_version?: string;
  /** `normal`, `elevated`, `highest` or `not_assessed`. */
  risk_level?: "normal" | "elevated" | "highest" | "not_assessed" | (string & {});
  /** 0 to 100. */
  risk_score: number;
}

export interface Refund {
  /** `re_…`. */
  id: string;
  /** Minor units. */
  amount: number;
  /** `pending`, `succeeded`, `failed` or `canceled`. */
  status: "pending" | "succeeded" | "failed" | "canceled" | (string & {});
  /** The refund's id at the processor. */
  connector_ref?: string;
  /** The caller's words. */
  reason?: string;
  /** The processor's code, when it failed. */
  failure_code?: string;
  /** The processor's words, when it failed. */
  failure_message?: string;
  /** When it was created. */
  created_at: string;
}

export interface PaymentFailure {
  /**
   * `card_declined`, `insufficient_funds`, `expired_card`, `incorrect_cvc`, `incorrect_number`, `processing_error`,
   * `authentication_failed`, `authentication_required`, `blocked`, `lost_or_stolen`, `card_not_supported`,
   * `currency_not_supported`, `limit_exceeded`, `duplicate`, `canceled_by_buyer`, `expired`, `not_processed`,
   * `returned` or `unknown`. Expect further ones.
   */
  code:
    | "card_declined"
    | "insufficient_funds"
    | "expired_card"
    | "incorrect_cvc"
    | "incorrect_number"
    | "processing_error"
    | "authentication_failed"
    | "authentication_required"
    | "blocked"
    | "lost_or_stolen"
    | "card_not_supported"
    | "currency_not_supported"
    | "limit_exceeded"
    | "duplicate"
    | "canceled_by_buyer"
    | "expired"
    | "not_processed"
    | "returned"
    | "unknown"
    | (string & {});
  /** The processor's words, for you and not for the buyer. */
  message: string;
  /**
   * `retry_later`, `use_another_card`, `contact_issuer` or `do_not_retry`. `retry_later`: the same card may be taken,
   * at once when something was typed wrong; `contact_issuer`: the buyer asks the bank.
   */
  advice: "retry_later" | "use_another_card" | "contact_issuer" | "do_not_retry" | (string & {});
}

export interface PaymentAttempt {
  /** The attempt's id at the processor; absent: it never came to be there. */
  id?: string;
  /** `succeeded` or `failed`. */
  outcome: "succeeded" | "failed" | (string & {});
  /**
   * `card_declined`, `insufficient_funds`, `expired_card`, `incorrect_cvc`, `incorrect_number`, `processing_error`,
   * `authentication_failed`, `authentication_required`, `blocked`, `lost_or_stolen`, `card_not_supported`,
   * `currency_not_supported`, `limit_exceeded`, `duplicate`, `canceled_by_buyer`, `expired`, `not_processed`,
   * `returned` or `unknown`. Expect further ones.
   */
  failure_code?:
    | "card_declined"
    | "insufficient_funds"
    | "expired_card"
    | "incorrect_cvc"
    | "incorrect_number"
    | "processing_error"
    | "authentication_failed"
    | "authentication_required"
    | "blocked"
    | "lost_or_stolen"
    | "card_not_supported"
    | "currency_not_supported"
    | "limit_exceeded"
    | "duplicate"
    | "canceled_by_buyer"
    | "expired"
    | "not_processed"
    | "returned"
    | "unknown"
    | (string & {});
  /** The processor's words. */
  failure_message?: string;
  card?: AttemptCard;
  /** Result of 3-D Secure. */
  three_ds_result?: string;
  /** When it began. */
  created_at: string;
}

export interface Payment {
  /** `pay_…`. */
  id: string;
  /** What was asked for, minor units; `captured_amount` says what was taken. */
  amount: number;
  /** What was taken, minor units. 0 of a `succeeded` payment: it is authorized, and nothing is taken yet. */
  captured_amount: number;
  /** Our fee, minor units; kept on refund. */
  fee_amount: number;
  /** Pending and succeeded refunds, minor units. */
  refunded_amount: number;
  /** captured_amount − refunded_amount − fee_amount − lost disputes, minor units; 0 while nothing is captured. */
  net_amount: number;
  /** ISO 4217, upper case. */
  currency: string;
  /**
   * `pending`, `requires_action`, `processing`, `succeeded`, `failed`, `canceled`, `partially_refunded`, `refunded` or
   * `disputed`.
   */
  status:
    | "pending"
    | "requires_action"
    | "processing"
    | "succeeded"
    | "failed"
    | "canceled"
    | "partially_refunded"
    | "refunded"
    | "disputed"
    | (string & {});
  /** The payment's id at the processor. */
  connector_ref?: string;
  /** Name of the connector. */
  connector?: string;
  /** The caller's words. */
  description?: string;
  /** Your own order number. */
  reference?: string;
  /** The buyer's e-mail. */
  customer_email?: string;
  /** The issuer's code. */
  authorization_code?: string;
  /** The processor's receipt page. */
  receipt_url?: string;
  /** When the issuer authorized it. */
  authorized_at?: string;
  /** `manual`: captured by you, with the capture operation. */
  capture_method: "automatic" | "manual" | (string & {});
  /** While it is authorized and not captured: until when it can be captured; then it is canceled. */
  capture_before?: string;
  /** When it was captured. */
  captured_at?: string;
  /** When the last attempt failed. */
  failed_at?: string;
  /** When it was created. */
  created_at: string;
  card?: Card;
  verification?: Verification;
  refunds: Refund[];
  dispute?: Dispute;
  failure?: PaymentFailure;
  /** Those that have ended, oldest first. */
  attempts: PaymentAttempt[];
  /** Up to 50 names of 1 to 40 characters with text values of up to 500. */
  metadata?: Record<string, string>;
}

export interface PaymentItem {
  /** `pay_…`. */
  id: string;
  /** What was asked for, minor units; `captured_amount` says what was taken. */
  amount: number;
  /** What was taken, minor units. 0 of a `succeeded` payment: it is authorized, and nothing is taken yet. */
  captured_amount: number;
  /** ISO 4217, upper case. */
  currency: string;
  /**
   * `pending`, `requires_action`, `processing`, `succeeded`, `failed`, `canceled`, `partially_refunded`, `refunded` or
   * `disputed`.
   */
  status:
    | "pending"
    | "requires_action"
    | "processing"
    | "succeeded"
    | "failed"
    | "canceled"
    | "partially_refunded"
    | "refunded"
    | "disputed"
    | (string & {});
  /** Our fee, minor units. */
  fee_amount: number;
  /** Pending and succeeded refunds, minor units. */
  refunded_amount: number;
  /** The buyer's e-mail. */
  customer_email?: string;
  /** Name of the connector. */
  connector?: string;
  card?: CardSummary;
  /** When it was created. */
  created_at: string;
}

export interface PaymentWebhookDelivery {
  /** `whd_…`. */
  id: string;
  /** Event code. */
  event_type: string;
  /** Attempts made since it was queued. */
  attempts: number;
  /** A 2xx came back. */
  delivered: boolean;
  /** Attempts are exhausted. */
  failed: boolean;
  /** The last attempt's HTTP status; 0: none came back. */
  status_code: number;
  /** Why the last attempt failed. */
  last_error?: string;
  /** Only while pending. */
  next_attempt_at?: string;
  /** The body that is sent. */
  payload: Record<string, unknown>;
  /** When it was queued. */
  created_at: string;
  /** Where it goes. */
  endpoint_id: string;
}

export interface RefundItem {
  /** `re_…`. */
  id: string;
  /** Minor units. */
  amount: number;
  /** `pending`, `succeeded`, `failed` or `canceled`. */
  status: "pending" | "succeeded" | "failed" | "canceled" | (string & {});
  /** The refund's id at the processor. */
  connector_ref?: string;
  /** The caller's words. */
  reason?: string;
  /** The processor's code, when it failed. */
  failure_code?: string;
  /** The processor's words, when it failed. */
  failure_message?: string;
  /** When it was created. */
  created_at: string;
  /** `pay_…`. */
  payment_id: string;
  /** ISO 4217, upper case. */
  currency: string;
}

/** Filters and pages of "List payments". */
export interface ListPaymentsQuery {
  /** How many to answer at most. 1 to 200. */
  limit?: number | undefined;
  /** How many to pass over. */
  offset?: number | undefined;
  /**
   * Only those that follow this one: pages by the last id of the page before repeat and miss nothing, whatever is
   * created meanwhile. Without `offset`.
   */
  after?: string | undefined;
  /**
   * Exact match: `pending`, `requires_action`, `processing`, `succeeded`, `failed`, `canceled`, `partially_refunded`,
   * `refunded` or `disputed`. At most 32 characters.
   */
  status?:
    | "pending"
    | "requires_action"
    | "processing"
    | "succeeded"
    | "failed"
    | "canceled"
    | "partially_refunded"
    | "refunded"
    | "disputed"
    | (string & {})
    | undefined;
  /** Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters. */
  from?: string | undefined;
  /** Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters. */
  to?: string | undefined;
  /**
   * Payment id (exact or prefix), part of an e-mail (any case), the last four digits, or the beginning of a reference.
   * At most 254 characters.
   */
  q?: string | undefined;
  /** Minor units. */
  min_amount?: number | undefined;
  /** Minor units. */
  max_amount?: number | undefined;
  /** Your order number, exactly. At most 100 characters. */
  reference?: string | undefined;
  /** ISO 4217, any case. */
  currency?: string | undefined;
  /** Name of the connector, exactly. At most 64 characters. */
  connector?: string | undefined;
  /** Captured at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters. */
  captured_from?: string | undefined;
  /** Captured before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters. */
  captured_to?: string | undefined;
}

/** Filters and pages of "List the refunds of a payment". */
export interface ListPaymentRefundsQuery {
  /** How many to answer at most. 1 to 200. */
  limit?: number | undefined;
  /** How many to pass over. */
  offset?: number | undefined;
  /**
   * Only those that follow this one: pages by the last id of the page before repeat and miss nothing, whatever is
   * created meanwhile. Without `offset`.
   */
  after?: string | undefined;
}

export class PaymentsResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Create a payment without a checkout session.
   * Charges a card that the processor has, by its token, while the buyer is absent. `status` tells how it went:
   * `succeeded`; `failed`, also for a card that asks for 3-D Secure (use a checkout session for those); `processing` or
   * `pending` while the processor has not said, then a webhook tells the end. `connector_error` (502) is answered only
   * if surely nothing was sent to the processor; whatever may have reached it is a 201. A payment that turns out never
   * to have come to be ends `failed` with the failure code `not_processed`, and `payment.failed` is delivered.
   * Without an idempotency key of yours it gets one, so that it is safely repeated.
   * Scope `payments:write`.
   */
  create(body: NewPayment, options?: IdempotentOptions): Promise<Payment> {
    return this.#caller.send({ method: "POST", path: "/v1/payments", body, isIdempotent: true }, options);
  }

  /**
   * List payments.
   * Newest first. `total` is exact within the filters.
   * Iterating reads page after page.
   * Scope `payments:read`.
   */
  list(query: ListPaymentsQuery = {}, options?: RequestOptions): List<PaymentItem> {
    return this.#caller.list({ method: "GET", path: "/v1/payments", query, paging: "after" }, options);
  }

  /**
   * Capture a payment.
   * Takes what is authorized of a payment with `capture_method` `manual`: all of it, or a part, which releases the
   * rest; once, and before `capture_before`. The body may be empty. While the processor has not said, the answer is the
   * payment without `captured_at`, and `authorization.captured` tells the end.
   * Without an idempotency key of yours it gets one, so that it is safely repeated.
   * Scope `payments:write`.
   */
  capture(paymentId: string, body: NewCapture = {}, options?: IdempotentOptions): Promise<Payment> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/payments/${paymentId}/capture`, body, isIdempotent: true },
      options,
    );
  }

  /**
   * Cancel a payment.
   * Releases an authorization that is not captured, or ends a payment that is not paid; its buyer can pay it no more.
   * One that is canceled already is answered as it is. While the processor has not said, the answer is the payment as
   * it is, and `authorization.canceled` tells the end of an authorization.
   * Without an idempotency key of yours it gets one, so that it is safely repeated.
   * Scope `payments:write`.
   */
  cancel(paymentId: string, options?: IdempotentOptions): Promise<Payment> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/payments/${paymentId}/cancel`, isIdempotent: true },
      options,
    );
  }

  /**
   * Read a payment.
   * The full record with refunds and dispute.
   * Scope `payments:read`.
   */
  get(paymentId: string, options?: RequestOptions): Promise<Payment> {
    return this.#caller.send({ method: "GET", path: path`/v1/payments/${paymentId}` }, options);
  }

  /**
   * List the refunds of a payment.
   * Newest first.
   * Iterating reads page after page.
   * Scope `payments:read`.
   */
  listRefunds(paymentId: string, query: ListPaymentRefundsQuery = {}, options?: RequestOptions): List<RefundItem> {
    return this.#caller.list(
      { method: "GET", path: path`/v1/payments/${paymentId}/refunds`, query, paging: "after" },
      options,
    );
  }

  /**
   * List the webhook deliveries of a payment.
   * To all endpoints, also deleted ones; newest first, at most 200. Kept for 94 days.
   * Scope `payments:read`.
   */
  listDeliveries(paymentId: string, options?: RequestOptions): List<PaymentWebhookDelivery> {
    return this.#caller.list(
      { method: "GET", path: path`/v1/payments/${paymentId}/deliveries`, paging: "none" },
      options,
    );
  }
}
