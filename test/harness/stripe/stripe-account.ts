// Actions of buyers, banks and the dashboard on one account of the fake Stripe. Objects have the members of Stripe's
// that our code reads; amounts are in Stripe's units.
import Stripe from "stripe";
import { StripeBalance } from "./stripe-balance.ts";
import type { FakeCharge, FakeDispute, FakeIntent, FakeRefund, Json } from "./stripe-records.ts";

/** How a card behaves, by Stripe's own test tokens. */
const declines: Readonly<Record<string, string>> = {
  pm_card_chargeDeclined: "generic_decline",
  pm_card_chargeDeclinedInsufficientFunds: "insufficient_funds",
};
/** Methods that are not cards, as Stripe describes them. */
const banks: Readonly<Record<string, { readonly type: string } & Json>> = {
  pm_ideal: { type: "ideal", ideal: { bank: "ing", iban_last4: "0300" } },
  pm_sepa_debit: { type: "sepa_debit", sepa_debit: { country: "DE", last4: "3000" } },
};
const methods = [
  ...["pm_card_visa", "pm_card_authenticationRequired", "pm_card_asynchronous"],
  ...[...Object.keys(declines), ...Object.keys(banks)],
];

const authorizationSeconds = 604_800; // what Stripe gives for most cards

export class StripeAccount extends StripeBalance {
  chargesEnabled = true;
  /** The API version in which its event list writes objects. */
  eventVersion: string = Stripe.API_VERSION;
  /** True: new refunds are decided later. */
  refundsPend = false;
  /** Currencies that the account's country does not take, as Stripe writes them. */
  readonly refusedCurrencies = new Set<string>();
  /** Disputes that hold their money. */
  readonly #withdrawn = new Set<string>();

  createIntent(params: Json): FakeIntent {
    const id = this.newId("pi");
    const intent: FakeIntent = {
      object: "payment_intent",
      canceled_at: null,
      created: this.now(),
      last_payment_error: null,
      livemode: this.isLive,
      ...params,
      id,
      amount: Number(params.amount),
      currency: String(params.currency),
      client_secret: `${id}_secret_fake`,
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
    const bank = banks[token];
    const details = bank ?? { type: "card", card };
    this.paymentMethods.set(id, { id, object: "payment_method", created: this.now(), ...details, token });
    return id;
  }

  /**
   * The buyer pays with a card. @param card one of Stripe's test tokens, or the id of a payment method that was used
   * before
   */
  pay(intentId: string, card = "pm_card_visa"): FakeIntent {
    const intent = this.intent(intentId);
    if (intent.status !== "requires_payment_method") throw new Error(`a ${intent.status} intent cannot be paid`);
    const known = this.paymentMethods.get(card);
    const token = known ? String(known.token) : card;
    intent.payment_method = known?.id ?? this.methodOf(token) ?? null;
    // Stripe forgets the error of a try when the next one begins.
    intent.last_payment_error = null;
    const decline = declines[token];
    if (decline) return this.#fail(intent, decline);
    if (token === "pm_card_authenticationRequired") return this.#move(intent, "requires_action");
    const type = banks[token]?.type ?? "card";
    const allowed = intent.allowed_payment_method_types;
    if (allowed && !Object.values(allowed).includes(type)) throw new Error(`the intent does not offer ${type}`);
    if (token === "pm_card_asynchronous" || type === "sepa_debit") {
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
    const isHeld = intent.capture_method === "manual";
    const paid = { status: "succeeded", paid: true, captured: !isHeld };
    const charge =
      pending?.status === "pending"
        ? Object.assign(pending, { ...paid, amount_captured: isHeld ? 0 : intent.amount })
        : this.#charge(intent, paid, authenticated);
    intent.latest_charge = charge.id;
    intent.last_payment_error = null;
    if (isHeld) this.#hold(intent, charge);
    else {
      intent.amount_received = intent.amount;
      charge.balance_transaction = this.moveBalance("charge", charge.id, intent.amount, intent.currency);
    }
    this.announce("charge.succeeded", charge);
    const session = [...this.sessions.values()].find((each) => each.payment_intent === intent.id);
    // An authorization is still unpaid for the page.
    const payment_status = isHeld ? "unpaid" : "paid";
    if (session) Object.assign(session, { status: "complete", payment_status, url: null });
    if (isHeld) this.#move(intent, "requires_capture", "payment_intent.amount_capturable_updated");
    else this.#move(intent, "succeeded");
    if (session) this.announce("checkout.session.completed", session);
    return intent;
  }

  #hold(intent: FakeIntent, charge: FakeCharge): void {
    intent.amount_capturable = intent.amount;
    const details = charge.payment_method_details as { card: Json };
    details.card.capture_before = this.now() + authorizationSeconds;
  }

  /** Takes what is authorized, or a part: the rest is released as a refund that moves no balance. */
  capture(intent: FakeIntent, amount = intent.amount): FakeIntent {
    const charge = this.latestCharge(intent);
    if (!charge) throw new Error("nothing is authorized");
    Object.assign(charge, { captured: true, amount_captured: amount });
    charge.balance_transaction = this.moveBalance("charge", charge.id, amount, intent.currency);
    if (amount < intent.amount) this.#release(intent, charge, intent.amount - amount);
    Object.assign(intent, { amount_received: amount, amount_capturable: 0 });
    this.announce("charge.captured", charge);
    return this.#move(intent, "succeeded");
  }

  /** Expires an authorization without a capture. */
  lapse(intentId: string): void {
    const intent = this.intent(intentId);
    this.announce("charge.expired", this.latestCharge(intent) ?? {});
    this.cancel(intent, "automatic");
  }

  #release(intent: FakeIntent, charge: FakeCharge, amount: number): void {
    const of = { charge: charge.id, payment_intent: intent.id, currency: intent.currency };
    const members = { reason: null, metadata: {}, balance_transaction: null, created: this.now(), status: "succeeded" };
    const refund: FakeRefund = { object: "refund", id: this.newId("re"), amount, ...members, ...of };
    this.refunds.set(refund.id, refund);
    charge.amount_refunded += amount;
    this.announce("refund.created", refund);
    this.announce("charge.refunded", charge);
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
    this.announce("charge.failed", charge);
    return this.#move(intent, "requires_payment_method", "payment_intent.payment_failed");
  }

  /** A bank takes a debit back that had succeeded, without a dispute. */
  returnCharge(intentId: string, code = "debit_not_authorized"): FakeIntent {
    const intent = this.intent(intentId);
    const charge = this.latestCharge(intent);
    if (charge?.status !== "succeeded") throw new Error("nothing to return");
    const moved = this.moveBalance("payment_failure_refund", charge.id, -intent.amount, intent.currency);
    const failure = { status: "failed", paid: false, failure_code: code, failure_message: "The debit was returned." };
    Object.assign(charge, { ...failure, failure_balance_transaction: moved });
    intent.amount_received = 0;
    intent.payment_method = null;
    intent.last_payment_error = { type: "card_error", code, message: failure.failure_message, charge: charge.id };
    this.announce("charge.failed", charge);
    return this.#move(intent, "requires_payment_method", "payment_intent.payment_failed");
  }

  #charge(intent: FakeIntent, members: Json, authenticated = false): FakeCharge {
    const id = this.newId("ch");
    const method = this.paymentMethods.get(intent.payment_method ?? "");
    const checks = { address_line1_check: null, address_postal_code_check: "pass", cvc_check: "pass" };
    const secure = authenticated ? { result: "authenticated", version: "2.2.0" } : null;
    const type = String(method?.type ?? "card");
    const card = { ...(method?.card as Json), checks, three_d_secure: secure, authorization_code: "A1B2C3" };
    const charge: FakeCharge = {
      object: "charge",
      created: this.now(),
      currency: intent.currency,
      metadata: { ...intent.metadata },
      balance_transaction: null,
      failure_balance_transaction: null,
      failure_code: null,
      failure_message: null,
      outcome: { type: "authorized", reason: null, risk_level: "normal", risk_score: 12 },
      payment_method: intent.payment_method,
      payment_method_details: type === "card" ? { type, card } : { type, [type]: method?.[type] },
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

  cancel(intent: FakeIntent, reason = "abandoned"): void {
    const charge = this.latestCharge(intent);
    if (intent.status === "requires_capture" && charge) this.#release(intent, charge, intent.amount);
    Object.assign(intent, { canceled_at: this.now(), cancellation_reason: reason, amount_capturable: 0 });
    this.#move(intent, "canceled");
  }

  /** The buyer begins on Stripe's page: only now is there an intent. */
  payOnPage(sessionId: string, token?: string): FakeIntent {
    const session = this.sessions.get(sessionId);
    if (session?.status !== "open") throw new Error("the page is closed");
    const data = session.payment_intent_data as Json;
    const intent = session.payment_intent
      ? this.intent(session.payment_intent)
      : this.createIntent({
          amount: session.amount_total,
          currency: session.currency,
          metadata: data.metadata,
          capture_method: data.capture_method,
          allowed_payment_method_types: session.allowed_payment_method_types,
        });
    session.payment_intent = intent.id;
    return this.pay(intent.id, token);
  }

  /** How long a page lives that is made from now on: at most a day. */
  pageSeconds = 86_400;

  /** Ends the page, by its time or by a call. */
  expirePage(sessionId: string): void {
    const session = this.sessions.get(sessionId);
    if (session?.status !== "open") throw new Error("the page is closed");
    Object.assign(session, { status: "expired", url: null });
    const intent = this.intents.get(session.payment_intent ?? "");
    if (intent && intent.status !== "canceled") this.cancel(intent);
    this.announce("checkout.session.expired", session);
  }

  /** Also at the dashboard, then without our metadata. */
  refund(intent: FakeIntent, amount: number, params: Json = {}, status = "succeeded"): FakeRefund {
    const charge = this.latestCharge(intent);
    if (charge?.status !== "succeeded") throw new Error("nothing to refund");
    charge.amount_refunded += amount;
    const refund: FakeRefund = {
      object: "refund",
      created: this.now(),
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
    refund.balance_transaction = this.moveBalance("refund", refund.id, -amount, intent.currency);
    this.refunds.set(refund.id, refund);
    this.announce("refund.created", refund);
    return refund;
  }

  /** Also days after it had succeeded, as banks do with a card that is no more. */
  failRefund(refundId: string, reason = "expired_or_canceled_card"): void {
    const refund = this.refunds.get(refundId);
    const charge = this.charges.get(String(refund?.charge));
    if (!refund || !charge) throw new Error("no such refund");
    charge.amount_refunded -= refund.amount;
    const moved = this.moveBalance("refund_failure", refund.id, refund.amount, refund.currency);
    Object.assign(refund, { status: "failed", failure_reason: reason, failure_balance_transaction: moved });
    this.announce("refund.failed", refund);
  }

  /** A charge may have several. @param amount of a partly disputed charge */
  dispute(intentId: string, status = "needs_response", amount?: number): FakeDispute {
    const charge = this.latestCharge(this.intent(intentId));
    if (!charge) throw new Error("no charge to dispute");
    charge.disputed = true;
    const due = this.now() + 7 * 86_400;
    const dispute: FakeDispute = {
      object: "dispute",
      id: this.newId("du"),
      amount: amount ?? charge.amount,
      currency: charge.currency,
      charge: charge.id,
      payment_intent: intentId,
      created: this.now(),
      reason: "fraudulent",
      status,
      evidence_details: { due_by: due, has_evidence: false, past_due: false, submission_count: 0 },
      metadata: {},
    };
    this.disputes.set(dispute.id, dispute);
    this.announce("charge.dispute.created", dispute);
    this.#moveFunds(dispute);
    return dispute;
  }

  moveDispute(disputeId: string, status: string): void {
    const dispute = this.disputes.get(disputeId);
    if (!dispute) throw new Error("no such dispute");
    dispute.status = status;
    this.announce(status === "won" || status === "lost" ? "charge.dispute.closed" : "charge.dispute.updated", dispute);
    this.#moveFunds(dispute);
  }

  /**
   * An inquiry moves nothing; a dispute takes the money when it begins, and brings it back when it is won. Losing it
   * moves nothing.
   */
  #moveFunds(dispute: FakeDispute): void {
    const wanted = !dispute.status.startsWith("warning_") && dispute.status !== "won" && dispute.status !== "prevented";
    if (wanted === this.#withdrawn.has(dispute.id)) return;
    if (wanted) this.#withdrawn.add(dispute.id);
    else this.#withdrawn.delete(dispute.id);
    const { amount, currency } = dispute;
    this.moveBalance("adjustment", dispute.id, wanted ? -amount : amount, String(currency));
    this.announce(`charge.dispute.funds_${wanted ? "withdrawn" : "reinstated"}`, dispute);
  }
}
