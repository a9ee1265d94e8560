// The attempts to pay a PaymentIntent, in chronological order. An attempt is a charge; one that fails without a charge,
// such as a failed authentication, is the k-th such failure of the intent in Stripe's event list: `pi_…/k`.
import type Stripe from "stripe";
import type { Attempt, Card, IntentFact, Verification } from "../../rules/payment.ts";
import { fromStripe } from "./amount.ts";
import { methodOf } from "./methods.ts";

/** An attempt in the event list. */
export interface TryEvent {
  /** Stripe's time, seconds since 1970. */
  readonly at: number;
  /** Of a failure; undefined: the attempt requires the buyer. */
  readonly error: StripeError | undefined;
}
type StripeError = NonNullable<Stripe.PaymentIntent["last_payment_error"]>;

/** True if an attempt may have ended, or be under way, without a charge: only the event list counts those. */
export function hasTriesWithoutCharge(intent: Stripe.PaymentIntent): boolean {
  const { status, last_payment_error: error, latest_charge: charge } = intent;
  return (error != null && !error.charge) || status === "requires_action" || (status === "processing" && !charge);
}

/** @param charges newest first. @param tries oldest first. */
export function factsOf(
  intent: Stripe.PaymentIntent,
  charges: readonly Stripe.Charge[],
  tries: readonly TryEvent[],
): IntentFact[] {
  const failed = failuresOf(intent, charges, tries);
  const ended = inOrder([...chargeTries(charges, tries), ...failed]);
  const attempts = ascending(ended.map(({ fact }) => fact));
  const latest = attempts.at(-1)?.attempt.startedAt;
  const facts: IntentFact[] = attempts;
  const isOpen = facts.some((fact) => fact.kind === "processing_started");
  if (intent.status === "requires_action" || (intent.status === "processing" && !isOpen)) {
    const attempt = openAttempt(intent, failed.length + 1, tries, latest);
    facts.push({ kind: intent.status === "processing" ? "processing_started" : "action_required", attempt });
  }
  if (intent.status !== "canceled") return facts;
  // Stripe cancels an authorization that was not captured in time.
  const isExpired =
    intent.cancellation_reason === "automatic" && facts.some(({ kind }) => kind === "attempt_succeeded");
  const canceled = { kind: "intent_canceled", at: dateOf(intent.canceled_at ?? intent.created) } as const;
  return [...facts, { ...canceled, ...(isExpired && { isExpired }) }];
}

type AttemptFact = Extract<IntentFact, { readonly attempt: Attempt }>;
/** `position` orders attempts within one second, Stripe's precision. */
interface Try {
  readonly at: number;
  readonly position: number;
  readonly fact: AttemptFact;
}

function chargeTries(charges: readonly Stripe.Charge[], tries: readonly TryEvent[]): Try[] {
  const positions = new Map(tries.map(({ error }, position) => [error?.charge, position]));
  return charges.toReversed().map((charge, i) => {
    return { at: charge.created, position: positions.get(charge.id) ?? tries.length + i, fact: chargeFact(charge) };
  });
}

/** The failures without a charge, from the events, or the one that the intent shows before its event is listed. */
function failuresOf(
  intent: Stripe.PaymentIntent,
  charges: readonly Stripe.Charge[],
  tries: readonly TryEvent[],
): Try[] {
  const reported = tries.flatMap(({ at, error }, position) =>
    error && !error.charge ? [{ at, position, error }] : [],
  );
  const error = intent.last_payment_error;
  // The intent shows its latest failure, which came after every charge.
  const latest = Math.max(error?.payment_method?.created ?? intent.created, ...charges.map(({ created }) => created));
  const shown = error && !error.charge ? [{ at: latest, position: tries.length + charges.length, error }] : [];
  return (reported.length > 0 ? reported : shown).map(({ at, position, error }, i) => {
    const attempt = attemptWithoutCharge(intent, i + 1, at, error.payment_method);
    const code = error.decline_code ?? error.code ?? "";
    const fact = { kind: "attempt_failed" as const, attempt, code, message: error.message ?? "", at: dateOf(at) };
    return { at, position, fact };
  });
}

function inOrder(tries: readonly Try[]): Try[] {
  return tries.toSorted((a, b) => a.at - b.at || a.position - b.position);
}

/** Corrects for Stripe's whole seconds: no attempt begins before the previous one. */
function ascending(facts: readonly AttemptFact[]): AttemptFact[] {
  let last = 0;
  return facts.map((fact) => {
    last = Math.max(last, fact.attempt.startedAt.getTime());
    return { ...fact, attempt: { ...fact.attempt, startedAt: new Date(last) } };
  });
}

/** The attempt that is under way. */
function openAttempt(
  intent: Stripe.PaymentIntent,
  number: number,
  tries: readonly TryEvent[],
  latest: Date | undefined,
): Attempt {
  const method = typeof intent.payment_method === "object" ? intent.payment_method : null;
  const pending = tries.findLast(({ error }) => error === undefined);
  const at = pending?.at ?? method?.created ?? intent.created;
  const attempt = attemptWithoutCharge(intent, number, at, method ?? undefined);
  return latest && latest > attempt.startedAt ? { ...attempt, startedAt: latest } : attempt;
}

function attemptWithoutCharge(
  intent: Stripe.PaymentIntent,
  number: number,
  at: number,
  method: Stripe.PaymentMethod | undefined,
): Attempt {
  return {
    ref: `${intent.id}/${number}`,
    startedAt: dateOf(at),
    method: methodOf(method),
    card: cardOf(method?.card),
    verification: undefined,
  };
}

function chargeFact(charge: Stripe.Charge): AttemptFact {
  const attempt: Attempt = {
    ref: charge.id,
    // A charge comes after its method, also within one second.
    startedAt: new Date(charge.created * 1_000 + 1),
    method: methodOf(charge.payment_method_details),
    card: cardOf(charge.payment_method_details?.card),
    verification: verificationOf(charge),
  };
  const at = dateOf(charge.created);
  // The return of a succeeded charge, such as a bank debit.
  const returned = typeof charge.failure_balance_transaction === "object" ? charge.failure_balance_transaction : null;
  if (charge.status === "pending") return { kind: "processing_started", attempt };
  if (charge.status === "failed") {
    const reason = charge.failure_code === "card_declined" ? charge.outcome?.reason : undefined;
    const code = reason ?? charge.failure_code ?? (returned ? "returned" : "");
    const failedAt = returned ? dateOf(returned.created) : at;
    return { kind: "attempt_failed", attempt, code, message: charge.failure_message ?? "", at: failedAt };
  }
  const captured = charge.captured ? fromStripe(charge.amount_captured, charge.currency.toUpperCase()) : 0n;
  // A capture may move the balance days after the charge.
  const moved = typeof charge.balance_transaction === "object" ? charge.balance_transaction : null;
  const until = charge.payment_method_details?.card?.capture_before;
  return {
    kind: "attempt_succeeded",
    attempt,
    capturedAmount: captured,
    authorizedAt: at,
    capturedAt: charge.captured ? (moved ? dateOf(moved.created) : at) : undefined,
    ...(until !== undefined && !charge.captured && { captureBefore: dateOf(until) }),
    authorizationCode: charge.authorization_code ?? charge.payment_method_details?.card?.authorization_code ?? "",
    receiptUrl: charge.receipt_url ?? "",
  };
}

interface StripeCard {
  readonly brand: string | null;
  readonly last4: string | null;
  readonly funding: string | null;
  readonly fingerprint?: string | null;
  readonly exp_month: number;
  readonly exp_year: number;
}

function cardOf(card: StripeCard | null | undefined): Card | undefined {
  if (!card) return undefined;
  return {
    brand: card.brand ?? "unknown",
    last4: card.last4 ?? "",
    funding: card.funding ?? "unknown",
    fingerprint: card.fingerprint ?? "",
    expMonth: card.exp_month,
    expYear: card.exp_year,
  };
}

function verificationOf({ payment_method_details: details, outcome }: Stripe.Charge): Verification {
  const checks = details?.card?.checks;
  const secure = details?.card?.three_d_secure;
  const hasThreeDs = threeDsResults.has(secure?.result ?? "");
  return {
    avsLine1: checkOf(checks?.address_line1_check),
    avsZip: checkOf(checks?.address_postal_code_check),
    cvcCheck: checkOf(checks?.cvc_check),
    threeDsResult: hasThreeDs ? (secure?.result ?? "") : "",
    threeDsVersion: hasThreeDs ? (secure?.version ?? "") : "",
    riskLevel: riskLevels.has(outcome?.risk_level ?? "") ? (outcome?.risk_level ?? "") : "not_assessed",
    // Only accounts with Radar for Fraud Teams get a score.
    riskScore: outcome?.risk_score ?? 0,
  };
}

// Without `data_share_only`, which authenticates no buyer.
const threeDsResults: ReadonlySet<string> = new Set([
  "authenticated",
  "attempt_acknowledged",
  "exempted",
  "failed",
  "not_supported",
  "processing_error",
]);
const riskLevels: ReadonlySet<string> = new Set(["normal", "elevated", "highest", "not_assessed"]);
const checkResults: ReadonlySet<string> = new Set(["pass", "fail", "unavailable", "unchecked"]);

/** Null: there was nothing to check. */
function checkOf(result: string | null | undefined): string {
  return result && checkResults.has(result) ? result : "unchecked";
}

function dateOf(seconds: number): Date {
  return new Date(seconds * 1_000);
}
