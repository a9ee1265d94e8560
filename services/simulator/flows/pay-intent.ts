// Pays for the form, by card, debit or bank: 1. wait if the card is slow, 2. change the intent once. An intent that is
// not waiting is not charged. Or with a stored card for a merchant's server, without a buyer for a challenge.
import { createHmac } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { ApiFailure, badField, notFound, outageFailure } from "../failure.ts";
import { newAuthorizationCode, newId, newSecret, sameSecret } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import type { CardEntry } from "../rules/card-entry.ts";
import type { Change, Intent } from "../rules/intent.ts";
import { type AttemptFacts, answerChallenge, type ChallengeAnswer, payIntent } from "../rules/pay-intent.ts";
import { type PaymentMethod, paymentMethodOf, type StoredPaymentMethod } from "../rules/payment-method.ts";
import { testCardNamed } from "../rules/test-card.ts";
import { intentIdOf } from "../store/intents.ts";
import { findPaymentMethod, insertPaymentMethod } from "../store/payment-methods.ts";
import { changeIntent } from "./change-intent.ts";

/** The answer to the form. `lost`: paid, but the page must not report it (a test card). */
interface PayAnswer {
  readonly status: "succeeded" | "processing" | "failed" | "requires_action" | "canceled" | "expired" | "lost";
  readonly failure_code?: string;
  readonly failure_message?: string;
  readonly challenge_url?: string;
}

const outageMs = 10_000; // docs/contract.md §11's outage card

/**
 * @param known the intent if the caller has just read it
 * @param locale BCP 47 tag of the buyer's page
 */
export async function payWith(
  processor: Processor,
  intentId: string,
  method: PaymentMethod,
  known?: Intent,
  locale: string | null = null,
): Promise<PayAnswer> {
  if (testCardNamed(method.behaviour).outcome.kind === "outage") return beginOutage(processor, intentId);
  const hasWaited = await waitForSlowCard(processor, method);
  const pay = (found: Intent) => payIntent(found, attemptWith(processor, method, true, locale));
  const isFresh = known && !hasWaited;
  const { intent, refusal } = await changeIntent(processor, intentId, pay, isFresh ? { known } : {});
  if (refusal?.refused === "method_not_offered") throw badField("method", "is not offered");
  if (refusal) throw new ApiFailure(429, "rate_limit", refusal.refused, refusal.message);
  return payAnswer(intent, processor.publicUrl);
}

export function attemptWith(
  processor: Processor,
  method: PaymentMethod,
  isBuyerPresent: boolean,
  locale: string | null = null,
): AttemptFacts {
  const challenge_token = newSecret();
  return { id: newId("at"), method, isBuyerPresent, locale, challenge_token, ...approvalNow(processor) };
}

export function approvalNow({ authorizationSeconds, delayMs }: Pick<Processor, "authorizationSeconds" | "delayMs">) {
  const now = Date.now();
  const at = (ms: number) => new Date(ms).toISOString();
  const lapse = { lapses_at: at(now + authorizationSeconds * 1_000), lapses_soon_at: at(now + delayMs) };
  return { authorization_code: newAuthorizationCode(), now: at(now), ...lapse };
}

/** @returns whether the card was slow */
async function waitForSlowCard(processor: Processor, method: PaymentMethod): Promise<boolean> {
  const { outcome } = testCardNamed(method.behaviour);
  const waitMs = outcome.kind === "succeeds" ? outcome.answerMs : undefined;
  if (waitMs === undefined) return false;
  await pause(waitMs, undefined, { signal: processor.stopping }).catch(() => {});
  return true;
}

/** Applies the buyer's answer to the challenge. A repeated or late answer gets the current status. */
export async function passChallenge(
  processor: Processor,
  attemptId: string,
  token: string,
  answer: ChallengeAnswer,
): Promise<PayAnswer> {
  const intentId = await intentIdOf(processor.db, "attempts", attemptId);
  if (intentId === undefined) throw notFound("challenge");
  const { intent } = await changeIntent(processor, intentId, (found) => {
    if (found.lost_at !== null) throw notFound("challenge");
    const attempt = found.attempts.find((one) => one.id === attemptId);
    if (!attempt?.challenge_token || !sameSecret(attempt.challenge_token, token)) throw notFound("challenge");
    return answerChallenge(found, attemptId, answer, approvalNow(processor));
  });
  return payAnswer(intent, processor.publicUrl);
}

/** The status after the last attempt. */
function payAnswer(intent: Intent, publicUrl: string): PayAnswer {
  const last = intent.attempts.at(-1);
  switch (intent.status) {
    case "requires_payment_method":
      return {
        status: "failed",
        failure_code: last?.failure_code ?? "unknown",
        failure_message: last?.failure_message ?? "The payment did not go through.",
      };
    case "requires_action":
      return { status: "requires_action", ...challengeOf(intent, publicUrl) };
    // The buyer sees an authorization as paid.
    case "requires_capture":
    case "succeeded":
      return { status: isLost(intent) ? "lost" : "succeeded" };
    default:
      return { status: intent.status };
  }
}

/** URL of the challenge. The token is in the fragment, which server logs do not contain. */
export function challengeOf(intent: Intent, publicUrl: string): { challenge_url?: string } {
  const waiting = intent.attempts.find((attempt) => attempt.status === "requires_action");
  const page = waiting?.method === "card" ? "challenge" : "bank";
  return waiting ? { challenge_url: `${publicUrl}/${page}/${waiting.id}#${waiting.challenge_token}` } : {};
}

function isLost(intent: Intent): boolean {
  const paidBy = intent.attempts.find((attempt) => attempt.status === "succeeded");
  const { outcome } = testCardNamed(paidBy?.behaviour ?? "");
  return outcome.kind === "succeeds" && outcome.isLost === true;
}

async function beginOutage(processor: Processor, intentId: string): Promise<PayAnswer> {
  const outage_until = new Date(Date.now() + outageMs).toISOString();
  const { intent, change } = await changeIntent(processor, intentId, (found) =>
    found.status === "requires_payment_method" ? { intent: { ...found, outage_until }, events: [] } : null,
  );
  if (change) throw outageFailure();
  return payAnswer(intent, processor.publicUrl);
}

/** @throws ApiFailure 400 `payment_method_unknown`; 503 for the outage card, with nothing done */
export async function payByToken(processor: Processor, intent: Intent, methodId: string): Promise<Change> {
  const method = await findPaymentMethod(processor.db, intent.account, methodId);
  if (!method) {
    const message = "No such payment method of this account, or it has expired.";
    throw new ApiFailure(400, "invalid_request", "payment_method_unknown", message, { field: "payment_method" });
  }
  if (testCardNamed(method.behaviour).outcome.kind === "outage") throw outageFailure();
  await waitForSlowCard(processor, method);
  const change = payIntent(intent, attemptWith(processor, { ...method, method: "card", bank_country: null }, false));
  if (change === null || "refused" in change) throw new Error("a new intent waits for a card");
  return change;
}

// Long enough for a shop's server, short enough to limit the damage of a leaked token.
const keepMs = 3_600_000;

export function keptCard(processor: Processor, entry: CardEntry): PaymentMethod {
  const hash = createHmac("sha256", processor.fingerprintKey).update(entry.number).digest("base64url");
  return paymentMethodOf(entry, hash.slice(0, 22));
}

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
