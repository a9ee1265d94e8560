// Stripe's objects as the port's reports: a PaymentIntent with its charges as facts in the order in which they happened, refunds
// and disputes. Amounts become minor units of ISO 4217.
import type Stripe from "stripe";
import type { DisputeStatus } from "../rules/dispute.ts";
import type { Attempt, Card, IntentFact, Verification } from "../rules/payment.ts";
import type { RefundStatus } from "../rules/refund.ts";
import type { DisputeReport, IntentReport, RefundReport } from "./connector.ts";
import { fromStripe } from "./stripe-amount.ts";

/** Names of our ids in the metadata of Stripe's objects. */
export const metadataNames = {
  payment: "tollbooth_payment",
  refund: "tollbooth_refund",
  page: "tollbooth_page",
} as const;

/** Everything that Stripe knows about one of our intents. */
export interface StripeIntent {
  /** What we made and ask by: the PaymentIntent, or the Checkout Session that makes one when the buyer pays. */
  readonly ref: string;
  readonly session: Stripe.Checkout.Session | undefined;
  readonly intent: Stripe.PaymentIntent | undefined;
  /** Newest first. */
  readonly charges: readonly Stripe.Charge[];
  readonly refunds: readonly Stripe.Refund[];
  readonly disputes: readonly Stripe.Dispute[];
}

export function readIntent({ ref, session, intent, charges, refunds, disputes }: StripeIntent): IntentReport {
  const made = intent ?? session;
  if (!made) throw new Error("an intent without its object");
  const currency = (made.currency ?? "").toUpperCase();
  const amount = intent?.amount ?? session?.amount_total ?? 0;
  return {
    ref,
    reference: made.metadata?.[metadataNames.payment] ?? "",
    amount: fromStripe(amount, currency),
    currency,
    facts: [...(intent ? factsOf(intent, charges) : []), ...(session ? pageFacts(session, intent) : [])],
    refunds: refunds.map(readRefund),
    disputes: disputes.map((dispute) => readDispute(dispute, charges)),
  };
}

export function readRefund(refund: Stripe.Refund): RefundReport {
  const reason = refund.failure_reason ?? "";
  return {
    ref: refund.id,
    reference: refund.metadata?.[metadataNames.refund] ?? "",
    amount: fromStripe(refund.amount, refund.currency.toUpperCase()),
    status: refundStatuses[refund.status ?? ""] ?? "pending",
    reason: refund.reason ?? "",
    failureCode: reason,
    failureMessage: reason.replaceAll("_", " "),
    createdAt: dateOf(refund.created),
  };
}

/** `requires_action`: the buyer must still say where the money goes. */
const refundStatuses: Readonly<Record<string, RefundStatus>> = {
  succeeded: "succeeded",
  failed: "failed",
  canceled: "canceled",
};

function factsOf(intent: Stripe.PaymentIntent, charges: readonly Stripe.Charge[]): IntentFact[] {
  // Stripe's times are whole seconds; within one its own order, newest first, decides.
  const oldestFirst = charges.toReversed().toSorted((a, b) => a.created - b.created);
  const facts = oldestFirst.flatMap((charge) => chargeFact(intent, charge) ?? []);
  const method = typeof intent.payment_method === "object" ? intent.payment_method : null;
  if (intent.status === "requires_action" && method) {
    facts.push({ kind: "action_required", attempt: attemptWithoutCharge(method) });
  }
  if (intent.status === "processing" && method && !facts.some((fact) => fact.kind === "processing_started")) {
    facts.push({ kind: "processing_started", attempt: attemptWithoutCharge(method) });
  }
  const error = intent.last_payment_error;
  // A try that ended before there was a charge, as a failed authentication does.
  if (intent.status === "requires_payment_method" && error?.payment_method && !error.charge) {
    const attempt = attemptWithoutCharge(error.payment_method);
    const code = error.decline_code ?? error.code ?? "";
    facts.push({ kind: "attempt_failed", attempt, code, message: error.message ?? "", at: attempt.startedAt });
  }
  if (intent.status === "canceled")
    facts.push({ kind: "intent_canceled", at: dateOf(intent.canceled_at ?? intent.created) });
  return facts;
}

/** A Checkout Session that ended without a payment will make none. */
function pageFacts(session: Stripe.Checkout.Session, intent: Stripe.PaymentIntent | undefined): IntentFact[] {
  const ended = session.status === "expired" && intent?.status !== "succeeded" && intent?.status !== "canceled";
  return ended ? [{ kind: "intent_canceled", at: dateOf(session.expires_at) }] : [];
}

function chargeFact(intent: Stripe.PaymentIntent, charge: Stripe.Charge): IntentFact | undefined {
  const attempt: Attempt = {
    ref: charge.id,
    // A charge comes after the method it charges, also within one of Stripe's whole seconds.
    startedAt: new Date(charge.created * 1_000 + 1),
    card: cardOf(charge.payment_method_details?.card),
    verification: verificationOf(charge),
  };
  const at = dateOf(charge.created);
  if (charge.status === "pending") return { kind: "processing_started", attempt };
  if (charge.status === "failed") {
    const reason = charge.failure_code === "card_declined" ? charge.outcome?.reason : undefined;
    const code = reason ?? charge.failure_code ?? "";
    return { kind: "attempt_failed", attempt, code, message: charge.failure_message ?? "", at };
  }
  // An authorization that was given up again.
  if (intent.status === "canceled") return undefined;
  const captured = charge.captured ? fromStripe(charge.amount_captured, charge.currency.toUpperCase()) : 0n;
  return {
    kind: "attempt_succeeded",
    attempt,
    capturedAmount: captured,
    authorizedAt: at,
    capturedAt: charge.captured ? at : undefined,
    authorizationCode: charge.authorization_code ?? charge.payment_method_details?.card?.authorization_code ?? "",
    receiptUrl: charge.receipt_url ?? "",
  };
}

function attemptWithoutCharge(method: Stripe.PaymentMethod): Attempt {
  return { ref: method.id, startedAt: dateOf(method.created), card: cardOf(method.card), verification: undefined };
}

interface StripeCard {
  readonly brand: string | null;
  readonly last4: string | null;
  readonly funding: string | null;
  readonly fingerprint?: string | null;
  readonly exp_month: number;
  readonly exp_year: number;
}

function cardOf(card: StripeCard | null | undefined): Card | undefined {
  if (!card) return undefined;
  return {
    brand: card.brand ?? "unknown",
    last4: card.last4 ?? "",
    funding: card.funding ?? "unknown",
    fingerprint: card.fingerprint ?? "",
    expMonth: card.exp_month,
    expYear: card.exp_year,
  };
}

function verificationOf({ payment_method_details: details, outcome }: Stripe.Charge): Verification {
  const checks = details?.card?.checks;
  const secure = details?.card?.three_d_secure;
  const asked = threeDsResults.has(secure?.result ?? "");
  return {
    avsLine1: checkOf(checks?.address_line1_check),
    avsZip: checkOf(checks?.address_postal_code_check),
    cvcCheck: checkOf(checks?.cvc_check),
    threeDsResult: asked ? (secure?.result ?? "") : "",
    threeDsVersion: asked ? (secure?.version ?? "") : "",
    riskLevel: riskLevels.has(outcome?.risk_level ?? "") ? (outcome?.risk_level ?? "") : "not_assessed",
    // Only accounts with Radar for Fraud Teams get a score.
    riskScore: outcome?.risk_score ?? 0,
  };
}

// `data_share_only` is not among them: nobody was asked to authenticate.
const threeDsResults: ReadonlySet<string> = new Set([
  "authenticated",
  "attempt_acknowledged",
  "exempted",
  "failed",
  "not_supported",
  "processing_error",
]);
const riskLevels: ReadonlySet<string> = new Set(["normal", "elevated", "highest", "not_assessed"]);
const checkResults: ReadonlySet<string> = new Set(["pass", "fail", "unavailable", "unchecked"]);

/** Null: nothing was given that could be checked. */
function checkOf(said: string | null | undefined): string {
  return said && checkResults.has(said) ? said : "unchecked";
}

export function readDispute(dispute: Stripe.Dispute, charges: readonly Stripe.Charge[]): DisputeReport {
  const charge = charges.find(
    (c) => c.id === (typeof dispute.charge === "string" ? dispute.charge : dispute.charge.id),
  );
  // A dispute in another currency than its charge is about all of the charge.
  const { amount, currency } = charge && charge.currency !== dispute.currency ? charge : dispute;
  const due = dispute.evidence_details.due_by;
  return {
    ref: dispute.id,
    amount: fromStripe(amount, currency.toUpperCase()),
    status: disputeStatuses[dispute.status] ?? "under_review",
    reason: dispute.reason,
    openedAt: dateOf(dispute.created),
    evidenceDueAt: due === null ? undefined : dateOf(due),
  };
}

const disputeStatuses: Readonly<Record<string, DisputeStatus>> = {
  warning_needs_response: "warning_needs_response",
  warning_under_review: "warning_under_review",
  warning_closed: "warning_closed",
  needs_response: "needs_response",
  under_review: "under_review",
  won: "won",
  lost: "lost",
  // Lost, until the appeal is decided.
  appeal_needs_response: "lost",
  appeal_under_review: "lost",
  // Settled before it became a dispute: it holds no money.
  prevented: "warning_closed",
};

function dateOf(seconds: number): Date {
  return new Date(seconds * 1_000);
}
