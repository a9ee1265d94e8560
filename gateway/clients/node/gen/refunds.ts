// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, IdempotentOptions, RequestOptions } from "../caller.ts";
import type { List } from "../page.ts";
import { path } from "../path.ts";
import type { RefundItem } from "./payments.ts";

export interface NewRefund {
  /** Minor units; absent: all that is left. */
  amount?: number | undefined;
  /**
   * Free text; `duplicate`, `fraudulent` and `requested_by_customer` are passed to the processor as such. At most 255
   * characters.
   */
  reason?: string | undefined;
}

export interface RefundResult {
  /** `re_…`. */
  id: string;
  /** `pay_…`. */
  payment_id: string;
  /** This refund's amount, minor units. */
  refunded: number;
  /** The payment's status after it. */
  status: string;
  /** The refund's id at the processor. */
  connector_ref?: string;
  /** `pending`, `succeeded`, `failed` or `canceled`. */
  refund_status: "pending" | "succeeded" | "failed" | "canceled" | (string & {});
}

/** Filters and pages of "List refunds". */
export interface ListRefundsQuery {
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
  status?: "pending" | "succeeded" | "failed" | "canceled" | undefined;
  /** Only those of this payment. */
  payment_id?: string | undefined;
  /** Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters. */
  from?: string | undefined;
  /** Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters. */
  to?: string | undefined;
}

export class RefundsResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Refund a payment.
   * Without an amount the full remaining balance is refunded. The body may be empty.
   * Without an idempotency key of yours it gets one, so that it is safely repeated.
   * Scope `payments:write`.
   */
  create(paymentId: string, body: NewRefund = {}, options?: IdempotentOptions): Promise<RefundResult> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/payments/${paymentId}/refunds`, body, isIdempotent: true },
      options,
    );
  }

  /**
   * List refunds.
   * Newest first. `total` is exact within the filters. A `payment_id` that is none of yours is `not_found`.
   * Iterating reads page after page.
   * Scope `payments:read`.
   */
  list(query: ListRefundsQuery = {}, options?: RequestOptions): List<RefundItem> {
    return this.#caller.list({ method: "GET", path: "/v1/refunds", query, paging: "after" }, options);
  }

  /**
   * Read a refund.
   * What became of it: a `pending` one ends `succeeded` or `failed`.
   * Scope `payments:read`.
   */
  get(refundId: string, options?: RequestOptions): Promise<RefundItem> {
    return this.#caller.send({ method: "GET", path: path`/v1/refunds/${refundId}` }, options);
  }
}
