// Generated from the OpenAPI document by `npm run generate -- clients`; changes here are lost.
import type { Caller, IdempotentOptions, RequestOptions } from "../caller.ts";
import type { List } from "../page.ts";
import { path } from "../path.ts";

/** What only the first answer has is absent from that of a repeat under its idempotency key. */
export interface CreateWebhookEndpointResult {
  /** `whk_…`. */
  id: string;
  /** Normalized https URL. */
  url: string;
  /** Free-text label. */
  description?: string;
  /** Subscribed event codes. */
  event_types: string[];
  /** The environment of the API key. */
  environment: "sandbox" | "live" | (string & {});
  /** A disabled endpoint gets no new deliveries. */
  status: "active" | "disabled" | (string & {});
  /** Key of the signatures, prefix included; in this answer only. */
  signing_secret?: string;
}

export interface DeliveryAttempt {
  /** When it began. */
  started_at: string;
  /** `auto`, `manual` or `test`. */
  trigger: "auto" | "manual" | "test" | (string & {});
  /** HTTP status of your answer; 0: none came back. */
  status_code: number;
  /** Why it failed; expect further codes. */
  error_code?: string;
  /** The whole attempt, milliseconds. */
  duration_ms: number;
  /** Name resolution; 0: an open connection was used again, milliseconds. */
  dns_ms: number;
  /** TCP connect; 0: as dns_ms, milliseconds. */
  connect_ms: number;
  /** TLS handshake; 0: as dns_ms, milliseconds. */
  tls_ms: number;
  /** Until the first byte of the answer, milliseconds. */
  first_byte_ms: number;
  /** The first 1 KiB of an answer that was no success. */
  response_snippet?: string;
}

export interface NewWebhookEndpoint {
  /** https only. At most 2,048 characters. */
  url: string;
  /** At least one code of the catalogue; duplicates are folded. At most 100. */
  event_types: (
    | "payment.succeeded"
    | "payment.failed"
    | "payment.refunded"
    | "payment.disputed"
    | "authorization.captured"
    | "authorization.canceled"
    | "authorization.expired"
    | "refund.succeeded"
    | "refund.failed"
    | "checkout_session.completed"
    | "checkout_session.expired"
    | "checkout_session.canceled"
    | "test.ping"
    | (string & {})
  )[];
  /** At most 255 characters. */
  description?: string | undefined;
  /** The environment of the API key. */
  environment?: "sandbox" | "live" | undefined;
}

export interface RetryWebhookDeliveryResult {
  queued: boolean;
}

export interface TestWebhookEndpointResult {
  sent: boolean;
}

export interface WebhookDelivery {
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
}

export interface WebhookDeliveryWithAttempts {
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
  /** The latest 100, newest first. */
  attempt_log: DeliveryAttempt[];
}

export interface WebhookEndpoint {
  /** `whk_…`. */
  id: string;
  /** Normalized https URL. */
  url: string;
  /** Free-text label. */
  description?: string;
  /** Subscribed event codes. */
  event_types: string[];
  /** The environment of the API key. */
  environment: "sandbox" | "live" | (string & {});
  /** A disabled endpoint gets no new deliveries. */
  status: "active" | "disabled" | (string & {});
}

export interface WebhookEndpointChange {
  /** The new status. */
  status?: "active" | "disabled" | undefined;
  /** https only. At most 2,048 characters. */
  url?: string | undefined;
  /** At least one code of the catalogue; duplicates are folded. At most 100. */
  event_types?: (
    | "payment.succeeded"
    | "payment.failed"
    | "payment.refunded"
    | "payment.disputed"
    | "authorization.captured"
    | "authorization.canceled"
    | "authorization.expired"
    | "refund.succeeded"
    | "refund.failed"
    | "checkout_session.completed"
    | "checkout_session.expired"
    | "checkout_session.canceled"
    | "test.ping"
    | (string & {})
  )[] | undefined;
  /** At most 255 characters. */
  description?: string | undefined;
}

export interface WebhookEndpointHealth {
  /** Deliveries of the window that were delivered. */
  delivered: number;
  /** That were given up. */
  failed: number;
  /** That are still tried. */
  pending: number;
  /** Attempts for all of them. */
  attempts: number;
  /** Attempts that failed. */
  failed_attempts: number;
  /** Since when the longest waiting delivery of all waits; absent: none does. */
  oldest_pending_at?: string;
}

export interface WebhookEndpointWithSecret {
  /** `whk_…`. */
  id: string;
  /** Normalized https URL. */
  url: string;
  /** Free-text label. */
  description?: string;
  /** Subscribed event codes. */
  event_types: string[];
  /** The environment of the API key. */
  environment: "sandbox" | "live" | (string & {});
  /** A disabled endpoint gets no new deliveries. */
  status: "active" | "disabled" | (string & {});
  /** Key of the signatures, prefix included; in this answer only. */
  signing_secret: string;
}

export interface WebhookRetryFailed {
  /** RFC 3339: deliveries that were queued then or later. At most 40 characters. */
  since: string;
}

export interface WebhookRetryRun {
  /** `op_…`. */
  id: string;
  /** `whk_…`. */
  endpoint_id: string;
  /** Whether it goes on. */
  status: "running" | "finished" | (string & {});
  /** Failed deliveries when it began. */
  total: number;
  /** Put back into the queue so far. */
  queued: number;
  /** When it began. */
  created_at: string;
}

/** Filters and pages of "List deliveries". */
export interface ListWebhookDeliveriesQuery {
  /** How many to answer at most. 1 to 200. */
  limit?: number | undefined;
  /** Only what is older than this one: the last id of the page before. */
  after?: string | undefined;
  /** Only this state. */
  status?: "pending" | "delivered" | "failed" | undefined;
  /** Only this event code. At most 64 characters. */
  event_type?: string | undefined;
}

/** Filters and pages of "See how an endpoint does". */
export interface GetWebhookEndpointHealthQuery {
  /** How far back, seconds. 60 to 86,400. */
  window_seconds?: number | undefined;
}

export class WebhookEndpointsResource {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Register a webhook endpoint.
   * The answer holds the signing secret, once. Under an idempotency key a repeat registers nothing and is answered 200
   * with the endpoint, without its secret: roll it if it was lost. Without a key the same URL is registered again, and
   * both get every event. A merchant has at most 16 in an environment.
   * Without an idempotency key of yours it gets one, so that it is safely repeated.
   * Scope `merchant:write`.
   */
  create(body: NewWebhookEndpoint, options?: IdempotentOptions): Promise<CreateWebhookEndpointResult> {
    return this.#caller.send({ method: "POST", path: "/v1/merchants/me/webhooks", body, isIdempotent: true }, options);
  }

  /**
   * List the webhook endpoints.
   * A URL that was registered twice is listed twice, each with its own id.
   * Scope `merchant:read`.
   */
  list(options?: RequestOptions): List<WebhookEndpoint> {
    return this.#caller.list({ method: "GET", path: "/v1/merchants/me/webhooks", paging: "none" }, options);
  }

  /**
   * Read a webhook endpoint.
   * Never with its signing secret: that is shown once, and can be rolled.
   * Scope `merchant:read`.
   */
  get(webhookEndpointId: string, options?: RequestOptions): Promise<WebhookEndpoint> {
    return this.#caller.send({ method: "GET", path: path`/v1/merchants/me/webhooks/${webhookEndpointId}` }, options);
  }

  /**
   * Change an endpoint.
   * At least one field; what is absent stays. A disabled endpoint gets no new deliveries; its history stays. Deliveries
   * that wait go to a new URL, and new event types count from the next event on.
   * Scope `merchant:write`.
   */
  update(webhookEndpointId: string, body: WebhookEndpointChange, options?: RequestOptions): Promise<WebhookEndpoint> {
    return this.#caller.send(
      { method: "PATCH", path: path`/v1/merchants/me/webhooks/${webhookEndpointId}`, body },
      options,
    );
  }

  /**
   * Delete an endpoint.
   * Its pending deliveries stop.
   * Scope `merchant:write`.
   */
  delete(webhookEndpointId: string, options?: RequestOptions): Promise<void> {
    return this.#caller.send({ method: "DELETE", path: path`/v1/merchants/me/webhooks/${webhookEndpointId}` }, options);
  }

  /**
   * Give an endpoint a new signing secret.
   * Each secret before it signs on until 24 hours after it was replaced, at most the latest four: several `v1=` values
   * in one header. Rolling again, because an answer was lost, ends none that your server may be using.
   * Scope `merchant:write`.
   */
  rollSecret(webhookEndpointId: string, options?: RequestOptions): Promise<WebhookEndpointWithSecret> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/merchants/me/webhooks/${webhookEndpointId}/roll-secret` },
      options,
    );
  }

  /**
   * List deliveries.
   * Newest first, all of the last 94 days: ask for more with the last id of the page as `after` until `has_more` is
   * false.
   * Iterating reads page after page.
   * Scope `merchant:read`.
   */
  listDeliveries(
    webhookEndpointId: string,
    query: ListWebhookDeliveriesQuery = {},
    options?: RequestOptions,
  ): List<WebhookDelivery> {
    return this.#caller.list(
      { method: "GET", path: path`/v1/merchants/me/webhooks/${webhookEndpointId}/deliveries`, query, paging: "after" },
      options,
    );
  }

  /**
   * Read a delivery with its attempts.
   * What was tried, how long each step took, and what your server answered.
   * Scope `merchant:read`.
   */
  getDelivery(
    webhookEndpointId: string,
    deliveryId: string,
    options?: RequestOptions,
  ): Promise<WebhookDeliveryWithAttempts> {
    return this.#caller.send(
      { method: "GET", path: path`/v1/merchants/me/webhooks/${webhookEndpointId}/deliveries/${deliveryId}` },
      options,
    );
  }

  /**
   * Send everything again that failed.
   * Puts all deliveries of the endpoint back into the queue that were queued since a time and have failed, in the
   * background. A repeat is harmless: what waits already is not queued twice.
   * Scope `merchant:write`.
   */
  retryFailed(webhookEndpointId: string, body: WebhookRetryFailed, options?: RequestOptions): Promise<WebhookRetryRun> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/merchants/me/webhooks/${webhookEndpointId}/retry-failed`, body },
      options,
    );
  }

  /**
   * Read how far a run has come.
   * Of a retry of failed deliveries; `finished` once all of them are queued.
   * Scope `merchant:read`.
   */
  getRetryRun(webhookEndpointId: string, runId: string, options?: RequestOptions): Promise<WebhookRetryRun> {
    return this.#caller.send(
      { method: "GET", path: path`/v1/merchants/me/webhooks/${webhookEndpointId}/retry-runs/${runId}` },
      options,
    );
  }

  /**
   * See how an endpoint does.
   * Of the deliveries that were queued in the last seconds, by default an hour.
   * Scope `merchant:read`.
   */
  getHealth(
    webhookEndpointId: string,
    query: GetWebhookEndpointHealthQuery = {},
    options?: RequestOptions,
  ): Promise<WebhookEndpointHealth> {
    return this.#caller.send(
      { method: "GET", path: path`/v1/merchants/me/webhooks/${webhookEndpointId}/health`, query },
      options,
    );
  }

  /**
   * Send a delivery again.
   * Puts it back into the queue, due now, with a fresh schedule.
   * Scope `merchant:write`.
   */
  retryDelivery(
    webhookEndpointId: string,
    deliveryId: string,
    options?: RequestOptions,
  ): Promise<RetryWebhookDeliveryResult> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/merchants/me/webhooks/${webhookEndpointId}/deliveries/${deliveryId}/retry` },
      options,
    );
  }

  /**
   * Send a test event.
   * Emits a synthetic `test.ping` to the endpoint, subscribed or not. A disabled endpoint gets none: `sent` is false.
   * Scope `merchant:write`.
   */
  test(webhookEndpointId: string, options?: RequestOptions): Promise<TestWebhookEndpointResult> {
    return this.#caller.send(
      { method: "POST", path: path`/v1/merchants/me/webhooks/${webhookEndpointId}/test` },
      options,
    );
  }
}
