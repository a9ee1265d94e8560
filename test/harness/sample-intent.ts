// Sample intents for unit tests of the rules.
import { type CardEntry, readCardEntry } from "../../services/simulator/rules/card-entry.ts";
import type { Change, Intent, Refusal } from "../../services/simulator/rules/intent.ts";
import { type AttemptFacts, payIntent } from "../../services/simulator/rules/pay-intent.ts";
import { paymentMethodOf } from "../../services/simulator/rules/payment-method.ts";

export const at = "2026-11-21T12:00:00.000Z";

export function unpaidIntent(): Intent {
  return {
    id: "pi_1",
    account: "acct_1",
    reference: "pay_1",
    amount: 1_000,
    currency: "EUR",
    description: null,
    return_url: null,
    capture_method: "automatic",
    line_items: null,
    renewal: null,
    payment_methods: null,
    page_expires_at: null,
    status: "requires_payment_method",
    client_secret: "pi_1_secret_x",
    receipt_token: "token",
    captured_amount: 0,
    refunded_amount: 0,
    created_at: at,
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

export function attemptWith(number: string, id = "at_1"): AttemptFacts {
  return {
    id,
    method: paymentMethodOf(cardEntry(number), "fp"),
    isBuyerPresent: true,
    locale: null,
    authorization_code: "123456",
    challenge_token: "challenge",
    now: at,
    lapses_at: "2026-11-28T12:00:00.000Z",
    lapses_soon_at: "2026-11-21T12:00:01.000Z",
  };
}

export function paidIntent(number = "4242424242424242"): Intent {
  return requireChange(payIntent(unpaidIntent(), attemptWith(number))).intent;
}

/** @throws if the rule refused or did nothing */
export function requireChange(decision: Change | Refusal | null): Change {
  if (decision === null || "refused" in decision) throw new Error(`no change: ${decision?.refused ?? "nothing to do"}`);
  return decision;
}

/** The code of a refusal, else undefined. */
export function refusedAs(decision: Change | Refusal | null): string | undefined {
  return decision && "refused" in decision ? decision.refused : undefined;
}

function cardEntry(number: string): CardEntry {
  const read = readCardEntry({ number, exp_month: 12, exp_year: 2040, cvc: "123" }, new Date(at));
  if ("code" in read) throw new Error(read.message);
  return read;
}
