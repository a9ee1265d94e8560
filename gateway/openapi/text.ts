// The words of the OpenAPI document that no schema and no table holds: the introduction, the groups of operations, the
// events.

/** Markdown, shown at the top of the reference. */
export const introduction = [
  "A merchant's backend creates a checkout session with a secret API key; the buyer's browser pays with the session secret alone; signed webhooks tell the merchant what happened.",
  "Amounts are integers in minor units of their currency (1050 means 10.50 for a currency with two decimals). Times are RFC 3339 in UTC. Optional fields without a value are left out, never `null`.",
  'Every answer carries a `Request-Id`. Every error has the envelope `{"error": {"code", "message"}}`. Only 409, 429, 502 and 503 invite the same request again; with an `Idempotency-Key` nothing is done twice.',
  "An unknown query parameter, or an unknown field of a session, payment, refund or webhook endpoint, is `invalid_body`; elsewhere unknown fields are passed over and named in `Ignored-Fields`. Clients should ignore unknown response fields, and expect new values of status texts.",
].join("\n\n");

/** Groups of operations, in the order of the reference. */
export const describedTags = [
  {
    name: "Checkout sessions",
    description:
      "What a merchant's backend creates for a buyer. Scope `payments:write` to create, `payments:read` to read.",
  },
  {
    name: "Checkout (browser)",
    description:
      "The two operations of the buyer's browser, with the session secret and without an API key. Callable from any origin. The browser SDK at `/js/v1/checkout.js` and the hosted page at a session's `checkout_url` call them for you.",
  },
  { name: "Payments", description: "What became of the buyers' attempts." },
  {
    name: "Refunds",
    description: "Money going back. Any number of partial refunds; together never more than was captured.",
  },
  {
    name: "Webhooks",
    description:
      "Endpoints that are told of payments, and the deliveries to them. Fulfil orders on a verified webhook, not on the browser's return.",
  },
  { name: "Merchant", description: "The merchant's own data and the look of its checkout." },
  { name: "Connectors", description: "The merchant's accounts at card processors." },
  { name: "API keys", description: "Secret keys with scopes." },
  { name: "Logs", description: "What happened on the account: API requests, and who did what." },
  { name: "Onboarding", description: "Applications of new merchants. Public." },
] as const;

interface DescribedEvent {
  readonly code: string;
  /** When it fires (docs/contract.md §9). */
  readonly fires: string;
  /** JSON Schema of the body. */
  readonly schema: { [name: string]: string | string[] | { [name: string]: { [name: string]: string | string[] } } };
}

function paymentEvent(code: string, fires: string, status: string): DescribedEvent {
  return {
    code,
    fires,
    schema: {
      type: "object",
      required: ["type", "payment_id", "status"],
      properties: {
        type: { type: "string", const: code },
        payment_id: {
          type: "string",
          description: "Read the payment for amounts.",
          examples: ["pay_01jd3v9q6k8m2n4p6r8t0v2x4z"],
        },
        status: { type: "string", description: "The payment's state for this event.", examples: [status] },
      },
    },
  };
}

/** Every event that is delivered. Deduplicate on (type, payment_id, status). */
export const describedEvents: readonly DescribedEvent[] = [
  paymentEvent(
    "payment.succeeded",
    "A payment reached an authorized or captured state; fires on confirm and again on the processor's word.",
    "succeeded",
  ),
  paymentEvent("payment.failed", "The processor reports that the charge failed.", "failed"),
  paymentEvent("payment.refunded", "A refund was created or settled.", "partially_refunded"),
  paymentEvent("payment.disputed", "The processor opened a dispute or chargeback.", "disputed"),
  {
    code: "test.ping",
    fires: "The test operation was called on the endpoint; carries no payment.",
    schema: {
      type: "object",
      required: ["type", "created_at"],
      properties: {
        type: { type: "string", const: "test.ping" },
        created_at: { type: "string", format: "date-time", examples: ["2025-11-21T08:30:00.000Z"] },
      },
    },
  },
];
