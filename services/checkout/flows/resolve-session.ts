// Reads a session for the buyer's browser. Phases: 1 open it with its secret · 2 if its time is over, end it first, so that
// nobody is shown a form for a session that is about to expire.
import type { StoredSession } from "../store/sessions.ts";
import type { CheckoutContext } from "./context.ts";
import { endSession, isOverdue } from "./expire-session.ts";
import { openWithSecret } from "./session-secret.ts";

/** @throws Failure NOT_FOUND; for an overdue session also CONNECTOR_ERROR. */
export async function resolveSession(
  context: CheckoutContext,
  sessionId: string,
  secret: string,
): Promise<StoredSession> {
  const session = await openWithSecret(context, sessionId, secret);
  return isOverdue(session, new Date()) ? await endSession(context, session) : session;
}
