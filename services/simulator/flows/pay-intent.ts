// Paying with a card, as the form does it: 1. wait, where the card is slow, 2. one change of the intent. Whoever comes
// to an intent that waits for no card is told how it stands, and nothing is charged.
import { setTimeout as pause } from "node:timers/promises";
import { ApiFailure, notFound, outageFailure } from "../failure.ts";
import { newAuthorizationCode, newId, newSecret } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import type { CardEntry } from "../rules/card-entry.ts";
import type { Intent } from "../rules/intent.ts";
import { type AttemptFacts, answerChallenge, type ChallengeAnswer, payIntent } from "../rules/pay-intent.ts";
import type { PaymentMethod } from "../rules/payment-method.ts";
import { testCardNamed } from "../rules/test-card.ts";
import { sameSecret } from "../same-secret.ts";
import { intentIdOf } from "../store/intents.ts";
import { changeIntent } from "./change-intent.ts";
import { keptCard } from "./keep-card.ts";

/** What the form is told. `lost`: paid, but the page must not get to tell anybody (a test card). */
export interface PayAnswer {
  readonly status: "succeeded" | "processing" | "failed" | "requires_action" | "canceled" | "expired" | "lost";
  readonly failure_code?: string;
  readonly failure_message?: string;
  readonly challenge_url?: string;
}

const outageMs = 10_000; // docs/contract.md §11's outage card

/**
 * @param known the intent, where the caller has just read it
 * @param locale BCP 47 tag of the buyer's page
 */
export async function payWithCard(
  processor: Processor,
  intentId: string,
  entry: CardEntry,
  known?: Intent,
  locale: string | null = null,
): Promise<PayAnswer> {
  const method = keptCard(processor, entry);
  if (testCardNamed(method.behaviour).outcome.kind === "outage") return beginOutage(processor, intentId);
  const hasWaited = await waitForSlowCard(processor, method);
  const pay = (found: Intent) => payIntent(found, attemptWith(processor, method, true, locale));
  const isFresh = known && !hasWaited;
  const { intent, refusal } = await changeIntent(processor, intentId, pay, isFresh ? { known } : {});
  if (refusal) throw new ApiFailure(429, "rate_limit", refusal.refused, refusal.message);
  return payAnswer(intent, processor.publicUrl);
}

/** The facts of an attempt that begins now. */
export function attemptWith(
  processor: Processor,
  method: PaymentMethod,
  isBuyerPresent: boolean,
  locale: string | null = null,
): AttemptFacts {
  const challenge_token = newSecret();
  return { id: newId("at"), method, isBuyerPresent, locale, challenge_token, ...approvalNow(processor) };
}

/** What the issuer would say yes with. */
export function approvalNow({ authorizationSeconds, delayMs }: Pick<Processor, "authorizationSeconds" | "delayMs">) {
  const now = Date.now();
  const at = (ms: number) => new Date(ms).toISOString();
  const lapse = { lapses_at: at(now + authorizationSeconds * 1_000), lapses_soon_at: at(now + delayMs) };
  return { authorization_code: newAuthorizationCode(), now: at(now), ...lapse };
}

/** @returns whether the card was slow */
export async function waitForSlowCard(processor: Processor, method: PaymentMethod): Promise<boolean> {
  const { outcome } = testCardNamed(method.behaviour);
  const waitMs = outcome.kind === "succeeds" ? outcome.answerMs : undefined;
  if (waitMs === undefined) return false;
  await pause(waitMs, undefined, { signal: processor.stopping }).catch(() => {});
  return true;
}

/** The buyer's answer to the bank's challenge. A repeated or late one is told how the payment stands. */
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

/** How an intent stands after its last attempt. */
export function payAnswer(intent: Intent, publicUrl: string): PayAnswer {
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
    // To the buyer what is authorized is paid.
    case "requires_capture":
    case "succeeded":
      return { status: isLost(intent) ? "lost" : "succeeded" };
    default:
      return { status: intent.status };
  }
}

/** Where the buyer answers the bank's challenge; the token is in the fragment, which no server log sees. */
export function challengeOf(intent: Intent, publicUrl: string): { challenge_url?: string } {
  const waiting = intent.attempts.find((attempt) => attempt.status === "requires_action");
  return waiting ? { challenge_url: `${publicUrl}/challenge/${waiting.id}#${waiting.challenge_token}` } : {};
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
