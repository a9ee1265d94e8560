// Converts Stripe's objects to the port's reports: PaymentIntents, refunds and disputes. Amounts become minor units of
// ISO 4217.
import type Stripe from "stripe";
import type { DisputeStatus } from "../../rules/dispute.ts";
import type { RefundStatus } from "../../rules/refund.ts";
import type { DisputeReport, IntentReport, RefundReport } from "../connector.ts";
import { fromStripe } from "./amount.ts";
import { factsOf } from "./attempts.ts";
import type { TryHistory } from "./tries.ts";

/** Names of our ids in the metadata of Stripe's objects. */
export const metadataNames = {
  payment: "tollbooth_payment",
  refund: "tollbooth_refund",
  page: "tollbooth_page",
  renewal: "tollbooth_renewal",
  evidence: "tollbooth_evidence",
} as const;

/** One of our intents with all its objects. */
export interface StripeIntent {
  /** Id of the PaymentIntent, or of the Checkout Session that makes one when the buyer pays. */
  readonly ref: string;
  readonly session: Stripe.Checkout.Session | undefined;
  readonly intent: Stripe.PaymentIntent | undefined;
  /** Newest first. */
  readonly charges: readonly Stripe.Charge[];
  readonly history: TryHistory;
  readonly refunds: readonly Stripe.Refund[];
  readonly disputes: readonly Stripe.Dispute[];
}

export function readIntent({ ref, session, intent, charges, history, refunds, disputes }: StripeIntent): IntentReport {
  const made = intent ?? session;
  if (!made) throw new Error("an intent without its object");
  const currency = (made.currency ?? "").toUpperCase();
  const amount = intent?.amount ?? session?.amount_total ?? 0;
  const facts = intent ? factsOf(intent, charges, history.tries) : [];
  const pageEndedAt = session && pageEnd(session, intent);
  const releases = refunds.filter((refund) => intent && isRelease(refund, intent));
  return {
    ref,
    reference: made.metadata?.[metadataNames.payment] ?? "",
    amount: fromStripe(amount, currency),
    currency,
    ...(intent && { captureMethod: intent.capture_method === "manual" ? "manual" : "automatic" }),
    ...renewalIn(made.metadata),
    facts: facts.filter(({ kind }) => pageEndedAt === undefined || kind !== "intent_canceled"),
    ...(pageEndedAt && { pageEndedAt }),
    ...(history.isBehind && { isBehind: true }),
    refunds: refunds.filter((refund) => !releases.includes(refund)).map(readRefund),
    ...(releases.length > 0 && { releases: releases.map(({ id }) => id) }),
    disputes: disputes.map((dispute) => readDispute(dispute, charges)),
  };
}

function renewalIn(metadata: Stripe.Metadata | null): { readonly renewal?: number } {
  const renewal = Number(metadata?.[metadataNames.renewal] ?? 0);
  return Number.isSafeInteger(renewal) && renewal > 0 ? { renewal } : {};
}

/** Stripe reports the uncaptured rest of an authorization as a refund, which moves no balance. */
function isRelease(refund: Stripe.Refund, intent: Stripe.PaymentIntent): boolean {
  const isOurs = refund.metadata?.[metadataNames.refund] !== undefined;
  return (
    intent.capture_method === "manual" &&
    !isOurs &&
    refund.status === "succeeded" &&
    refund.balance_transaction === null
  );
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

/** Others are pending; in `requires_action` the buyer must still name an account. */
const refundStatuses: Readonly<Record<string, RefundStatus>> = {
  succeeded: "succeeded",
  failed: "failed",
  canceled: "canceled",
};

const unpaidEnds: ReadonlySet<string> = new Set(["requires_payment_method", "requires_confirmation", "canceled"]);

/** An expired Checkout Session makes no payment; Stripe cancels an intent it has begun. */
function pageEnd(session: Stripe.Checkout.Session, intent: Stripe.PaymentIntent | undefined): Date | undefined {
  if (session.status !== "expired" || (intent && !unpaidEnds.has(intent.status))) return undefined;
  return dateOf(session.expires_at);
}

export function readDispute(dispute: Stripe.Dispute, charges: readonly Stripe.Charge[]): DisputeReport {
  const charge = charges.find(
    (c) => c.id === (typeof dispute.charge === "string" ? dispute.charge : dispute.charge.id),
  );
  // A dispute in another currency than its charge is about the whole capture.
  const isOther = charge && charge.currency !== dispute.currency;
  const { amount, currency } = isOther ? { amount: charge.amount_captured, currency: charge.currency } : dispute;
  const due = dispute.evidence_details.due_by;
  const reference = dispute.metadata?.[metadataNames.evidence];
  return {
    ref: dispute.id,
    amount: fromStripe(amount, currency.toUpperCase()),
    status: disputeStatuses[dispute.status] ?? "under_review",
    reason: dispute.reason,
    openedAt: dateOf(dispute.created),
    evidenceDueAt: due === null ? undefined : dateOf(due),
    ...(reference && { evidenceReference: reference }),
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
  // Settled before it became a dispute, so it holds no money.
  prevented: "warning_closed",
};

export function dateOf(seconds: number): Date {
  return new Date(seconds * 1_000);
}
