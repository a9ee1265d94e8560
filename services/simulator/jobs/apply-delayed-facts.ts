// Applies delayed facts: a dispute opens, a refund fails, a payment settles. The change deletes its fact in the same
// statement, so a kill at any point neither loses nor repeats it.
import { changeIntent } from "../flows/change-intent.ts";
import { approvalNow } from "../flows/pay-intent.ts";
import { newId } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import { decideDispute, openDispute } from "../rules/dispute.ts";
import type { Change, Intent, Refusal } from "../rules/intent.ts";
import { returnDebit } from "../rules/mishap.ts";
import { lapseAuthorization, settleAttempt } from "../rules/pay-intent.ts";
import { moveRefund } from "../rules/refund.ts";
import { testCardNamed } from "../rules/test-card.ts";
import { type DueFact, dropFact, findDueFacts } from "../store/delayed-facts.ts";
import { repeatWork } from "./repeating.ts";

/**
 * @returns true: more may be due
 * @throws the first failure, after the other facts were applied; a failed one stays due
 */
async function applyDelayedFacts(processor: Processor): Promise<boolean> {
  const facts = await findDueFacts(processor.db);
  const failures: unknown[] = [];
  for (const fact of facts) await applyFact(processor, fact).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
  return facts.length > 0;
}

async function applyFact(processor: Processor, fact: DueFact): Promise<void> {
  const along = () => ({ doneFactId: fact.id });
  const { change } = await changeIntent(processor, fact.intent_id, (intent) => decideFact(processor, intent, fact), {
    along,
  });
  if (change === null) await dropFact(processor.db, fact.id); // the fact no longer applies
}

function decideFact(processor: Processor, intent: Intent, fact: DueFact): Change | Refusal | null {
  const now = new Date().toISOString();
  switch (fact.kind) {
    case "open_dispute":
      return openDispute(intent, {
        id: newId("dsp"),
        amount: null,
        reason: "fraudulent",
        status: openingStatus(intent, fact.object_id),
        now,
      });
    case "decide_dispute":
      return decideDispute(intent, fact.object_id, now);
    case "fail_refund":
      return moveRefund(intent, fact.object_id, { status: "failed", failure_code: "expired_or_canceled_card", now });
    case "settle_attempt":
      return settleAttempt(intent, fact.object_id, approvalNow(processor));
    case "return_debit":
      return returnDebit(intent, now);
    case "lapse_authorization":
      return lapseAuthorization(intent, now);
  }
}

function openingStatus({ attempts }: Intent, attemptId: string) {
  const { outcome } = testCardNamed(attempts.find(({ id }) => id === attemptId)?.behaviour ?? "");
  const isInquiry = outcome.kind === "succeeds" && outcome.later === "inquiry";
  return isInquiry ? "warning_needs_response" : "needs_response";
}

const pollMs = 1_000; // for facts without a timer, after a restart

export function startClock(processor: Processor): { wakeIn(ms: number): void; stop(): Promise<void> } {
  const job = repeatWork("clock", processor.log, async () => ((await applyDelayedFacts(processor)) ? 0 : pollMs));
  return {
    wakeIn: (ms) => void setTimeout(job.wake, ms + 1).unref(), // the database's clock may be a fraction behind
    stop: job.stop,
  };
}
