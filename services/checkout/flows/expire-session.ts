// Ends sessions without losing money (docs/contract.md §4): the intent is canceled at the processor first, and what
// payments answers decides. Paid: the session completes. Processing: it waits, and is ended as soon as the intent
// allows. Canceled: it becomes expired, or canceled when neither its time ran out nor its merchant asked for it. Phases
// of a merchant's expiry: 1 remember that it was asked for · 2 cancel the intent · 3 apply.
import { crashPoint } from "#platform/process/crash-point.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import type { CheckoutContext } from "../context.ts";
import { cancelMeaning, isLive } from "../rules/session.ts";
import { findOwnSession, type Owner } from "../store/session-lists.ts";
import { askExpiry, type StoredSession } from "../store/sessions.ts";
import { applyFact, askPayment } from "./apply-fact.ts";

/** Expires a merchant's session now; one that has ended stays as it is. @throws Failure NOT_FOUND, CONNECTOR_ERROR. */
export async function expireSession(context: CheckoutContext, owner: Owner, sessionId: string): Promise<StoredSession> {
  const session = await findOwnSession(context.db, owner, sessionId);
  if (!session) throw new Failure("NOT_FOUND");
  if (!isLive(session.state.status)) return session;
  // Kept, because the cancellation's event may reach us before its answer does.
  await askExpiry(context.db, session.id, context.outbox.toRows([expiryRequested(session)]));
  context.outbox.wake();
  crashPoint("expire-session.1-remembered");
  return await endSession(context, { ...session, expiryRequested: true });
}

/** For the audit log: who asked for it. */
function expiryRequested({ id, merchantId, environment, state }: StoredSession) {
  const type = "session.expiry_requested";
  return { type, merchantId, environment, objectId: id, status: state.status, at: clockNow() };
}

/** Cancels the intent of a live session, unless it is paid or being paid, and applies what became of it. */
export async function endSession(context: CheckoutContext, session: StoredSession): Promise<StoredSession> {
  const fact = await askPayment(context, session, "cancelIntent");
  crashPoint("expire-session.2-asked");
  const ended = await applyFact(context, session, fact);
  crashPoint("expire-session.3-applied");
  return ended;
}

/** True when the session is live but its time is over, or its merchant has ended it: whoever meets it ends it. */
export function isOverdue(session: StoredSession): boolean {
  return isLive(session.state.status) && cancelMeaning(session, clockNow()) === "expired";
}
