// The services with a database: the events that each announces and consumes, the tables that it only appends to, and
// the columns that it encrypts. Deployment, the platform, tests and commands read these lists.

/** Services that announce events; each has its own stream. */
export const sources = ["checkout", "payments", "merchant", "webhook"] as const;
export type Source = (typeof sources)[number];

/** A value for each service. */
export function perSource<T>(of: (source: Source) => T): Record<Source, T> {
  return { checkout: of("checkout"), payments: of("payments"), merchant: of("merchant"), webhook: of("webhook") };
}

/** All durable consumers of this release; consumers take their name, source and filter from here. */
export const durableConsumers = {
  followPayments: { by: "checkout", name: "checkout-payments", source: "payments", types: "payment.>" },
  // Receipts by e-mail, after payment, later capture and refund.
  receiptCompletions: { by: "checkout", name: "checkout-receipts", source: "checkout", types: "session.completed" },
  receiptCaptures: { by: "checkout", name: "checkout-receipts", source: "payments", types: "payment.captured" },
  receiptRefunds: {
    by: "checkout",
    name: "checkout-receipts-refunds",
    source: "payments",
    types: "payment.refund_succeeded",
  },
  receiptRefundFailures: {
    by: "checkout",
    name: "checkout-receipts-refund-failures",
    source: "payments",
    types: "payment.refund_failed",
  },
  fanOut: { by: "webhook", name: "webhook-fan-out", source: "payments", types: "payment.>" },
  fanOutDisputes: { by: "webhook", name: "webhook-fan-out-disputes", source: "payments", types: "dispute.>" },
  fanOutPayouts: { by: "webhook", name: "webhook-fan-out-payouts", source: "payments", types: "payout.>" },
  fanOutReports: { by: "webhook", name: "webhook-fan-out-reports", source: "payments", types: "report.>" },
  // A consumer has one filter, and most of checkout's events do not end a session, so each kind of end has a consumer.
  fanOutCompletions: { by: "webhook", name: "webhook-fan-out", source: "checkout", types: "session.completed" },
  fanOutExpiries: { by: "webhook", name: "webhook-fan-out-expiries", source: "checkout", types: "session.expired" },
  fanOutCancellations: {
    by: "webhook",
    name: "webhook-fan-out-canceled",
    source: "checkout",
    types: "session.canceled",
  },
  // One for each kind of administrative action.
  auditMerchants: { by: "merchant", name: "merchant-audit", source: "merchant", types: ">" },
  auditEndpoints: { by: "merchant", name: "merchant-audit", source: "webhook", types: "endpoint.>" },
  auditRefunds: { by: "merchant", name: "merchant-audit", source: "payments", types: "refund.requested" },
  auditDisputes: { by: "merchant", name: "merchant-audit-disputes", source: "payments", types: "dispute_response.>" },
  auditFees: { by: "merchant", name: "merchant-audit-fees", source: "payments", types: "fee_schedule.>" },
  auditOperations: { by: "merchant", name: "merchant-audit-operations", source: "payments", types: "operation.>" },
  auditAdjustments: {
    by: "merchant",
    name: "merchant-audit-adjustments",
    source: "payments",
    types: "adjustment.>",
  },
  auditReplays: { by: "merchant", name: "merchant-audit-replays", source: "payments", types: "events.>" },
  auditCheckoutReplays: { by: "merchant", name: "merchant-audit-replays", source: "checkout", types: "events.>" },
  auditWebhookReplays: { by: "merchant", name: "merchant-audit-replays", source: "webhook", types: "events.>" },
  auditExpiries: { by: "merchant", name: "merchant-audit", source: "checkout", types: "session.expiry_requested" },
  auditLinks: { by: "merchant", name: "merchant-audit-links", source: "checkout", types: "payment_link.>" },
  auditErasures: { by: "merchant", name: "merchant-audit-erasures", source: "checkout", types: "erasure.>" },
  // Mails to merchants' people.
  notifyDisputes: { by: "merchant", name: "merchant-notify-disputes", source: "payments", types: "dispute.>" },
  notifyRefunds: {
    by: "merchant",
    name: "merchant-notify-refunds",
    source: "payments",
    types: "payment.refund_failed",
  },
  notifyPaid: { by: "merchant", name: "merchant-notify-paid", source: "checkout", types: "session.completed" },
  notifyDeliveries: { by: "merchant", name: "merchant-notify-deliveries", source: "webhook", types: "delivery.>" },
  auditRiskRules: { by: "merchant", name: "merchant-audit-risk", source: "checkout", types: "risk_rule.>" },
} as const satisfies Readonly<Record<string, { by: Source; name: string; source: Source; types: string }>>;

export type DurableConsumer = (typeof durableConsumers)[keyof typeof durableConsumers];

/** Live, not durable subscriptions of each process, for invalidating caches. */
export const liveSubscriptions = {
  apiKeys: { by: "gateway", source: "merchant", types: "api_key.>" },
  merchants: { by: "gateway", source: "merchant", types: "merchant.>" },
  connectors: { by: "payments", source: "merchant", types: ">" },
  riskRules: { by: "checkout", source: "checkout", types: "risk_rule.>" },
  endpoints: { by: "webhook", source: "webhook", types: "endpoint.>" },
} as const satisfies Readonly<Record<string, { by: Source | "gateway"; source: Source; types: string }>>;

/** Tables that a service's role may only read and append to; in all others it may also change and delete rows. */
export const appendOnlyTables = {
  checkout: ["recovery_acts"],
  payments: ["journal", "journal_adjustment_lines", "operation_history", "payment_notes", "recovery_acts"],
  // A function of the owner drops a whole day of the request log.
  merchant: ["audit_entries", "audit_links", "audit_seals", "api_requests", "recovery_acts"],
  webhook: ["attempts", "recovery_acts"],
} as const satisfies Readonly<Record<Source, readonly string[]>>;

/** A column with values of `Vault.encrypt`. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** SQL of the encryption context, from the row's other columns. */
  readonly context: string;
}

const storedAnswers: SealedColumn = {
  table: "idempotency_keys",
  column: "answer",
  context: "'idempotency:' || merchant_id || ':' || environment || ':' || key",
};

export const sealedColumns: Readonly<Record<Source, readonly SealedColumn[]>> = {
  checkout: [storedAnswers, { table: "sessions", column: "render", context: "'session:' || id" }],
  payments: [
    storedAnswers,
    { table: "payments", column: "render", context: "'payment:' || id" },
    { table: "operations", column: "sealed_order", context: "'operation:' || id" },
    { table: "reports", column: "data_key", context: "'report:' || id" },
  ],
  merchant: [
    storedAnswers,
    { table: "connectors", column: "credentials", context: "'connector:' || id" },
    { table: "mails", column: "sealed", context: "'mail:' || id" },
    { table: "authenticators", column: "secret", context: "'authenticator:' || person_id" },
    { table: "authenticators", column: "pending", context: "'authenticator:' || person_id" },
  ],
  webhook: [
    storedAnswers,
    { table: "endpoints", column: "secret", context: "'endpoint:' || id" },
    { table: "endpoints", column: "previous_secret", context: "'endpoint:' || id" },
    { table: "earlier_secrets", column: "secret", context: "'endpoint:' || endpoint_id" },
  ],
};
