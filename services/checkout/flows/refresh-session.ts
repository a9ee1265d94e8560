// A live session whose payment was on its way when we last heard of it is asked about when somebody reads it, so that
// nobody is shown what a lost event has left behind. Bounded: one run at a time for a session, and no reader waits
// longer than a moment.
import { clockMs } from "#platform/values/clock.ts";
import type { CheckoutContext } from "../context.ts";
import { isInProgress } from "../rules/session.ts";
import { findSession, type StoredSession } from "../store/sessions.ts";
import { applyFact, askPayment } from "./apply-fact.ts";

// A processor that works longer on an attempt than this is the exception.
export const staleAfterMs = 30_000;

export async function freshenSession(context: CheckoutContext, session: StoredSession): Promise<StoredSession> {
  if (!isStale(session, clockMs() - staleAfterMs)) return session;
  const settled = await context.readRepair.refresh(session.id, async () => {
    await applyFact(context, session, await askPayment(context, session, "verifyIntent"));
  });
  return (settled && (await findSession(context.db, session.id))) || session;
}

function isStale({ state, createdAt }: StoredSession, sinceMs: number): boolean {
  return isInProgress(state) && (state.paymentEventAt ?? createdAt).getTime() < sinceMs;
}
