// A new intent, which waits for a card: its ids and secrets are made up here.
import { newId, newSecret } from "../new-id.ts";
import type { Intent } from "../rules/intent.ts";

/** What its caller says of it. */
export type WantedIntent = Pick<
  Intent,
  "account" | "reference" | "amount" | "currency" | "description" | "return_url" | "capture_method"
>;

export function newIntent(wanted: WantedIntent): Intent {
  const id = newId("pi");
  return {
    ...wanted,
    id,
    status: "requires_payment_method",
    client_secret: `${id}_secret_${newSecret()}`,
    receipt_token: newSecret(),
    captured_amount: 0,
    refunded_amount: 0,
    created_at: new Date().toISOString(),
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
