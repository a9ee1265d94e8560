// The words of the OpenAPI document that no schema and no table holds: the introduction, the groups of operations, the
// events.

/** Markdown, shown at the top of the reference. */
export const introduction = [
  "A merchant's backend creates a checkout session with a secret API key; the buyer's browser pays with the session secret alone; signed webhooks tell the merchant what happened.",
  "Amounts are integers in minor units of their currency (1050 means 10.50 for a currency with two decimals). Times are RFC 3339 in UTC. Optional fields without a value are left out, never `null`.",
  'Every answer carries a `Request-Id`. Every error has the envelope `{"error": {"code", "message"}}`. Only 409, 429, 502 and 503 invite the same request again; with an `Idempotency-Key` nothing is done twice.',
  "An unknown query parameter, or an unknown field of a session, payment, refund, dispute, webhook endpoint or change of an application, is `invalid_body`; elsewhere unknown fields are passed over and named in `Ignored-Fields`. Clients should ignore unknown response fields, and expect new values of status texts.",
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
    name: "Disputes",
    description:
      "What buyers' banks take back, or ask about. Answer with evidence before `evidence_due_at`, or accept; how a dispute ends is in its status.",
  },
  {
    name: "Webhooks",
    description:
      "Endpoints that are told of payments, refunds and sessions, the deliveries to them, and what was announced. Fulfil orders on a verified webhook, not on the browser's return.",
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
  readonly schema: {
    type: "object";
    required: string[];
    properties: Record<string, Record<string, string | string[]>>;
  };
}

const fields = {
  session_id: { type: "string", description: "The session.", examples: ["cs_01jd3v9q6k8m2n4p6r8t0v2x4z"] },
  refund_id: { type: "string", description: "The refund.", examples: ["re_01jd3v9q6k8m2n4p6r8t0v2x4z"] },
  payment_id: {
    type: "string",
    description: "Read the payment for amounts.",
    examples: ["pay_01jd3v9q6k8m2n4p6r8t0v2x4z"],
  },
};

/** @param about the body's fields between `type` and `status`; one with a question mark may be absent. */
function event(code: string, fires: string, about: readonly string[], ...statuses: string[]): DescribedEvent {
  const names = about.map((name) => name.replace("?", ""));
  const properties = Object.entries(fields).filter(([name]) => names.includes(name));
  return {
    code,
    fires,
    schema: {
      type: "object",
      required: ["type", ...about.filter((name) => !name.endsWith("?")), "status"],
      properties: {
        type: { type: "string", const: code },
        ...Object.fromEntries(properties),
        status: { type: "string", description: "The object's state for this event.", examples: statuses },
      },
    },
  };
}

/** Every event that is delivered. */
export const describedEvents: readonly DescribedEvent[] = [
  event(
    "payment.succeeded",
    "A payment reached an authorized or captured state; fires on confirm and again on the processor's word.",
    ["payment_id"],
    "succeeded",
  ),
  event("payment.failed", "The processor reports that the charge failed.", ["payment_id"], "failed"),
  event("payment.refunded", "A refund was created or settled.", ["payment_id"], "partially_refunded", "refunded"),
  event("payment.disputed", "The processor opened a dispute or chargeback.", ["payment_id"], "disputed"),
  event(
    "authorization.captured",
    "What was authorized, or a part of it, is captured: of a payment with `capture_method` `manual`.",
    ["payment_id"],
    "succeeded",
  ),
  event("authorization.canceled", "An authorization was given up before its capture.", ["payment_id"], "canceled"),
  event(
    "authorization.expired",
    "Nobody captured what was authorized before `capture_before`, and the issuer has released it.",
    ["payment_id"],
    "canceled",
  ),
  event("refund.succeeded", "The processor has paid a refund out.", ["refund_id", "payment_id"], "succeeded"),
  event(
    "refund.failed",
    "A refund was not made, or its money came back: its amount can be refunded again.",
    ["refund_id", "payment_id"],
    "failed",
    "canceled",
  ),
  event("checkout_session.completed", "A session was paid.", ["session_id", "payment_id"], "completed"),
  event(
    "checkout_session.expired",
    "A session's time was over and it was unpaid.",
    ["session_id", "payment_id?"],
    "expired",
  ),
  event(
    "checkout_session.canceled",
    "A session ended unpaid: ten attempts were declined, or risk screening refused the buyer.",
    ["session_id", "payment_id?"],
    "canceled",
  ),
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
