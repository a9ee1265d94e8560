// How an intent gets paid: an attempt begins, is challenged, settles. A paid intent is never paid again, and one
// attempt at a time is under way. Pure: ids, codes and the time come in.
import type { Attempt, Change, Intent, Refusal, Timestamp, Verification } from "./intent.ts";
import { withObject } from "./intent.ts";
import type { PaymentMethod } from "./payment-method.ts";
import { testCardNamed } from "./test-card.ts";

/** What an attempt is made of besides the intent. */
export interface AttemptFacts {
  readonly id: string;
  readonly method: PaymentMethod;
  /** False: a payment by token, made by the merchant's server alone. Nobody is there to answer a challenge. */
  readonly isBuyerPresent: boolean;
  readonly authorization_code: string;
  readonly challenge_token: string;
  readonly now: Timestamp;
}

const attemptsMax = 50; // someone who tries more is guessing cards
const threeDsVersion = "2.2.0";
const settleDelays = 2; // a settlement takes twice as long as the other delayed facts
const authenticationRequired = {
  code: "authentication_required",
  message: "Your card requires authentication, and nobody is there to give it.",
};
const processorDeclined = { code: "card_declined", message: "Your card was declined." };

/** @returns null when the intent waits for no card: its status says what it is */
export function payIntent(intent: Intent, facts: AttemptFacts): Change | Refusal | null {
  if (intent.status !== "requires_payment_method") return null;
  if (intent.attempts.length >= attemptsMax)
    return { refused: "too_many_attempts", message: "This payment had too many attempts." };
  const begun = newAttempt(intent, facts);
  const { outcome } = testCardNamed(facts.method.behaviour);
  switch (outcome.kind) {
    case "succeeds":
      return succeeded(intent, begun, facts.authorization_code, facts.now);
    case "declined":
      return failed(intent, begun, outcome, facts.now);
    case "challenge":
      if (!facts.isBuyerPresent) return failed(intent, begun, authenticationRequired, facts.now);
      return {
        intent: moved(intent, "requires_action", {
          ...begun,
          status: "requires_action",
          challenge_token: facts.challenge_token,
        }),
        events: ["intent.requires_action"],
      };
    case "asynchronous":
      return {
        intent: moved(intent, "processing", begun),
        events: ["intent.processing"],
        delayed: [{ kind: "settle_attempt", object_id: begun.id, delays: settleDelays }],
      };
    case "outage":
      return null; // nothing begins: the route answers 503 before it gets here
  }
}

/** The buyer passed or failed the bank's challenge. @returns null when the attempt waits for none (any more) */
export function answerChallenge(
  intent: Intent,
  attemptId: string,
  isPassed: boolean,
  facts: { readonly authorization_code: string; readonly now: Timestamp },
): Change | null {
  const attempt = intent.attempts.find((one) => one.id === attemptId);
  if (attempt?.status !== "requires_action") return null;
  if (!isPassed) {
    const code = "authentication_failed";
    const message = "We could not authenticate your payment method.";
    return failed(intent, { ...attempt, ...threeDs("failed") }, { code, message }, facts.now);
  }
  const passed = { ...attempt, ...threeDs("authenticated") };
  const { outcome } = testCardNamed(attempt.behaviour);
  return outcome.kind === "challenge" && outcome.passed === "succeeds"
    ? succeeded(intent, passed, facts.authorization_code, facts.now)
    : failed(intent, passed, processorDeclined, facts.now);
}

/** The network's late answer to an asynchronous attempt. @returns null when it is not processing (any more) */
export function settleAttempt(
  intent: Intent,
  attemptId: string,
  facts: { readonly authorization_code: string; readonly now: Timestamp },
): Change | null {
  const attempt = intent.attempts.find((one) => one.id === attemptId);
  if (attempt?.status !== "processing") return null;
  return succeeded(intent, attempt, facts.authorization_code, facts.now);
}

/** The merchant wants no payment any more. @returns null when it is canceled already */
export function cancelIntent(intent: Intent, now: Timestamp): Change | Refusal | null {
  if (intent.status === "canceled") return null;
  if (intent.status === "succeeded" || intent.status === "processing" || intent.status === "expired")
    return { refused: "intent_not_cancelable", message: `An intent that is ${intent.status} cannot be canceled.` };
  const waiting = intent.attempts.find((attempt) => attempt.status === "requires_action");
  const ended = waiting && fail(waiting, { code: "canceled", message: "The payment was canceled." }, now);
  const attempts = ended ? withObject(intent.attempts, ended) : intent.attempts;
  return { intent: { ...intent, status: "canceled", canceled_at: now, attempts }, events: ["intent.canceled"] };
}

function newAttempt(intent: Intent, { method, ...facts }: AttemptFacts): Attempt {
  const { brand, last4, funding, fingerprint, exp_month, exp_year, behaviour } = method;
  return {
    id: facts.id,
    intent_id: intent.id,
    seq: intent.attempts.length + 1,
    status: "processing",
    failure_code: null,
    failure_message: null,
    authorization_code: null,
    created_at: facts.now,
    settled_at: null,
    brand,
    last4,
    funding,
    fingerprint,
    exp_month,
    exp_year,
    ...verify(method),
    behaviour,
    challenge_token: null,
  };
}

function verify({ behaviour, has_postal_code }: PaymentMethod): Verification {
  const isHighest = behaviour === "highest_risk";
  return {
    avs_line1: "unchecked", // the form asks for no street
    avs_zip: has_postal_code ? "pass" : "unchecked",
    cvc_check: behaviour === "incorrect_cvc" ? "fail" : "pass",
    three_ds_result: null,
    three_ds_version: null,
    risk_level: isHighest ? "highest" : "normal",
    risk_score: isHighest ? 95 : 12,
  };
}

function succeeded(intent: Intent, attempt: Attempt, authorizationCode: string, now: Timestamp): Change {
  const paid: Attempt = { ...attempt, status: "succeeded", authorization_code: authorizationCode, settled_at: now };
  const { outcome } = testCardNamed(attempt.behaviour);
  const isDisputed = outcome.kind === "succeeds" && outcome.later === "dispute";
  return {
    intent: { ...moved(intent, "succeeded", paid), captured_amount: intent.amount, paid_at: now },
    events: ["intent.succeeded"],
    delayed: isDisputed ? [{ kind: "open_dispute", object_id: attempt.id, delays: 1 }] : [],
  };
}

function failed(intent: Intent, attempt: Attempt, why: { code: string; message: string }, now: Timestamp): Change {
  return {
    intent: moved(intent, "requires_payment_method", fail(attempt, why, now)),
    events: ["intent.attempt_failed"],
  };
}

function fail(attempt: Attempt, why: { code: string; message: string }, now: Timestamp): Attempt {
  return { ...attempt, status: "failed", failure_code: why.code, failure_message: why.message, settled_at: now };
}

function moved(intent: Intent, status: Intent["status"], attempt: Attempt): Intent {
  return { ...intent, status, attempts: withObject(intent.attempts, attempt) };
}

function threeDs(result: string): Pick<Verification, "three_ds_result" | "three_ds_version"> {
  return { three_ds_result: result, three_ds_version: threeDsVersion };
}
