// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, IdempotentOptions, RequestOptions } from "../caller.ts";
import type { List } from "../page.ts";
import { path } from "../path.ts";

export interface LineItem {
  /** What is bought. */
  name: string;
  quantity: number;
  /** Of the whole line, in minor units; negative for a discount. */
  amount: number;
}

export interface CheckoutSession {
  /** `cs_…`. */
  id: string;
  /** Name of the connector. */
  connector: string;
  /** `embedded`, `hosted` or `redirect`. */
  surface: "embedded" | "hosted" | "redirect" | (string & {});
  /** What is asked for, minor units. */
  amount: number;
  /** ISO 4217, upper case. */
  currency: string;
  /** State of the session. */
  status: "open" | "processing" | "completed" | "expired" | "canceled" | (string & {});
  /** `manual`: the payment is authorized, and you capture it later. */
  capture_method: "automatic" | "manual" | (string & {});
  /** When an unpaid session expires. */
  expires_at: string;
  /** The environment of the API key. */
  environment: "sandbox" | "live" | (string & {});
  /** The caller's words. */
  description?: string;
  /** Your own order number. */
  reference?: string;
  /** The buyer's e-mail. */
  customer_email?: string;
  /** Up to 50 names of 1 to 40 characters with text values of up to 500. */
  metadata?: Record<string, string>;
  /** Its payment; absent until that can be read. */
  payment_id?: string;
  /** The payment's status, once an attempt was seen. */
  payment_status?: string;
  /** What was taken, minor units, as of `payment_status`: 0 of a `succeeded` payment that is only authorized. */
  captured_amount?: number;
  /** The processor's receipt page. */
  receipt_url?: string;
  /** Where the hosted page sends the buyer after success. */
  success_url?: string;
  /** Where the hosted page sends the buyer who gives up. */
  cancel_url?: string;
  /** BCP 47 tag. */
  locale?: string;
  /** What is bought; not in lists of sessions. */
  line_items?: LineItem[];
  /** When it was created. */
  created_at: string;
  /** When it was completed. */
  completed_at?: string;
}

/** What the browser needs to mount the processor's surface. */
export interface Render {
  /** How the processor's surface is mounted: `element`, `frame` or `redirect`. */
  kind: "element" | "frame" | "redirect" | (string & {});
  /** Name of the connector. */
  connector: string;
  /** The environment of the API key. */
  environment: "sandbox" | "live" | (string & {});
  /** The processor's public key. */
  publishable_key?: string;
  /** The processor's secret of this one intent, made for the buyer's browser. */
  client_secret?: string;
  /** The processor's script, for kind `element`. */
  script_url?: string;
  /** The processor's page for an iframe, for kind `frame`. */
  frame_url?: string;
  /** The processor's page to send the buyer to, for kind `redirect`. */
  redirect_url?: string;
}

export interface CreatedCheckoutSession {
  /** `cs_…`. */
  id: string;
  /** Name of the connector. */
  connector: string;
  /** `embedded`, `hosted` or `redirect`. */
  surface: "embedded" | "hosted" | "redirect" | (string & {});
  /** What is asked for, minor units. */
  amount: number;
  /** ISO 4217, upper case. */
  currency: string;
  /** State of the session. */
  status: "open" | "processing" | "completed" | "expired" | "canceled" | (string & {});
  /** `manual`: the payment is authorized, and you capture it later. */
  capture_method: "automatic" | "manual" | (string & {});
  /** When an unpaid session expires. */
  expires_at: string;
  /** Secret of this one session; the only credential for the buyer's browser. */
  session_secret: string;
  render: Render;
  /** The hosted page with the session secret in its fragment; only with a configured origin. */
  checkout_url?: string;
}

export interface NewLineItem {
  /** At most 200 characters. */
  name: string;
  /** 1 to 9,999. */
  quantity: number;
  /** Of the whole line, in minor units; negative for a discount. -99,999,999 to 99,999,999. */
  amount: number;
}

export interface NewCheckoutSession {
  /** Minor units: 1050 means 10.50. 1 to 99,999,999. */
  amount: number;
  /** ISO 4217, any case. */
  currency: string;
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
  /**
   * Where the hosted page sends the buyer after success: https; in sandbox also http to localhost. At most 2,048
   * characters.
   */
  success_url?: string | undefined;
  /** Where the hosted page sends the buyer who gives up; as success_url. At most 2,048 characters. */
  cancel_url?: string | undefined;
  /** Seconds, up to 30 days; 86,400 when absent. 300 to 2,592,000. */
  expires_in?: number | undefined;
  /** BCP 47 tag, with hyphens. At most 35 characters. */
  locale?: string | undefined;
  /** What is bought, for the buyer to see; the lines sum to `amount`. At most 100. */
  line_items?: NewLineItem[] | undefined;
}

/** Filters and pages of "List checkout sessions". */
export interface ListCheckoutSessionsQuery {
  /** How many to answer at most. 1 to 200. */
  limit?: number | undefined;
  /** How many to pass over. */
  offset?: number | undefined;
  /**
   * Only those that follow this one: pages by the last id of the page before repeat and miss nothing, whatever is
   * created meanwhile. Without `offset`.
   */
  after?: string | undefined;
  /** Only this status. */
  status?: "open" | "processing" | "completed" | "expired" | "canceled" | undefined;
  /** Created at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC). At most 40 characters. */
  from?: string | undefined;
  /** Created before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC). At most 40 characters. */
  to?: string | undefined;
  /** Your order number, exactly. At most 100 characters. */
  reference?: string | undefined;
  /** Exact, any case. At most 254 characters. */
  customer_email?: string | undefined;
  /**
   * The id of a session or of its payment, whole or as buyers quote it (the prefix and at least 14 characters), or the
   * beginning of its reference or of its e-mail (any case). At most 254 characters.
   */
  q?: string | undefined;
}

export class CheckoutSessionsResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Create a checkout session.
   * Also creates a payment intent at the merchant's active connector.
   * Without an idempotency key of yours it gets one, so that it is safely repeated.
   * Scope `payments:write`.
   */
  create(body: NewCheckoutSession, options?: IdempotentOptions): Promise<CreatedCheckoutSession> {
    return this.#caller.send({ method: "POST", path: "/v1/checkout-sessions", body, isIdempotent: true }, options);
  }

  /**
   * List checkout sessions.
   * Newest first.
   * Iterating reads page after page.
   * Scope `payments:read`.
   */
  list(query: ListCheckoutSessionsQuery = {}, options?: RequestOptions): List<CheckoutSession> {
    return this.#caller.list({ method: "GET", path: "/v1/checkout-sessions", query, paging: "after" }, options);
  }

  /**
   * Read a checkout session.
   * With its line items, never with its secret. It names a payment once that can be read.
   * Scope `payments:read`.
   */
  get(checkoutSessionId: string, options?: RequestOptions): Promise<CheckoutSession> {
    return this.#caller.send({ method: "GET", path: path`/v1/checkout-sessions/${checkoutSessionId}` }, options);
  }

  /**
   * Expire a checkout session now.
   * The processor is asked first: a session that is paid completes instead.
   * Scope `payments:write`.
   */
  expire(checkoutSessionId: string, options?: RequestOptions): Promise<CheckoutSession> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/checkout-sessions/${checkoutSessionId}/expire` },
      options,
    );
  }
}
