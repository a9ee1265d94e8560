// The buyer on Stripe's fields or Stripe's own page, the buyer's bank, and Stripe's dashboard, as a story plays them at
// the fake of its API.
import { setTimeout as pause } from "node:timers/promises";
import type { StripeAccount } from "../harness/stripe/stripe-account.ts";
import type { FakeIntent } from "../harness/stripe/stripe-records.ts";
import type { Random } from "./random.ts";
import type { SeenPayment } from "./seen.ts";
import type { Shop } from "./shop.ts";
import type { Till } from "./story.ts";

export const tokenWeights = [
  ["pm_card_visa", 60],
  ["pm_card_chargeDeclined", 10],
  ["pm_card_chargeDeclinedInsufficientFunds", 5],
  ["pm_card_authenticationRequired", 10],
  ["pm_card_asynchronous", 15],
] as const;
/** Time until the bank decides an asynchronous payment. */
const decisionMsMax = 1_500;

export function stripeTill({ stripe }: Shop): Till {
  if (!stripe) throw new Error("this merchant has no account at Stripe");
  const { account } = stripe;
  return {
    async attempt({ random }, payment) {
      const intent = did(() => payOnce(account, payment, random.pick(tokenWeights)));
      if (!intent) return false;
      if (intent.status === "requires_action" && random.chance(0.9)) decide(account, intent, random);
      if (intent.status === "processing") await decideLater(account, intent, random);
      return intent.status === "succeeded" || intent.status === "requires_capture";
    },
    async refund(payment, amount, isPending) {
      const status = isPending ? "pending" : "succeeded";
      return did(() => refundAtDashboard(account, payment, amount, status))?.id;
    },
    async moveRefund(_payment, refund, to) {
      // Stripe knows a pending refund's success by its own word only, which the fake does not play; it fails.
      return to === "failed" && did(() => failOnce(account, refund)) !== undefined;
    },
    async dispute(payment, status, amount) {
      return did(() => disputePaid(account, payment, status, amount))?.id;
    },
    async moveDispute(_payment, dispute, to) {
      did(() => account.moveDispute(dispute, to));
    },
    async returnDebit(payment) {
      return did(() => returnOnce(account, payment)) !== undefined;
    },
    async capture(payment, amount) {
      return did(() => account.capture(heldIntent(account, payment), amount)) !== undefined;
    },
    async rename(_story, payment, reference) {
      return did(() => rename(account, payment, reference)) !== undefined;
    },
    async lapse(payment) {
      return did(() => account.lapse(heldIntent(account, payment).id) ?? true) !== undefined;
    },
  };
}

/** Undefined where the fake throws, since a real page or dashboard would not offer the action. */
function did<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** On Stripe's own page there is an intent as soon as the buyer has begun. */
function payOnce(account: StripeAccount, payment: SeenPayment, token: string): FakeIntent {
  if (!account.sessions.has(payment.intentId)) return account.pay(payment.intentId, token);
  return account.payOnPage(payment.intentId, token);
}

function decide(account: StripeAccount, intent: FakeIntent, random: Random): void {
  account.decide(intent.id, random.chance(0.8) ? "pass" : "fail");
}

async function decideLater(account: StripeAccount, intent: FakeIntent, random: Random): Promise<void> {
  await pause(random.int(0, decisionMsMax));
  if (intent.status === "processing") decide(account, intent, random);
}

function refundAtDashboard(account: StripeAccount, payment: SeenPayment, amount: number, status: string) {
  const intent = account.intent(intentIdOf(account, payment));
  const charge = account.charges.get(intent.latest_charge ?? "");
  if (!charge?.captured || amount > charge.amount - charge.amount_refunded) throw new Error("not so much is left");
  // Its amounts in dinars end in 0 (https://docs.stripe.com/currencies, three-decimal currencies), at the dashboard
  // too.
  if (charge.currency === "kwd" && amount % 10 !== 0) throw new Error("Stripe takes no such amount");
  return account.refund(intent, amount, {}, status);
}

/** Only what was debited, not what a card paid, and as long as nothing else has happened to it. */
function returnOnce(account: StripeAccount, payment: SeenPayment): FakeIntent {
  const id = intentIdOf(account, payment);
  const charge = account.latestCharge(account.intent(id));
  const method = account.paymentMethods.get(String(charge?.payment_method));
  const isWhole = charge?.captured && charge.amount_refunded === 0 && !charge.disputed;
  if (method?.token !== "pm_card_asynchronous" || !isWhole) throw new Error("there is no debit to return");
  return account.returnCharge(id);
}

function disputePaid(account: StripeAccount, payment: SeenPayment, status: string, amount: number | undefined) {
  const intent = account.intent(intentIdOf(account, payment));
  if (intent.status !== "succeeded") throw new Error("nothing to dispute");
  return account.dispute(intent.id, status, amount);
}

function failOnce(account: StripeAccount, id: string): string {
  const refund = account.refunds.get(id);
  if (refund?.status !== "succeeded" && refund?.status !== "pending") throw new Error("it has failed already");
  account.failRefund(id);
  return id;
}

function heldIntent(account: StripeAccount, payment: SeenPayment): FakeIntent {
  const intent = account.intent(intentIdOf(account, payment));
  if (intent.status !== "requires_capture") throw new Error("nothing is authorized");
  return intent;
}

/** Edits its metadata, without an event. */
function rename(account: StripeAccount, payment: SeenPayment, reference: string): FakeIntent {
  const intent = account.intent(intentIdOf(account, payment));
  if (!["succeeded", "requires_capture"].includes(intent.status)) throw new Error("nothing is paid");
  intent.metadata = reference === "" ? {} : { ...intent.metadata, tollbooth_payment: reference };
  return intent;
}

function intentIdOf(account: StripeAccount, { intentId }: SeenPayment): string {
  return account.sessions.get(intentId)?.payment_intent ?? intentId;
}
