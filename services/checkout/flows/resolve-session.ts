// Reads a session for the buyer's browser. Phases: 1 open it with its secret · 2 if its time is over or its merchant
// ended it, end it first, so that nobody is shown a form that cannot be paid · 3 screen the buyer's address before a
// form can be shown.
import { Failure } from "#platform/values/failure.ts";
import type { CheckoutContext } from "../context.ts";
import { screenOpening } from "../risk/screen-risk.ts";
import type { StoredSession } from "../store/sessions.ts";
import { endSession, isOverdue } from "./expire-session.ts";
import { freshenSession } from "./freshen-session.ts";
import { openWithSecret } from "./session-secret.ts";

/** @throws Failure NOT_FOUND, PAYMENT_BLOCKED; for an overdue session also CONNECTOR_ERROR. */
export async function resolveSession(
  context: CheckoutContext,
  sessionId: string,
  secret: string,
  address: string,
): Promise<StoredSession> {
  const stored = await openWithSecret(context, sessionId, secret);
  if (isOverdue(stored)) return await endSession(context, stored);
  const session = await freshenSession(context, stored);
  if (session.state.status === "open" && (await screenOpening(context, session, address)).blocked) {
    throw new Failure("PAYMENT_BLOCKED");
  }
  return session;
}
