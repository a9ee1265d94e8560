// Converts an entered card to a payment method or token. The number and the CVC are dropped here.
import { createHmac } from "node:crypto";
import { newId } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import type { CardEntry } from "../rules/card-entry.ts";
import { type PaymentMethod, paymentMethodOf, type StoredPaymentMethod } from "../rules/payment-method.ts";
import { insertPaymentMethod } from "../store/payment-methods.ts";

// Long enough for a shop's server, short enough to limit the damage of a leaked token.
const keepMs = 3_600_000;

export function keptCard(processor: Processor, entry: CardEntry): PaymentMethod {
  const hash = createHmac("sha256", processor.fingerprintKey).update(entry.number).digest("base64url");
  return paymentMethodOf(entry, hash.slice(0, 22));
}

/** Stores the card as a payment method of the account. */
export async function createPaymentMethod(
  processor: Processor,
  account: string,
  entry: CardEntry,
): Promise<StoredPaymentMethod> {
  const now = Date.now();
  const method = {
    ...keptCard(processor, entry),
    id: newId("pm"),
    account,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + keepMs).toISOString(),
  };
  await insertPaymentMethod(processor.db, method);
  return method;
}
