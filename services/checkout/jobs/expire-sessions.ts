// Ends sessions that are expired, out of attempts or ended by their merchant, and checks those with an attempt in
// progress. One statement claims a batch and schedules the next checks, with pauses that grow to ten minutes; the
// processor is asked outside any transaction.
import type { JobContext } from "#platform/process/job.ts";
import { Failure } from "#platform/values/failure.ts";
import type { CheckoutContext } from "../context.ts";
import { applyFact, askPayment } from "../flows/apply-fact.ts";
import { endSession, isOverdue } from "../flows/expire-session.ts";
import { isExhausted, isInProgress } from "../rules/session.ts";
import { claimDueSessions, type StoredSession } from "../store/sessions.ts";

const batchMax = 50;
// Concurrent calls. Payments and the processor serve buyers at the same time.
const inFlightMax = 5;
// A session expires at most this late.
const everyMs = 5_000;
// Twice the time of ten sessions in sequence whose calls all reach their deadlines.
const limitMs = 600_000;

export function expireSessionsJob(context: CheckoutContext): JobContext {
  return { name: "expire-sessions", everyMs, limitMs, runOnce: () => expireSessions(context) };
}

/**
 * Checks one batch.
 * @returns true: there may be more
 * @throws Failure SERVICE_UNAVAILABLE: payments is unavailable, so that the job pauses
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

/** @returns a failure that concerns all sessions */
async function checkSession(context: CheckoutContext, session: StoredSession): Promise<Failure | undefined> {
  try {
    if (isOverdue(session) || isExhausted(session.state)) await endSession(context, session);
    else if (isInProgress(session.state))
      await applyFact(context, session, await askPayment(context, session, "verifyIntent"));
    return undefined;
  } catch (error) {
    context.log.warn({ err: error, session_id: session.id }, "session not checked; retrying");
    return error instanceof Failure && error.reason === "SERVICE_UNAVAILABLE" ? error : undefined;
  }
}
