// Applies a fact about the payment to a session: decides on the session as read and writes change and event in one
// statement. If the session has changed meanwhile, it is read and decided again.
import type { Announcement } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import { type PaymentFailure, type PaymentState, SessionOutcome } from "#proto/payments/v1/payments_pb.ts";
import type { CheckoutContext } from "../context.ts";
import {
  decideSession,
  isPaymentReadable,
  type PaymentFact,
  type PaymentOutcome,
  paymentIdOf,
  type SessionEvent,
  type SessionState,
  statusIfCanceled,
} from "../rules/session.ts";
import type { NewSession } from "../store/new-sessions.ts";
import { changeSessions, findSession, type StoredSession } from "../store/sessions.ts";

// Each retry means that another change was committed, and a session has few changes.
const triesMax = 5;

/** @returns the session, changed or not @throws Failure SERVICE_UNAVAILABLE */
export async function applyFact(
  context: Pick<CheckoutContext, "db" | "outbox">,
  session: StoredSession,
  answer: PaymentFact,
): Promise<StoredSession> {
  let current = session;
  let fact = answer;
  for (let tries = 0; tries < triesMax; tries++) {
    const decision = decideSession(current.state, fact, statusIfCanceled(current, clockNow()));
    if (decision.kind === "ignored") return current;
    const announcements = decision.event ? [sessionEvent(decision.event, current, decision.state)] : [];
    const events = context.outbox.toRows(announcements);
    const changed = await context.db.batched(changeSessions, { session: current, state: decision.state, events });
    if (changed) {
      context.outbox.wake();
      return changed;
    }
    const again = requireFound(await findSession(context.db, current.id));
    current = again;
    // After another change an answer without a version may be outdated.
    fact = { ...answer, at: answer.at === "now" ? undefined : answer.at };
  }
  throw new Failure("SERVICE_UNAVAILABLE", { cause: new Error("the session kept changing"), retryAfterMs: 1_000 });
}

/** A fact with the last attempt's card fingerprint (empty: unknown) and failure. */
export type PaymentAnswer = PaymentFact & { readonly card: string; readonly failure: PaymentFailure | undefined };

/** Asks payments. @throws Failure of payments (CONNECTOR_ERROR, SERVICE_UNAVAILABLE); nothing has changed then */
export async function askPayment(
  context: CheckoutContext,
  session: StoredSession,
  method: "verifyIntent" | "cancelIntent",
  redirectResult = "",
): Promise<PaymentAnswer> {
  try {
    const paymentId = paymentIdOf(session.id);
    const { payment } =
      method === "cancelIntent"
        ? await context.payments.cancelIntent({ paymentId, merchantAsked: session.expiryRequested })
        : await context.payments.verifyIntent({ paymentId, redirectResult });
    return factOf(payment);
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== "NOT_FOUND") throw error;
    // A session is written after its intent, so payments must have lost its database.
    context.log.error({ session_id: session.id }, "payment not found for session");
    throw new Failure("CONNECTOR_ERROR", { cause: error });
  }
}

const outcomes = new Map<SessionOutcome, PaymentOutcome>([
  [SessionOutcome.OPEN, "open"],
  [SessionOutcome.PROCESSING, "processing"],
  [SessionOutcome.PAID, "paid"],
  [SessionOutcome.CANCELED, "canceled"],
]);

/** @throws Failure INTERNAL_ERROR: the answer has no outcome */
export function factOf(payment: PaymentState | undefined): PaymentAnswer {
  const outcome = payment && outcomes.get(payment.outcome);
  if (!payment || !outcome) throw new Failure("INTERNAL_ERROR", { cause: new Error("payments answered no outcome") });
  const { status: paymentStatus, receiptUrl, capturedAmount, failedAttempts, version } = payment;
  const { cardFingerprint: card, failure } = payment;
  return { outcome, paymentStatus, receiptUrl, capturedAmount, failedAttempts, version, at: "now", card, failure };
}

/**
 * Attributes: payment_id (empty until merchants can read the payment), payment_status (may be empty); of a creation
 * also image (session-image.ts); of a completion also payment_link_id (may be empty).
 */
export function sessionEvent(
  type: SessionEvent,
  session: NewSession,
  state: Pick<SessionState, "status" | "paymentStatus" | "failedAttempts">,
): Announcement {
  const { id, merchantId, environment, amount, currency, paymentLinkId } = session;
  const about = {
    merchantId,
    environment,
    objectId: id,
    money: { amount, currency },
    reference: session.orderReference,
  };
  const { status, paymentStatus } = state;
  const paymentId = isPaymentReadable(state) ? paymentIdOf(id) : "";
  const link = type === "session.completed" && { payment_link_id: paymentLinkId };
  const attributes = { payment_id: paymentId, payment_status: paymentStatus, ...link };
  return { type, ...about, status, at: clockNow(), attributes };
}
