// Charges again under the same reference, like another caller's retry with a new key. 1. insert the new intent with its
// payment and events in one statement. No API call is recorded as its cause.
import type { Processor } from "../processor.ts";
import type { CardEntry } from "../rules/card-entry.ts";
import type { Intent } from "../rules/intent.ts";
import { payIntent } from "../rules/pay-intent.ts";
import { insertIntent } from "../store/intent-writes.ts";
import { consequencesOf, wakeFor } from "./change-intent.ts";
import { keptCard } from "./keep-card.ts";
import { newIntent } from "./new-intent.ts";
import { attemptWith } from "./pay-intent.ts";

/** @param card one that succeeds at once */
export async function duplicateIntent(
  processor: Processor,
  original: Intent,
  amount: number,
  card: CardEntry,
): Promise<Intent> {
  const { account, reference, currency, description, return_url } = original;
  const capture_method = "automatic"; // an authorization moves no money
  const intent = newIntent(
    { account, reference, amount, currency, description, return_url, line_items: null, renewal: null, capture_method },
    0,
  );
  const change = payIntent(intent, attemptWith(processor, keptCard(processor, card), true));
  if (change === null || "refused" in change) throw new Error("a new intent waits for a card");
  await insertIntent(processor.db, change.intent, consequencesOf(processor, change));
  wakeFor(processor, change);
  return change.intent;
}
