// Moves a session by what is known of its payment: decides on the session as it was read and writes change and event in
// ONE statement that holds only if nobody changed it meanwhile; else reads it again and decides anew.
import type { Announcement } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { type PaymentFailure, type PaymentState, SessionOutcome } from "#proto/payments/v1/payments_pb.ts";
import type { CheckoutContext } from "../context.ts";
import {
  cancelMeaning,
  decideSession,
  isPaymentReadable,
  type PaymentFact,
  type PaymentOutcome,
  paymentIdOf,
  type SessionEvent,
  type SessionState,
} from "../rules/session.ts";
import type { NewSession } from "../store/new-sessions.ts";
import { changeSessions, findSession, type StoredSession } from "../store/sessions.ts";

// Each try is lost to a change that did commit; a session has a handful of changes in its life.
const triesMax = 5;

/** @returns the session after it, whether or not the fact changed anything. @throws Failure SERVICE_UNAVAILABLE. */
export async function applyFact(
  context: Pick<CheckoutContext, "db" | "outbox">,
  session: StoredSession,
  answer: PaymentFact,
): Promise<StoredSession> {
  let known = session;
  let fact = answer;
  for (let tries = 0; tries < triesMax; tries++) {
    const decision = decideSession(known.state, fact, cancelMeaning(known, clockNow()));
    if (decision.kind === "ignored") return known;
    const announcements = decision.event ? [sessionEvent(decision.event, known, decision.state)] : [];
    const events = context.outbox.toRows(announcements);
    const changed = await context.db.together(changeSessions, { session: known, state: decision.state, events });
    if (changed) {
      context.outbox.wake();
      return changed;
    }
    const again = await findSession(context.db, known.id);
    if (!again) throw new Failure("NOT_FOUND");
    known = again;
    // Somebody learned something after we had asked: an answer without a version is no longer the latest word.
    fact = { ...answer, at: answer.at === "now" ? undefined : answer.at };
  }
  throw new Failure("SERVICE_UNAVAILABLE", { cause: new Error("the session kept changing"), retryAfterMs: 1_000 });
}

/**
 * What payments answers: a fact, the fingerprint of the last attempt's card (empty: not known), and why that attempt
 * failed, if it did.
 */
export type PaymentAnswer = PaymentFact & { readonly card: string; readonly failure: PaymentFailure | undefined };

/**
 * What payments answers, as a fact.
 * @throws Failure of payments (CONNECTOR_ERROR, SERVICE_UNAVAILABLE); nothing has changed then.
 */
export async function askPayment(
  context: CheckoutContext,
  session: StoredSession,
  method: "verifyIntent" | "cancelIntent",
): Promise<PaymentAnswer> {
  try {
    const paymentId = paymentIdOf(session.id);
    const { payment } =
      method === "cancelIntent"
        ? await context.payments.cancelIntent({ paymentId, merchantAsked: session.expiryRequested })
        : await context.payments.verifyIntent({ paymentId });
    return factOf(payment);
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== "NOT_FOUND") throw error;
    // A session is written after its intent; only a lost database could have forgotten the payment.
    context.log.error({ session_id: session.id }, "payments does not know the payment of a session");
    throw new Failure("CONNECTOR_ERROR", { cause: error });
  }
}

const outcomes = new Map<SessionOutcome, PaymentOutcome>([
  [SessionOutcome.OPEN, "open"],
  [SessionOutcome.PROCESSING, "processing"],
  [SessionOutcome.PAID, "paid"],
  [SessionOutcome.CANCELED, "canceled"],
]);

/** @throws Failure INTERNAL_ERROR: it says nothing. */
export function factOf(payment: PaymentState | undefined): PaymentAnswer {
  const outcome = payment && outcomes.get(payment.outcome);
  if (!payment || !outcome) throw new Failure("INTERNAL_ERROR", { cause: new Error("payments answered no outcome") });
  const { status: paymentStatus, receiptUrl, capturedAmount, failedAttempts, version } = payment;
  const { cardFingerprint: card, failure } = payment;
  return { outcome, paymentStatus, receiptUrl, capturedAmount, failedAttempts, version, at: "now", card, failure };
}

/**
 * The announcement of a session's event. Attributes: payment_id (empty until merchants can read the payment),
 * payment_status (may be empty); of a creation also image (session-image.ts).
 */
export function sessionEvent(
  type: SessionEvent,
  session: NewSession,
  state: Pick<SessionState, "status" | "paymentStatus" | "failedAttempts">,
): Announcement {
  const { id, merchantId, environment } = session;
  const { status, paymentStatus } = state;
  const paymentId = isPaymentReadable(state) ? paymentIdOf(id) : "";
  const attributes = { payment_id: paymentId, payment_status: paymentStatus };
  return { type, merchantId, environment, objectId: id, status, at: clockNow(), attributes };
}
