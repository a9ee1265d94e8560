// Ends sessions whose time or tries are over or whose merchant ended them, and looks at those whose attempt is under
// way. A batch is claimed in one statement that also puts off its next check, then the processor is asked outside any
// transaction; a check that failed comes again after a pause that grows to ten minutes.
import type { JobContext } from "#platform/process/job.ts";
import { Failure } from "#platform/values/failure.ts";
import type { CheckoutContext } from "../context.ts";
import { applyFact, askPayment } from "../flows/apply-fact.ts";
import { endSession, isOverdue } from "../flows/expire-session.ts";
import { isExhausted, isInProgress } from "../rules/session.ts";
import { claimDueSessions, type StoredSession } from "../store/sessions.ts";

const batchMax = 50;
// Calls in flight at once: payments and the processor have buyers to serve meanwhile.
const inFlightMax = 5;
// A session expires at most this late, unless somebody meets it earlier.
const everyMs = 5_000;
// Ten sessions one after the other, each asked about until its calls are at their deadlines, and twice that.
const limitMs = 600_000;

export function expireSessionsJob(context: CheckoutContext): JobContext {
  return { name: "expire-sessions", everyMs, limitMs, runOnce: () => expireSessions(context) };
}

/**
 * One batch.
 * @returns true when there may be more.
 * @throws Failure SERVICE_UNAVAILABLE when payments is away: the job pauses instead of walking through all sessions.
 */
export async function expireSessions(context: CheckoutContext): Promise<boolean> {
  const due = await claimDueSessions(context.db, batchMax);
  const waiting = due.values();
  let outage: Failure | undefined;
  const worker = async () => {
    for (const session of waiting) {
      if (outage) return;
      outage = await checkSession(context, session);
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlightMax, due.length) }, worker));
  if (outage) throw outage;
  return due.length === batchMax;
}

/** @returns the failure when it concerns every session. */
async function checkSession(context: CheckoutContext, session: StoredSession): Promise<Failure | undefined> {
  // One that a late event made needless is passed over.
  try {
    if (isOverdue(session) || isExhausted(session.state)) await endSession(context, session);
    else if (isInProgress(session.state))
      await applyFact(context, session, await askPayment(context, session, "verifyIntent"));
    return undefined;
  } catch (error) {
    context.log.warn({ err: error, session_id: session.id }, "session not checked; it stays as it is");
    return error instanceof Failure && error.reason === "SERVICE_UNAVAILABLE" ? error : undefined;
  }
}
