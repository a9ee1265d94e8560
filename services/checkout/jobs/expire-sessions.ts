// Ends sessions whose time or tries are over or whose merchant ended them, and looks at those whose attempt is under way. A batch is claimed in one statement that also puts off its next check, then the
// processor is asked outside any transaction; a check that failed comes again after a pause that grows.
import { Failure } from "#platform/failure.ts";
import type { JobContext } from "#platform/job.ts";
import { applyFact, ask } from "../flows/apply-fact.ts";
import type { CheckoutContext } from "../flows/context.ts";
import { endSession, isOverdue } from "../flows/expire-session.ts";
import { isExhausted, isUnderWay } from "../rules/session.ts";
import { claimDueSessions, type StoredSession } from "../store/sessions.ts";

const batchMax = 50;
// Calls in flight at once: payments and the processor have buyers to serve meanwhile.
const inFlightMax = 5;
// A session expires at most this late, unless somebody meets it earlier.
const everyMs = 5_000;

export function expireSessionsJob(context: CheckoutContext): JobContext {
  return { name: "expire-sessions", everyMs, runOnce: () => expireSessions(context) };
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
      outage = await check(context, session);
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlightMax, due.length) }, worker));
  if (outage) throw outage;
  return due.length === batchMax;
}

/** @returns the failure when it concerns every session. */
async function check(context: CheckoutContext, session: StoredSession): Promise<Failure | undefined> {
  // One that a late event made needless is passed over.
  try {
    if (isOverdue(session) || isExhausted(session.state)) await endSession(context, session);
    else if (isUnderWay(session.state)) await applyFact(context, session, await ask(context, session, "verifyIntent"));
    return undefined;
  } catch (error) {
    context.log.warn({ err: error, session_id: session.id }, "session not checked; it stays as it is");
    return error instanceof Failure && error.reason === "SERVICE_UNAVAILABLE" ? error : undefined;
  }
}
