// Checks the payment of a session that is read while its attempt has been in progress for long, in case an event was
// lost. A session has one check at a time, and readers wait for it only briefly.
import { clockMs } from "#platform/values/clock.ts";
import type { CheckoutContext } from "../context.ts";
import { isInProgress } from "../rules/session.ts";
import { findSession, type StoredSession } from "../store/sessions.ts";
import { applyFact, askPayment } from "./apply-fact.ts";

// Processors rarely work longer on an attempt.
export const staleAfterMs = 30_000;

export async function refreshSession(context: CheckoutContext, session: StoredSession): Promise<StoredSession> {
  if (!isStale(session, clockMs() - staleAfterMs)) return session;
  const settled = await context.readRepair.refresh(session.id, async () => {
    await applyFact(context, session, await askPayment(context, session, "verifyIntent"));
  });
  return (settled && (await findSession(context.db, session.id))) || session;
}

function isStale({ state, createdAt }: StoredSession, sinceMs: number): boolean {
  return isInProgress(state) && (state.paymentEventAt ?? createdAt).getTime() < sinceMs;
}
