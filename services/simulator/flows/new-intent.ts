// Builds a new intent with its ids and secrets, waiting for a card.
import { newId, newSecret } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import type { CardEntry } from "../rules/card-entry.ts";
import type { Intent } from "../rules/intent.ts";
import { payIntent } from "../rules/pay-intent.ts";
import { insertIntent } from "../store/intent-writes.ts";
import { consequencesOf, wakeFor } from "./change-intent.ts";
import { attemptWith, keptCard } from "./pay-intent.ts";

export type WantedIntent = Pick<
  Intent,
  | "account"
  | "reference"
  | "amount"
  | "currency"
  | "description"
  | "return_url"
  | "line_items"
  | "renewal"
  | "payment_methods"
  | "capture_method"
>;

/** @param pageSeconds lifetime of the page; 0: unlimited */
export function newIntent(wanted: WantedIntent, pageSeconds: number): Intent {
  const id = newId("pi");
  const now = Date.now();
  return {
    ...wanted,
    id,
    status: "requires_payment_method",
    client_secret: `${id}_secret_${newSecret()}`,
    receipt_token: newSecret(),
    captured_amount: 0,
    refunded_amount: 0,
    created_at: new Date(now).toISOString(),
    page_expires_at: pageSeconds === 0 ? null : new Date(now + pageSeconds * 1_000).toISOString(),
    paid_at: null,
    capture_before: null,
    canceled_at: null,
    cancellation_reason: null,
    outage_until: null,
    returned_at: null,
    lost_at: null,
    version: 1,
    attempts: [],
    refunds: [],
    disputes: [],
  };
}

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
    {
      ...{ account, reference, amount, currency, description, return_url, capture_method },
      ...{ line_items: null, renewal: null, payment_methods: null },
    },
    0,
  );
  const change = payIntent(intent, attemptWith(processor, keptCard(processor, card), true));
  if (change === null || "refused" in change) throw new Error("a new intent waits for a card");
  await insertIntent(processor.db, change.intent, consequencesOf(processor, intent, change));
  wakeFor(processor, change);
  return change.intent;
}
