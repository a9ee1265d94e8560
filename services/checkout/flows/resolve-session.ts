// Reads a session for the buyer's browser. Phases: 1 open it with its secret · 2 if its time is over or its merchant
// ended it, end it first, so that nobody is shown a form that cannot be paid · 3 screen the buyer's address before a
// form can be shown · 4 see that what the browser needs to pay is alive.
import { Failure } from "#platform/values/failure.ts";
import type { CheckoutContext } from "../context.ts";
import { screenOpening } from "../risk/screen-risk.ts";
import { endSession, isOverdue } from "./expire-session.ts";
import { freshenSession } from "./freshen-session.ts";
import { withLivingRender } from "./renew-render.ts";
import { openWithSecret } from "./session-secret.ts";

export type ResolvedSession = Awaited<ReturnType<typeof withLivingRender>>;

/**
 * @throws Failure NOT_FOUND, PAYMENT_BLOCKED; CONNECTOR_ERROR for an overdue session, and for one whose page has ended.
 */
export async function resolveSession(
  context: CheckoutContext,
  sessionId: string,
  secret: string,
  address: string,
): Promise<ResolvedSession> {
  const stored = await openWithSecret(context, sessionId, secret);
  if (isOverdue(stored)) return await withLivingRender(context, await endSession(context, stored));
  const session = await freshenSession(context, stored);
  if (session.state.status === "open" && (await screenOpening(context, session, address)).blocked) {
    throw new Failure("PAYMENT_BLOCKED");
  }
  return await withLivingRender(context, session);
}
