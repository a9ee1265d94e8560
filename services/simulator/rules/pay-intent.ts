// Payment of an intent: an attempt begins, is challenged, settles. A paid intent is never paid again, and one attempt
// at a time is in progress. Pure: ids, codes and the time are parameters.
import type { Attempt, Change, Intent, Refusal, Timestamp, Verification } from "./intent.ts";
import { withObject } from "./intent.ts";
import type { PaymentMethod } from "./payment-method.ts";
import { testCardNamed } from "./test-card.ts";

export interface AttemptFacts {
  readonly id: string;
  readonly method: PaymentMethod;
  /** False: a payment by token from the merchant's server, without a buyer for a challenge. */
  readonly isBuyerPresent: boolean;
  /** BCP 47 tag of the buyer's page; null: unknown. */
  readonly locale: string | null;
  readonly authorization_code: string;
  readonly challenge_token: string;
  readonly now: Timestamp;
  /** Lapse of an authorization that begins now, and of one with the lapsing test card. */
  readonly lapses_at: Timestamp;
  readonly lapses_soon_at: Timestamp;
}

type Approval = Pick<AttemptFacts, "authorization_code" | "now" | "lapses_at" | "lapses_soon_at">;

const attemptsMax = 50; // more means guessing of cards
const threeDsVersion = "2.2.0";
const settleDelays = 2; // a settlement takes twice as long as the other delayed facts
const authenticationRequired = {
  code: "authentication_required",
  message: "Your card requires authentication, which this payment does not support.",
};
const processorDeclined = { code: "card_declined", message: "Your card was declined." };

/** @returns null: the intent does not wait for a card */
export function payIntent(intent: Intent, facts: AttemptFacts): Change | Refusal | null {
  if (intent.status !== "requires_payment_method") return null;
  if (intent.attempts.length >= attemptsMax)
    return { refused: "too_many_attempts", message: "This payment had too many attempts." };
  if (!(intent.payment_methods ?? ["card"]).includes(facts.method.method))
    return { refused: "method_not_offered", message: "This payment does not offer this method." };
  const begun = newAttempt(intent, facts);
  const { outcome } = testCardNamed(facts.method.behaviour);
  switch (outcome.kind) {
    case "succeeds":
      return approved(intent, begun, facts);
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
      return null; // the route has answered 503 already
  }
}

/** Outcome of the challenge; `cancel`: by the buyer. */
export type ChallengeAnswer = "pass" | "fail" | "cancel";

const bankRefused = { code: "authentication_failed", message: "The buyer's bank did not confirm the payment." };
const debitFailed = { code: "debit_failed", message: "The account has insufficient funds." };
const challengeFailures = {
  fail: { code: "authentication_failed", message: "We could not authenticate your payment method." },
  cancel: { code: "canceled", message: "The buyer canceled the authentication." },
} as const;

/** @returns null: the attempt does not wait for a challenge */
export function answerChallenge(
  intent: Intent,
  attemptId: string,
  answer: ChallengeAnswer,
  facts: Approval,
): Change | null {
  const attempt = intent.attempts.find((one) => one.id === attemptId);
  if (attempt?.status !== "requires_action") return null;
  if (attempt.method !== "card") {
    if (answer === "pass") return approved(intent, attempt, facts);
    return failed(intent, attempt, answer === "fail" ? bankRefused : challengeFailures.cancel, facts.now);
  }
  if (answer !== "pass")
    return failed(intent, { ...attempt, ...threeDs("failed") }, challengeFailures[answer], facts.now);
  const passed = { ...attempt, ...threeDs("authenticated") };
  const { outcome } = testCardNamed(attempt.behaviour);
  return outcome.kind === "challenge" && outcome.passed === "succeeds"
    ? approved(intent, passed, facts)
    : failed(intent, passed, processorDeclined, facts.now);
}

/** Settles an asynchronous attempt. @returns null: it is not processing */
export function settleAttempt(intent: Intent, attemptId: string, facts: Approval): Change | null {
  const attempt = intent.attempts.find((one) => one.id === attemptId);
  if (attempt?.status !== "processing") return null;
  const { outcome } = testCardNamed(attempt.behaviour);
  const ends = outcome.kind === "asynchronous" ? outcome.ends : undefined;
  if (ends === "failed") return failed(intent, attempt, debitFailed, facts.now);
  const settled = approved(intent, attempt, facts);
  if (ends !== "returned") return settled;
  return { ...settled, delayed: [{ kind: "return_debit", object_id: attempt.id, delays: settleDelays }] };
}

/** @param keepsAuthorized refuses to cancel an authorization @returns null: it is canceled already */
export function cancelIntent(intent: Intent, now: Timestamp, keepsAuthorized = false): Change | Refusal | null {
  if (intent.status === "canceled") return null;
  const isKept = intent.status === "requires_capture" && keepsAuthorized;
  if (["succeeded", "processing", "expired"].includes(intent.status) || isKept)
    return { refused: "intent_not_cancelable", message: `An intent that is ${intent.status} cannot be canceled.` };
  const waiting = intent.attempts.find((attempt) => attempt.status === "requires_action");
  const ended = waiting && fail(waiting, { code: "canceled", message: "The payment was canceled." }, now);
  const attempts = ended ? withObject(intent.attempts, ended) : intent.attempts;
  return { intent: canceled({ ...intent, attempts }, "requested", now), events: ["intent.canceled"] };
}

/** @param amount minor units; null: the authorized amount. A part releases the rest. */
export function captureIntent(intent: Intent, amount: number | null, now: Timestamp): Change | Refusal {
  if (intent.status !== "requires_capture")
    return { refused: "intent_not_capturable", message: `An intent that is ${intent.status} cannot be captured.` };
  const captured_amount = amount ?? intent.amount;
  if (captured_amount > intent.amount)
    return { refused: "amount_too_large", message: "The amount exceeds what is authorized." };
  return captured(intent, captured_amount, now);
}

/** Ends an authorization that was not captured in time. @returns null: it is not authorized */
export function lapseAuthorization(intent: Intent, now: Timestamp): Change | null {
  if (intent.status !== "requires_capture") return null;
  return { intent: canceled(intent, "expired", now), events: ["intent.canceled"] };
}

function canceled(intent: Intent, reason: "requested" | "expired", now: Timestamp): Intent {
  return { ...intent, status: "canceled", canceled_at: now, cancellation_reason: reason, capture_before: null };
}

function newAttempt(intent: Intent, { method, locale, ...facts }: AttemptFacts): Attempt {
  const { brand, last4, funding, fingerprint, exp_month, exp_year, behaviour, bank_country } = method;
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
    method: method.method,
    bank_country,
    brand,
    last4,
    funding,
    fingerprint,
    exp_month,
    exp_year,
    ...verify(method),
    behaviour,
    challenge_token: null,
    locale,
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

function approved(intent: Intent, attempt: Attempt, approval: Approval): Change {
  const { authorization_code, now } = approval;
  const { outcome } = testCardNamed(attempt.behaviour);
  const isSoon = outcome.kind === "succeeds" && outcome.later === "lapse";
  const capture_before = isSoon ? approval.lapses_soon_at : approval.lapses_at;
  const paid: Attempt = { ...attempt, status: "succeeded", authorization_code, settled_at: now };
  if (intent.capture_method === "automatic") return captured(moved(intent, "succeeded", paid), intent.amount, now);
  return {
    intent: { ...moved(intent, "requires_capture", paid), capture_before },
    events: ["intent.authorized"],
    delayed: [{ kind: "lapse_authorization", object_id: attempt.id, delays: 0, at: capture_before }],
  };
}

/** @param intent with the attempt that succeeded */
function captured(intent: Intent, captured_amount: number, now: Timestamp): Change {
  const paidBy = intent.attempts.find((attempt) => attempt.status === "succeeded");
  const { outcome } = testCardNamed(paidBy?.behaviour ?? "");
  const isDisputed = outcome.kind === "succeeds" && ["dispute", "inquiry"].includes(outcome.later ?? "");
  return {
    intent: { ...intent, status: "succeeded", captured_amount, paid_at: now, capture_before: null },
    events: ["intent.succeeded"],
    delayed: isDisputed && paidBy ? [{ kind: "open_dispute", object_id: paidBy.id, delays: 1 }] : [],
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
