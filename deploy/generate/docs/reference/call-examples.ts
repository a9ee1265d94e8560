// Bodies and queries of the reference's calls by operation, with the fewest useful fields. A test sends each in every
// language to a running gateway. An operation that is not listed sends neither.
import type { Members } from "#platform/values/unchecked.ts";

export interface CallExample {
  readonly body?: Members;
  readonly query?: Members;
  /** If the operation supports one. */
  readonly idempotencyKey?: string;
}

export const callExamples: Readonly<Record<string, CallExample>> = {
  createCheckoutSession: {
    body: {
      amount: 1050,
      currency: "EUR",
      reference: "order-1042",
      customer_email: "buyer@example.com",
      success_url: "https://shop.example.com/thanks",
      line_items: [{ name: "Lemon cookbook", quantity: 1, amount: 1050 }],
    },
    idempotencyKey: "order-1042",
  },
  listCheckoutSessions: { query: { status: "open", limit: 50 } },
  giveEmail: { body: { customer_email: "buyer@example.com" } },
  createPayment: {
    body: { amount: 1050, currency: "EUR", payment_method: "pm_1kd3v9q6k8m2n4p6r8t0v2x4z", reference: "order-1042" },
    idempotencyKey: "order-1042-renewal-3",
  },
  listPayments: { query: { status: "succeeded", limit: 50 } },
  capturePayment: { body: { amount: 500 }, idempotencyKey: "order-1042-capture" },
  cancelPayment: { idempotencyKey: "order-1042-cancel" },
  createRefund: { body: { amount: 500, reason: "requested_by_customer" }, idempotencyKey: "order-1042-refund-1" },
  listPaymentRefunds: { query: { limit: 50 } },
  listRefunds: { query: { status: "pending" } },
  listDisputes: { query: { status: "needs_response" } },
  submitDisputeEvidence: {
    body: {
      product_description: "One lemon tree, 120 cm, in a pot.",
      shipping_carrier: "DHL",
      shipping_tracking_number: "00340434161094042557",
      shipping_date: "2025-11-04",
    },
    idempotencyKey: "order-1042-evidence",
  },
  acceptDispute: { idempotencyKey: "order-1042-accept" },
  createReport: {
    body: { type: "balance_transactions", from: "2025-11-01", to: "2025-12-01", timezone: "Europe/Berlin" },
    idempotencyKey: "close-2025-11",
  },
  listReports: { query: { limit: 50 } },
  createWebhookEndpoint: {
    body: { url: "https://shop.example.com/hooks", event_types: ["payment.succeeded", "payment.refunded"] },
    idempotencyKey: "shop-hooks",
  },
  updateWebhookEndpoint: { body: { status: "disabled" } },
  listWebhookDeliveries: { query: { status: "failed" } },
  retryFailedWebhookDeliveries: { body: { since: "2025-11-21T08:30:00.000Z" } },
  replayWebhookEvents: { body: { since: "2025-11-21T08:30:00.000Z" } },
  getWebhookEndpointHealth: { query: { window_seconds: 3600 } },
  updateProfile: { body: { name: "Lemon Books", website: "https://lemonbooks.example" } },
  updateBranding: { body: { accent_color: "#0a7d4f", support_email: "help@lemonbooks.example" } },
  updateConnector: { body: { selected_surface: "embedded" } },
  replaceRouting: {
    body: {
      rules: [{ when: { currency: "USD", amount_min: 2500 }, use: ["mco_01jd3v9q6k8m2n4p6r8t0v2x4z"], share: 20 }],
      on_outage: "next",
      version: 3,
    },
  },
  createErasure: { body: { customer_email: "grace@example.com" } },
  exportBuyer: { body: { customer_email: "grace@example.com" } },
  listApiKeys: { query: { limit: 50 } },
  createApiKey: { body: { name: "Reports", scopes: ["payments:read"], expires_at: "2031-01-01T00:00:00Z" } },
  limitApiKey: { body: { allowed_ips: ["203.0.113.0/24", "2001:db8::/32"] } },
  rollApiKey: { body: { expires_in: 3600 } },
  listEvents: { query: { type: "payment.refunded" } },
  listApiRequests: { query: { min_status: 400 } },
  listAuditEntries: { query: { action: "api_key.created" } },
  createApplication: { body: { applicant_email: "owner@example.com", legal_name: "Lemon Books GmbH" } },
  updateApplication: { body: { country_code: "DE", currency_code: "EUR" } },
};
