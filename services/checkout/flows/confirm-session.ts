// Confirms a session for the buyer's browser. Phases: 1 open it with its secret; a completed one replays its payment ·
// 2 payments asks the processor about the intent, and cancels it if the session is overdue or out of attempts · 3 apply
// the answer in one commit; after a decline risk screening may cancel the intent first · 4 a declined payment may move
// to another account (renew-render.ts). A failed call changes nothing.
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure } from "#platform/values/failure.ts";
import type { PaymentFailure } from "#proto/payments/v1/payments_pb.ts";
import type { CheckoutContext } from "../context.ts";
import { screenAttempt } from "../risk/screen-risk.ts";
import { isCardDecline } from "../rules/risk.ts";
import { isExhausted, isLive, type SessionStatus } from "../rules/session.ts";
import type { StoredSession } from "../store/sessions.ts";
import { applyFact, askPayment, type PaymentAnswer } from "./apply-fact.ts";
import { isOverdue } from "./expire-session.ts";
import { moveDeclined } from "./renew-render.ts";
import { openWithSecret } from "./session-secret.ts";

interface Confirmation {
  readonly session: StoredSession;
  readonly status: SessionStatus;
  readonly paymentStatus: string;
  /** The reason of a decline, for the merchant. */
  readonly failure?: PaymentFailure | undefined;
  /** The decline moved the payment to another account. */
  readonly renderReplaced?: boolean;
}

/** @throws Failure NOT_FOUND, SESSION_EXPIRED (expired or canceled), CONNECTOR_ERROR, PAYMENT_BLOCKED. */
export async function confirmSession(
  context: CheckoutContext,
  sessionId: string,
  secret: string,
  address: string,
): Promise<Confirmation> {
  const session = await openWithSecret(context, sessionId, secret);
  if (session.state.status === "completed") return await replayConfirmation(context, session);
  if (!isLive(session.state.status)) throw new Failure("SESSION_EXPIRED");
  const fact = await fetchFinalFact(context, session);
  crashPoint("confirm-session.2-asked");
  const blocked = await isCardTester(context, session, fact, address);
  const after = await applyFact(context, session, blocked ? await askPayment(context, session, "cancelIntent") : fact);
  crashPoint("confirm-session.3-applied");
  if (blocked && after.state.status === "canceled") throw new Failure("PAYMENT_BLOCKED");
  const { status, paymentStatus } = after.state;
  if (status === "expired" || status === "canceled") throw new Failure("SESSION_EXPIRED");
  // Before the first attempt the session has no payment status; the buyer gets `pending`.
  const renderReplaced = await moveDeclined(context, after);
  return { ...confirmation(after, paymentStatus || fact.paymentStatus), failure: fact.failure, renderReplaced };
}

/**
 * Replays a completed session with the current state of its payment. Payments is asked even so, because the confirm
 * path has its own event (docs/contract.md §9) when a webhook completed the session first. An answer with a version is
 * applied. If payments is unavailable, the stored state is returned.
 */
async function replayConfirmation(context: CheckoutContext, session: StoredSession): Promise<Confirmation> {
  try {
    const fact = await askPayment(context, session, "verifyIntent");
    if (fact.version > 0n) {
      const after = await applyFact(context, session, fact);
      return confirmation(after, after.state.paymentStatus);
    }
  } catch (error) {
    context.log.warn(
      { err: error, session_id: session.id },
      "session replayed from stored state: payments unavailable",
    );
  }
  return confirmation(session, session.state.paymentStatus);
}

async function fetchFinalFact(context: CheckoutContext, session: StoredSession) {
  if (isOverdue(session)) return await askPayment(context, session, "cancelIntent");
  const fact = await askPayment(context, session, "verifyIntent");
  const triesAreOver = fact.outcome === "open" && isExhausted({ status: "open", failedAttempts: fact.failedAttempts });
  return triesAreOver ? await askPayment(context, session, "cancelIntent") : fact;
}

/** Screens a decline. If the buyer paid meanwhile, the answer to the cancellation decides. */
async function isCardTester(
  context: CheckoutContext,
  session: StoredSession,
  { outcome, failedAttempts, card, failure }: PaymentAnswer,
  address: string,
): Promise<boolean> {
  if (outcome !== "open" || failedAttempts === 0) return false;
  // A decline counts if a later attempt hides its reason.
  const isCounted = !failure || isCardDecline(failure.code);
  const { blocked } = await screenAttempt(context, session, { address, card, failedAttempts, isCounted });
  return blocked;
}

function confirmation(session: StoredSession, paymentStatus: string): Confirmation {
  return { session, status: session.state.status, paymentStatus };
}
