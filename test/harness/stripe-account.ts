// What one Stripe account of the fake knows, and what buyers, banks and the dashboard do to it. Objects have the members that
// Stripe's have, as far as anybody here reads them; amounts are in Stripe's writing.
export type Json = Record<string, unknown>;

export interface FakeIntent extends Json {
  id: string;
  amount: number;
  currency: string;
  status: string;
  metadata: Json;
  latest_charge: string | null;
  payment_method: string | null;
}
export interface FakeCharge extends Json {
  id: string;
  amount: number;
  amount_refunded: number;
  payment_intent: string;
  status: string;
  disputed: boolean;
}

/** How a card behaves, by Stripe's own test tokens. */
const declines: Readonly<Record<string, string>> = {
  pm_card_chargeDeclined: "generic_decline",
  pm_card_chargeDeclinedInsufficientFunds: "insufficient_funds",
};
const methods = ["pm_card_visa", "pm_card_authenticationRequired", "pm_card_asynchronous", ...Object.keys(declines)];

export class StripeAccount {
  readonly id: string;
  readonly secretKey: string;
  chargesEnabled = true;
  /** True: new refunds are decided later. */
  refundsPend = false;
  readonly intents = new Map<string, FakeIntent>();
  readonly charges = new Map<string, FakeCharge>();
  readonly refunds = new Map<string, Json & { id: string; status: string; amount: number; payment_intent: string }>();
  readonly disputes = new Map<string, Json & { id: string; status: string }>();
  readonly sessions = new Map<string, Json & { id: string; status: string; payment_intent: string | null }>();
  readonly paymentMethods = new Map<string, Json & { id: string }>();
  /** Every change, oldest first; what the account's webhook endpoint would be sent. */
  readonly events: Json[] = [];
  #count = 0;
  readonly #live: boolean;

  constructor(id: string, secretKey: string) {
    this.id = id;
    this.secretKey = secretKey;
    this.#live = secretKey.includes("_live_");
  }

  newId(prefix: string): string {
    return `${prefix}_${this.id.slice(5)}${String(++this.#count).padStart(6, "0")}`;
  }

  announce(type: string, object: Json): void {
    const data = { object: structuredClone(object) };
    this.events.push({ id: this.newId("evt"), object: "event", type, livemode: this.#live, created: now(), data });
  }

  createIntent(params: Json): FakeIntent {
    const id = this.newId("pi");
    const intent: FakeIntent = {
      object: "payment_intent",
      canceled_at: null,
      created: now(),
      last_payment_error: null,
      livemode: this.#live,
      ...params,
      id,
      amount: Number(params.amount),
      currency: String(params.currency),
      client_secret: `${id}_secret_${this.#count}`,
      metadata: { ...(params.metadata as Json | undefined) },
      status: "requires_payment_method",
      latest_charge: null,
      payment_method: null,
    };
    this.intents.set(id, intent);
    this.announce("payment_intent.created", intent);
    return intent;
  }

  /** A token of Stripe's as a payment method of the buyer; undefined: no such token. */
  methodOf(token: string): string | undefined {
    if (!methods.includes(token)) return undefined;
    const id = this.newId("pm");
    const card = {
      brand: "visa",
      last4: "4242",
      funding: "credit",
      fingerprint: "fp_4242",
      exp_month: 12,
      exp_year: 2031,
    };
    this.paymentMethods.set(id, { id, object: "payment_method", created: now(), type: "card", card, token });
    return id;
  }

  /** The buyer pays with a card. @param token one of Stripe's test tokens */
  pay(intentId: string, token = "pm_card_visa"): FakeIntent {
    const intent = this.intent(intentId);
    if (intent.status !== "requires_payment_method") throw new Error(`a ${intent.status} intent cannot be paid`);
    intent.payment_method = this.methodOf(token) ?? null;
    const decline = declines[token];
    if (decline) return this.#fail(intent, decline);
    if (token === "pm_card_authenticationRequired") return this.#move(intent, "requires_action");
    if (token === "pm_card_asynchronous") {
      intent.latest_charge = this.#charge(intent, { status: "pending", paid: false, captured: false }).id;
      return this.#move(intent, "processing");
    }
    return this.#succeed(intent);
  }

  /** The bank's challenge ends, or the asynchronous method is decided. */
  decide(intentId: string, outcome: "pass" | "fail"): FakeIntent {
    const intent = this.intent(intentId);
    if (outcome === "pass") return this.#succeed(intent, intent.status === "requires_action");
    if (intent.status === "processing") return this.#fail(intent, "generic_decline");
    const method = this.paymentMethods.get(intent.payment_method ?? "");
    const code = "payment_intent_authentication_failure";
    intent.last_payment_error = {
      type: "invalid_request_error",
      code,
      message: "not authenticated",
      payment_method: method,
    };
    intent.payment_method = null;
    return this.#move(intent, "requires_payment_method", "payment_intent.payment_failed");
  }

  #succeed(intent: FakeIntent, authenticated = false): FakeIntent {
    const pending = this.charges.get(intent.latest_charge ?? "");
    if (pending?.status === "pending")
      Object.assign(pending, { status: "succeeded", paid: true, captured: true, amount_captured: intent.amount });
    else
      intent.latest_charge = this.#charge(
        intent,
        { status: "succeeded", paid: true, captured: true },
        authenticated,
      ).id;
    intent.amount_received = intent.amount;
    this.announce("charge.succeeded", this.charges.get(intent.latest_charge ?? "") ?? {});
    const session = [...this.sessions.values()].find((each) => each.payment_intent === intent.id);
    if (session) Object.assign(session, { status: "complete", payment_status: "paid", url: null });
    this.#move(intent, "succeeded");
    if (session) this.announce("checkout.session.completed", session);
    return intent;
  }

  #fail(intent: FakeIntent, reason: string): FakeIntent {
    const pending = this.charges.get(intent.latest_charge ?? "");
    const failure = {
      status: "failed",
      paid: false,
      failure_code: "card_declined",
      failure_message: "Your card was declined.",
    };
    const outcome = { type: "issuer_declined", reason, risk_level: "normal", network_status: "declined_by_network" };
    const charge =
      pending?.status === "pending"
        ? Object.assign(pending, failure, { outcome })
        : this.#charge(intent, { ...failure, outcome });
    intent.latest_charge = charge.id;
    const method = this.paymentMethods.get(intent.payment_method ?? "");
    intent.last_payment_error = {
      type: "card_error",
      code: "card_declined",
      decline_code: reason,
      charge: charge.id,
      payment_method: method,
    };
    intent.payment_method = null;
    return this.#move(intent, "requires_payment_method", "payment_intent.payment_failed");
  }

  #charge(intent: FakeIntent, members: Json, authenticated = false): FakeCharge {
    const id = this.newId("ch");
    const method = this.paymentMethods.get(intent.payment_method ?? "");
    const checks = { address_line1_check: null, address_postal_code_check: "pass", cvc_check: "pass" };
    const secure = authenticated ? { result: "authenticated", version: "2.2.0" } : null;
    const card = { ...(method?.card as Json), checks, three_d_secure: secure, authorization_code: "A1B2C3" };
    const charge: FakeCharge = {
      object: "charge",
      created: now(),
      currency: intent.currency,
      metadata: { ...intent.metadata },
      failure_code: null,
      failure_message: null,
      outcome: { type: "authorized", reason: null, risk_level: "normal", risk_score: 12 },
      payment_method: intent.payment_method,
      payment_method_details: { type: "card", card },
      receipt_url: `https://pay.stripe.com/receipts/${id}`,
      amount_captured: members.captured ? intent.amount : 0,
      ...members,
      id,
      amount: intent.amount,
      amount_refunded: 0,
      payment_intent: intent.id,
      status: String(members.status),
      disputed: false,
    };
    this.charges.set(id, charge);
    return charge;
  }

  #move(intent: FakeIntent, status: string, event = `payment_intent.${status}`): FakeIntent {
    intent.status = status;
    this.announce(event, intent);
    return intent;
  }

  cancel(intent: FakeIntent): void {
    intent.canceled_at = now();
    this.#move(intent, "canceled");
  }

  /** The buyer begins on Stripe's page: only now is there an intent. */
  payOnPage(sessionId: string, token?: string): FakeIntent {
    const session = this.sessions.get(sessionId);
    if (session?.status !== "open") throw new Error("the page is closed");
    const data = session.payment_intent_data as Json;
    const intent = session.payment_intent
      ? this.intent(session.payment_intent)
      : this.createIntent({ amount: session.amount_total, currency: session.currency, metadata: data.metadata });
    session.payment_intent = intent.id;
    return this.pay(intent.id, token);
  }

  /** Also at the dashboard, then without our metadata. */
  refund(
    intent: FakeIntent,
    amount: number,
    params: Json = {},
    status = "succeeded",
  ): Json & { id: string; status: string } {
    const charge = this.charges.get(intent.latest_charge ?? "");
    if (charge?.status !== "succeeded") throw new Error("nothing to refund");
    charge.amount_refunded += amount;
    const refund = {
      object: "refund",
      created: now(),
      reason: null,
      metadata: {},
      ...params,
      id: this.newId("re"),
      amount,
      currency: intent.currency,
      charge: charge.id,
      payment_intent: intent.id,
      status,
    };
    this.refunds.set(refund.id, refund);
    this.announce("refund.created", refund);
    return refund;
  }

  failRefund(refundId: string, reason = "expired_or_canceled_card"): void {
    const refund = this.refunds.get(refundId);
    const charge = this.charges.get(String(refund?.charge));
    if (!refund || !charge) throw new Error("no such refund");
    charge.amount_refunded -= refund.amount;
    Object.assign(refund, { status: "failed", failure_reason: reason });
    this.announce("refund.failed", refund);
  }

  dispute(intentId: string, status = "needs_response"): Json & { id: string; status: string } {
    const charge = this.charges.get(this.intent(intentId).latest_charge ?? "");
    if (!charge) throw new Error("no charge to dispute");
    charge.disputed = true;
    const dispute = {
      object: "dispute",
      id: this.newId("du"),
      amount: charge.amount,
      currency: charge.currency,
      charge: charge.id,
      payment_intent: intentId,
      created: now(),
      reason: "fraudulent",
      status,
      evidence_details: { due_by: now() + 7 * 86_400, has_evidence: false, past_due: false, submission_count: 0 },
      metadata: {},
    };
    this.disputes.set(dispute.id, dispute);
    this.announce("charge.dispute.created", dispute);
    return dispute;
  }

  moveDispute(disputeId: string, status: string): void {
    const dispute = this.disputes.get(disputeId);
    if (!dispute) throw new Error("no such dispute");
    dispute.status = status;
    this.announce(status === "won" || status === "lost" ? "charge.dispute.closed" : "charge.dispute.updated", dispute);
  }

  intent(id: string): FakeIntent {
    const intent = this.intents.get(id);
    if (!intent) throw new Error(`no intent ${id}`);
    return intent;
  }
}

export function now(): number {
  return Math.floor(Date.now() / 1_000);
}
