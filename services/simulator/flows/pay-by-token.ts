// Pays a new intent with a stored payment method for a merchant's server, without a buyer for a challenge. It writes
// nothing; the caller stores the intent with its attempt in one statement.
import { ApiFailure, outageFailure } from "../failure.ts";
import type { Processor } from "../processor.ts";
import type { Change, Intent } from "../rules/intent.ts";
import { payIntent } from "../rules/pay-intent.ts";
import { testCardNamed } from "../rules/test-card.ts";
import { findPaymentMethod } from "../store/payment-methods.ts";
import { attemptWith, waitForSlowCard } from "./pay-intent.ts";

/** @throws ApiFailure 400 `payment_method_unknown`; 503 for the outage card, with nothing done */
export async function payByToken(processor: Processor, intent: Intent, methodId: string): Promise<Change> {
  const method = await findPaymentMethod(processor.db, intent.account, methodId);
  if (!method) {
    const message = "No such payment method of this account, or it has expired.";
    throw new ApiFailure(400, "invalid_request", "payment_method_unknown", message, { field: "payment_method" });
  }
  if (testCardNamed(method.behaviour).outcome.kind === "outage") throw outageFailure();
  await waitForSlowCard(processor, method);
  const change = payIntent(intent, attemptWith(processor, method, false));
  if (change === null || "refused" in change) throw new Error("a new intent waits for a card");
  return change;
}
