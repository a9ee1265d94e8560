// Reads a session for the buyer's browser. Phases: 1 open it with its secret · 2 end an overdue session, so that no
// form is shown that cannot be paid · 3 screen the buyer's address · 4 renew the render if its page ends.
import { Failure } from "#platform/values/failure.ts";
import type { CheckoutContext } from "../context.ts";
import { screenOpening } from "../risk/screen-risk.ts";
import { endSession, isOverdue } from "./expire-session.ts";
import { refreshSession } from "./refresh-session.ts";
import { withCurrentRender } from "./renew-render.ts";
import { openWithSecret } from "./session-secret.ts";

type ResolvedSession = Awaited<ReturnType<typeof withCurrentRender>>;

/** @throws Failure NOT_FOUND, PAYMENT_BLOCKED; CONNECTOR_ERROR for an overdue session or an ended page */
export async function resolveSession(
  context: CheckoutContext,
  sessionId: string,
  secret: string,
  address: string,
): Promise<ResolvedSession> {
  const stored = await openWithSecret(context, sessionId, secret);
  if (isOverdue(stored)) return await withCurrentRender(context, await endSession(context, stored));
  const session = await refreshSession(context, stored);
  if (session.state.status === "open" && (await screenOpening(context, session, address)).blocked) {
    throw new Failure("PAYMENT_BLOCKED");
  }
  return await withCurrentRender(context, session);
}
