// Every rule of the contract for operations, credentials, errors and limits in short words. A test that proves rows
// says so in a comment above it: `// Proves createRefund: rest, partial; errors: not_refundable`. test/tidy.test.ts
// finds rows without a test.

/** By operation, and for all of them. */
export const rows: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  operations: {
    operations: "all operations are there, and with a key unless marked public",
  },
  createCheckoutSession: {
    scope: "needs payments:write",
    replay: "the same Idempotency-Key returns the original response",
    reuse: "the same key with another body is idempotency_key_reuse",
    in_flight: "the same key while its request is in progress is idempotency_conflict",
    body: "amount, currency, description, customer_email, metadata",
    hosted: "checkout_url only where a hosted origin is configured",
    reference: "the merchant's order number comes back on session, payment and the browser's answer",
    response: "a checkout session",
    errors: "invalid_body, payment_blocked, no_connector, idempotency_key_reuse, idempotency_conflict, connector_error",
  },
  listCheckoutSessions: {
    reference: "exact match",
    customer_email: "exact match in any case",
    q: "id, or the beginning of a reference or of an e-mail",
  },
  getCheckoutSession: {
    payment_id: "named only when the payment can be read",
  },
  resolveCheckout: {
    secret: "is public, by the session's secret, and resolves the session",
  },
  confirmCheckout: {
    secret: "is public; the query's secret is required",
    verifies: "asks the processor and finalizes the payment",
    replay: "a completed session replays its payment",
    response: "id, status, payment_id, payment_status",
    errors: "not_found, connector_error and one more",
  },
  createRefund: {
    scope: "needs payments:write",
    replay: "the same Idempotency-Key returns the original response",
    reuse: "the same key with another body is idempotency_key_reuse",
    in_flight: "the same key while its request is in progress is idempotency_conflict",
    rest: "no amount, or an empty body, refunds the remaining balance",
    partial: "an amount refunds a part, with a reason",
    response: "id, payment_id, refunded, status, connector_ref, refund_status",
    errors: "eight codes, from invalid_body to idempotency_conflict",
  },
  getRefund: {
    scope: "needs payments:read",
    response: "the refund, with its payment's id and currency",
    errors: "not_found, also for another merchant's",
  },
  listRefunds: {
    scope: "needs payments:read",
    after: "pages behind the last id repeat and miss nothing",
    status: "exact match",
    payment: "those of one payment; not_found for another merchant's",
    from: "lower bound, both date forms",
    to: "upper bound, both date forms",
    response: "data of refunds, newest first, total within the filters, next_cursor",
  },
  listPayments: {
    scope: "needs payments:read",
    limit: "at most 200, by default 50",
    offset: "by default 0",
    status: "exact match",
    from: "lower bound, both date forms",
    to: "upper bound, both date forms",
    q: "public id, e-mail, last4, or the beginning of a reference",
    reference: "exact match",
    currency: "exact match, any case",
    connector: "exact match",
    captured: "captured_from and captured_to, both date forms",
    amounts: "min_amount and max_amount, int64",
    after: "pages behind the last id repeat and miss nothing",
    response: "data of list items, total, next_cursor",
  },
  getPayment: {
    scope: "needs payments:read",
    response: "the full record",
    failure: "why the last attempt failed, and what may help, in the catalogue's words",
    attempts: "each attempt that has ended, oldest first, with its card",
    evidence: "until when a dispute's evidence can be sent, and how it was decided",
    errors: "not_found",
  },
  createWebhookEndpoint: {
    body: "url and event_types required, description and environment optional",
    response: "the endpoint with its signing_secret, once",
    errors: "invalid_body, also for http and for inner targets",
    connect: "the address is checked again at connect time",
    replay: "the same Idempotency-Key registers nothing and returns the endpoint, without its secret",
    reuse: "the same key with another body is idempotency_key_reuse",
  },
  listWebhookEndpoints: {
    response: "data of endpoints, without signing_secret",
  },
  getWebhookEndpoint: {
    response: "the endpoint, without signing_secret",
    errors: "not_found, also for another merchant's",
  },
  updateWebhookEndpoint: {
    body: "status active or disabled, url, event_types, description: at least one",
    response: "the endpoint, id and status among its fields",
    errors: "invalid_body, not_found",
  },
  listWebhookDeliveries: {
    response: "data of recent deliveries",
  },
  getWebhookDelivery: {
    response: "the delivery, and attempt_log with each attempt",
    errors: "not_found, also for another endpoint's",
  },
  retryFailedWebhookDeliveries: {
    response: "a run with its progress, which can be read again",
    errors: "invalid_body, not_found",
  },
  retryWebhookDelivery: {
    response: "queued, and it is sent again",
    errors: "not_found",
  },
  testWebhookEndpoint: {
    response: "sent, and test.ping arrives",
    disabled: "sent is false for a disabled endpoint",
    errors: "not_found",
  },
  listEventTypes: {
    response: "data of event types, the catalogue",
  },
  listEvents: {
    scope: "needs payments:read",
    filters: "limit, after, type, payment_id, from, to",
    response: "data of what was announced, subscribed or not, has_more",
    tenants: "of one's own merchant and environment alone",
  },
  listConnectors: {
    response: "data of connectors",
  },
  updateConnector: {
    surface: "selects the checkout surface",
    primary: "makes the connector primary",
    response: "the connector",
    errors: "invalid_body, not_found and one more",
  },
  getMerchant: {
    response: "the merchant",
  },
  updateProfile: {
    response: "the merchant's profile",
    errors: "invalid_body",
  },
  getBranding: {
    response: "the checkout branding",
  },
  updateBranding: {
    response: "the checkout branding",
    errors: "invalid_body",
  },
  listApiKeys: {
    response: "data of API key records",
  },
  listPaymentDeliveries: {
    response: "data of deliveries with their endpoint_id, newest first",
    errors: "not_found, also for another merchant's",
  },
  getWebhookEndpointHealth: {
    response: "delivered, failed, pending, attempts, failed_attempts, oldest_pending_at",
    errors: "not_found, also for another merchant's",
  },
  listApiRequests: {
    scope: "needs merchant:read",
    filters: "limit, after, api_key_id, min_status, from, to",
    response: "data of requests, has_more",
    tenants: "of one's own merchant and environment alone",
  },
  getApiRequest: {
    response: "the request; another's is not_found",
  },
  listAuditEntries: {
    scope: "needs merchant:read",
    filters: "limit, after, action, object_id, actor, from, to",
    response: "data of entries, has_more; never an operator's name",
    tenants: "of one's own merchant and environment alone",
  },
  createApiKey: {
    response: "api_key, once, and a note",
  },
  getApplication: {
    public: "takes no API key",
    response: "a draft with its fields and what is missing; of others id, status and created_at alone",
    errors: "not_found",
  },
  updateApplication: {
    public: "takes no API key",
    body: "any of the five fields; null empties one; a draft only",
    errors: "invalid_body, not_found",
  },
  submitApplication: {
    public: "takes no API key",
    response: "the application",
    errors: "not_found",
  },
  credentials: {
    bearer: "1: the key as Bearer; sandbox keys begin with sk_test_",
    unauthorized: "2: a missing or invalid key is 401 unauthorized",
    read: "3: payments:read reads payments, refunds and sessions",
    write: "3: payments:write creates sessions, payments and refunds",
    forbidden: "4: a key without the scope is 403 forbidden",
    management: "5: which scope merchant management needs",
    session_secret: "6: opens resolve and confirm of its one session, and nothing else",
    fragment: "6: the secret is in the page's fragment",
    onboarding: "7: submit takes no key",
    leaked: "8: a leaked key is rolled, and stops",
    browser: "8: no API key in browser code",
    signatures: "9: webhook signatures",
  },
  errors: {
    envelope: "error with code and message, always",
    unauthorized: "401",
    forbidden: "403",
    invalid_body: "the request is invalid",
    payment_blocked: "by risk screening",
    no_connector: "the merchant has no active one",
    idempotency_key_reuse: "422",
    idempotency_conflict: "409",
    connector_error: "the processor's request failed: creation, refund, confirm",
    feature_disabled: "refunds are switched off",
    not_found: "the resource does not exist",
    not_refundable: "the payment cannot be refunded",
    amount_too_large: "above the refundable balance",
  },
  limits: {
    limit: "GET /v1/payments: at most 200, by default 50",
    offset: "GET /v1/payments: by default 0",
    backoff: "about 1, 2, 4, 8 minutes, at most an hour",
    freshness: "the service enforces no age of a signature",
    url: "https only, at least one event type",
  },
};
