// Every row of SPEC.md §4, §5, §7 and §8 in short words, by section and operation. A test that proves rows says so in a comment above
// it: `// Proves §4 createRefund: rest, partial; §7: not_refundable`. test/tidy.test.ts finds rows without a test.

/** Section, and in §4 the operation, with its rows. */
export const rows: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "§4": {
    operations: "all operations are there, and with a key unless marked public",
  },
  "§4 createCheckoutSession": {
    scope: "needs payments:write",
    replay: "the same Idempotency-Key returns the original response",
    reuse: "the same key with another body is idempotency_key_reuse",
    in_flight: "the same key while its request is in progress is idempotency_conflict",
    body: "amount, currency, description, customer_email, metadata",
    response: "a checkout session",
    errors: "invalid_body, payment_blocked, no_connector, idempotency_key_reuse, idempotency_conflict, connector_error",
  },
  "§4 resolveCheckout": {
    secret: "is public, by the session's secret, and resolves the session",
  },
  "§4 confirmCheckout": {
    secret: "is public; the query's secret is required",
    verifies: "asks the processor and finalizes the payment",
    replay: "a completed session replays its payment",
    response: "id, status, payment_id, payment_status",
    errors: "not_found, connector_error and one more",
  },
  "§4 createRefund": {
    scope: "needs payments:write",
    replay: "the same Idempotency-Key returns the original response",
    reuse: "the same key with another body is idempotency_key_reuse",
    in_flight: "the same key while its request is in progress is idempotency_conflict",
    rest: "no amount, or an empty body, refunds the remaining balance",
    partial: "an amount refunds a part, with a reason",
    response: "payment_id, refunded, status, connector_ref, refund_status",
    errors: "eight codes, from invalid_body to idempotency_conflict",
  },
  "§4 listPayments": {
    scope: "needs payments:read",
    limit: "at most 200, by default 50",
    offset: "by default 0",
    status: "exact match",
    from: "lower bound, both date forms",
    to: "upper bound, both date forms",
    q: "public id, e-mail or last4",
    amounts: "min_amount and max_amount, int64",
    response: "data of list items, total, next_cursor",
  },
  "§4 getPayment": {
    scope: "needs payments:read",
    response: "the full record",
    errors: "not_found",
  },
  "§4 createWebhookEndpoint": {
    body: "url and event_types required, description and environment optional",
    response: "the endpoint with its signing_secret, once",
    errors: "invalid_body, also for http and for inner targets",
    connect: "the address is checked again at connect time",
  },
  "§4 listWebhookEndpoints": {
    response: "data of endpoints, without signing_secret",
  },
  "§4 updateWebhookEndpoint": {
    body: "status active or disabled",
    response: "id and status",
    errors: "invalid_body, not_found",
  },
  "§4 listWebhookDeliveries": {
    response: "data of recent deliveries",
  },
  "§4 retryWebhookDelivery": {
    response: "queued, and it is sent again",
    errors: "not_found",
  },
  "§4 testWebhookEndpoint": {
    response: "sent, and test.ping arrives",
    errors: "not_found",
  },
  "§4 listEventTypes": {
    response: "data of event types, the catalogue",
  },
  "§4 listConnectors": {
    response: "data of connectors",
  },
  "§4 updateConnector": {
    surface: "selects the checkout surface",
    primary: "makes the connector primary",
    response: "the connector",
    errors: "invalid_body, not_found and one more",
  },
  "§4 getMerchant": {
    response: "the merchant",
  },
  "§4 updateProfile": {
    response: "the merchant's profile",
    errors: "invalid_body",
  },
  "§4 getBranding": {
    response: "the checkout branding",
  },
  "§4 updateBranding": {
    response: "the checkout branding",
    errors: "invalid_body",
  },
  "§4 listApiKeys": {
    response: "data of API key records",
  },
  "§4 createApiKey": {
    response: "api_key, once, and a note",
  },
  "§4 submitApplication": {
    public: "takes no API key",
    response: "the application",
    errors: "not_found",
  },
  "§5": {
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
  "§7": {
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
  "§8": {
    limit: "GET /v1/payments: at most 200, by default 50",
    offset: "GET /v1/payments: by default 0",
    backoff: "about 1, 2, 4, 8 minutes, at most an hour",
    freshness: "the service enforces no age of a signature",
    url: "https only, at least one event type",
  },
};
