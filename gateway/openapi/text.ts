// Texts of the OpenAPI document outside the schemas: introduction, tags and events.

/** Markdown, shown at the top of the reference. */
export const introduction = [
  "A merchant's backend creates a checkout session with a secret API key. The buyer's browser pays with the session secret only. Signed webhooks notify the merchant of the result.",
  "Amounts are integers in minor units of their currency (1050 means 10.50 for a currency with two decimals). Times are RFC 3339 in UTC. Optional fields without a value are omitted, never `null`.",
  'Every response has a `Request-Id`. Every error has the envelope `{"error": {"code", "message"}}` and a `Link` header to the cause and remedy of its code. Send the same request again only after 409, 429, 502 and 503; an `Idempotency-Key` makes this safe.',
  "An unknown query parameter, or an unknown field of a session, payment, refund, dispute, report, webhook endpoint or change of an application, is `invalid_body`; elsewhere unknown fields are ignored and listed in `Ignored-Fields`. Clients should ignore unknown response fields and accept new status values.",
].join("\n\n");

/** Groups of operations, in the order of the reference. */
export const describedTags = [
  {
    name: "Checkout sessions",
    description:
      "Created by the merchant's backend for a buyer. Scope `payments:write` to create, `payments:read` to read.",
  },
  {
    name: "Checkout (browser)",
    description:
      "Operations of the buyer's browser, with the session secret and without an API key. Callable from any origin. The browser SDK at `/js/v1/checkout.js` and the hosted page at a session's `checkout_url` call them for you.",
  },
  { name: "Payments", description: "Payments and the buyers' attempts." },
  {
    name: "Refunds",
    description: "Full or partial refunds of a payment, in total at most the captured amount.",
  },
  {
    name: "Disputes",
    description:
      "Chargebacks and inquiries of buyers' banks. Respond with evidence before `evidence_due_at`, or accept; the status shows the outcome.",
  },
  {
    name: "Balance",
    description:
      "Your money at the processors, as they report it every few minutes: the balance, each of its changes, and the payouts to your bank. Processors without such lists are left out.",
  },
  {
    name: "Reports",
    description:
      "CSV files of payments, refunds, disputes, balance transactions and payouts, made in the background. The guide lists the columns.",
  },
  {
    name: "Webhooks",
    description:
      "Endpoints for events of payments, refunds, disputes, sessions, payouts and reports, their deliveries, and the list of events. Fulfil orders on a verified webhook, not on the browser's return.",
  },
  { name: "Merchant", description: "The merchant's profile and checkout branding." },
  {
    name: "Privacy",
    description: "Buyers' rights to their personal data: erasure and export.",
  },
  { name: "Connectors", description: "The merchant's accounts at card processors." },
  { name: "API keys", description: "Secret keys with scopes." },
  { name: "Logs", description: "API requests and the audit log of the account." },
  { name: "Onboarding", description: "Applications of new merchants. Public." },
] as const;

interface DescribedEvent {
  readonly code: string;
  /** docs/contract.md §9. */
  readonly fires: string;
  readonly schema: {
    type: "object";
    required: string[];
    properties: Record<string, Record<string, string | string[]>>;
  };
}

const fields = {
  session_id: { type: "string", description: "The session.", examples: ["cs_01jd3v9q6k8m2n4p6r8t0v2x4z"] },
  refund_id: { type: "string", description: "The refund.", examples: ["re_01jd3v9q6k8m2n4p6r8t0v2x4z"] },
  dispute_id: { type: "string", description: "The dispute.", examples: ["dp_01jd3v9q6k8m2n4p6r8t0v2x4z"] },
  payout_id: { type: "string", description: "The payout.", examples: ["po_01jd3v9q6k8m2n4p6r8t0v2x4z"] },
  report_id: { type: "string", description: "The report.", examples: ["rpt_01jd3v9q6k8m2n4p6r8t0v2x4z"] },
  payment_id: {
    type: "string",
    description: "The payment. Read it for amounts.",
    examples: ["pay_01jd3v9q6k8m2n4p6r8t0v2x4z"],
  },
};

/** @param about the body's fields between `type` and `status`; a question mark means optional */
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

export const describedEvents: readonly DescribedEvent[] = [
  event(
    "payment.succeeded",
    "A payment was authorized or captured. Fires on confirm and again on the processor's report.",
    ["payment_id"],
    "succeeded",
  ),
  event("payment.failed", "The processor reports that the charge failed.", ["payment_id"], "failed"),
  event(
    "payment.processing",
    "The processor works on a payment, which can take days for a bank debit. `payment.succeeded` or `payment.failed` follows.",
    ["payment_id"],
    "processing",
  ),
  event("payment.refunded", "A refund was created or settled.", ["payment_id"], "partially_refunded", "refunded"),
  event("payment.disputed", "The processor opened a dispute or chargeback.", ["payment_id"], "disputed"),
  event(
    "dispute.created",
    "The processor opened a dispute, or an inquiry that holds no money yet. Respond before `evidence_due_at`.",
    ["dispute_id", "payment_id"],
    "needs_response",
    "warning_needs_response",
  ),
  event(
    "dispute.updated",
    "A dispute is under review, or an inquiry became a dispute. It is not decided yet.",
    ["dispute_id", "payment_id"],
    "under_review",
    "needs_response",
  ),
  event(
    "dispute.won",
    "A dispute was decided for you: its amount is yours again.",
    ["dispute_id", "payment_id"],
    "won",
  ),
  event("dispute.lost", "A dispute was decided for the buyer, or accepted.", ["dispute_id", "payment_id"], "lost"),
  event("dispute.closed", "An inquiry ended without a dispute.", ["dispute_id", "payment_id"], "warning_closed"),
  event(
    "authorization.captured",
    "All or part of an authorization was captured, for a payment with `capture_method` `manual`.",
    ["payment_id"],
    "succeeded",
  ),
  event("authorization.canceled", "An authorization was canceled before its capture.", ["payment_id"], "canceled"),
  event(
    "authorization.expired",
    "An authorization was not captured before `capture_before`, and the issuer has released it.",
    ["payment_id"],
    "canceled",
  ),
  event("refund.succeeded", "The processor has paid out a refund.", ["refund_id", "payment_id"], "succeeded"),
  event(
    "refund.failed",
    "A refund failed or its money was returned: the amount can be refunded again.",
    ["refund_id", "payment_id"],
    "failed",
    "canceled",
  ),
  event("checkout_session.completed", "A session was paid.", ["session_id", "payment_id"], "completed"),
  event("checkout_session.expired", "A session expired unpaid.", ["session_id", "payment_id?"], "expired"),
  event(
    "checkout_session.canceled",
    "A session ended unpaid after ten declined attempts, or because risk screening refused the buyer.",
    ["session_id", "payment_id?"],
    "canceled",
  ),
  event("payout.paid", "A payout has reached your bank.", ["payout_id"], "paid"),
  event("payout.failed", "A payout failed, or your bank returned it.", ["payout_id"], "failed", "returned"),
  event("report.ready", "A report's file can be downloaded.", ["report_id"], "ready"),
  {
    code: "test.ping",
    fires: "The test operation was called for the endpoint. Contains no payment.",
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
