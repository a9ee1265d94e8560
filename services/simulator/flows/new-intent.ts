// Builds a new intent with its ids and secrets, waiting for a card.
import { newId, newSecret } from "../new-id.ts";
import type { Intent } from "../rules/intent.ts";

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
