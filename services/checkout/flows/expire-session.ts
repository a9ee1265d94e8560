// Ends sessions without losing money (docs/contract.md §4): the intent is canceled at the processor first, and the
// answer decides. Paid: the session completes. Processing: it waits until the intent can be canceled. Canceled: it
// becomes expired, or canceled if it was neither overdue nor ended by its merchant. Phases of a merchant's expiry: 1
// record the request · 2 cancel the intent · 3 apply the answer.
import { crashPoint } from "#platform/process/crash-point.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { CheckoutContext } from "../context.ts";
import { isLive, statusIfCanceled } from "../rules/session.ts";
import type { Owner } from "../store/session-lists.ts";
import { requestExpiry, type StoredSession } from "../store/sessions.ts";
import { applyFact, askPayment } from "./apply-fact.ts";
import { readSession } from "./read-session.ts";

/** Expires a live session of the merchant. @throws Failure NOT_FOUND, CONNECTOR_ERROR */
export async function expireSession(context: CheckoutContext, owner: Owner, sessionId: string): Promise<StoredSession> {
  const session = await readSession(context, owner, sessionId);
  if (!isLive(session.state.status)) return session;
  // Stored first, because the event of the cancellation may arrive before its answer.
  await requestExpiry(context.db, session.id, context.outbox.toRows([expiryEvent(session)]));
  context.outbox.wake();
  crashPoint("expire-session.1-remembered");
  return await endSession(context, { ...session, expiryRequested: true });
}

/** The event for the audit log. */
function expiryEvent({ id, merchantId, environment, state }: StoredSession) {
  const type = "session.expiry_requested";
  return { type, merchantId, environment, objectId: id, status: state.status, at: clockNow() };
}

/** Cancels the intent of a live session, unless it is paid or processing, and applies the answer. */
export async function endSession(context: CheckoutContext, session: StoredSession): Promise<StoredSession> {
  const fact = await askPayment(context, session, "cancelIntent");
  crashPoint("expire-session.2-asked");
  const ended = await applyFact(context, session, fact);
  crashPoint("expire-session.3-applied");
  return ended;
}

/** True for a live session whose time is over or whose merchant has ended it. */
export function isOverdue(session: StoredSession): boolean {
  return isLive(session.state.status) && statusIfCanceled(session, clockNow()) === "expired";
}
