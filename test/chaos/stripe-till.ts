// The buyer on Stripe's fields or Stripe's own page, the buyer's bank, and Stripe's dashboard, as a story plays them at
// the fake of its API.
import { setTimeout as pause } from "node:timers/promises";
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
/** A session that does not offer a method refuses it. */
const methodWeights = [...tokenWeights, ["pm_ideal", 10], ["pm_sepa_debit", 10]] as const;
/** Time until the bank decides an asynchronous payment. */
const decisionMsMax = 1_500;

export function stripeTill({ stripe }: Shop): Till {
  if (!stripe) throw new Error("this merchant has no account at Stripe");
  const { account } = stripe;
  const intentOf = ({ intentId }: SeenPayment) =>
    account.intent(account.sessions.get(intentId)?.payment_intent ?? intentId);
  const heldIntent = (payment: SeenPayment) => must(intentOf(payment), ({ status }) => status === "requires_capture");
  const decide = ({ id }: FakeIntent, random: Random) => account.decide(id, random.chance(0.8) ? "pass" : "fail");
  return {
    async attempt({ random }, { intentId }) {
      const token = random.pick(methodWeights);
      // On Stripe's own page there is an intent as soon as the buyer has begun.
      const isPage = account.sessions.has(intentId);
      const intent = did(() => (isPage ? account.payOnPage(intentId, token) : account.pay(intentId, token)));
      if (!intent) return false;
      if (intent.status === "requires_action" && random.chance(0.9)) decide(intent, random);
      if (intent.status === "processing") {
        await pause(random.int(0, decisionMsMax));
        if (intent.status === "processing") decide(intent, random);
      }
      return intent.status === "succeeded" || intent.status === "requires_capture";
    },
    async refund(payment, amount, isPending) {
      return did(() => {
        const intent = intentOf(payment);
        const charge = account.latestCharge(intent);
        // Stripe's amounts in dinars end in 0 (https://docs.stripe.com/currencies, three-decimal currencies), at the
        // dashboard too.
        const isPossible = charge?.captured && (charge.currency !== "kwd" || amount % 10 === 0);
        if (!isPossible || amount > charge.amount - charge.amount_refunded) return undefined;
        return account.refund(intent, amount, {}, isPending ? "pending" : "succeeded").id;
      });
    },
    async moveRefund(_payment, refund, to) {
      // Stripe knows a pending refund's success by its own word only, which the fake does not play; it fails.
      const status = account.refunds.get(refund)?.status;
      if (to !== "failed" || (status !== "succeeded" && status !== "pending")) return false;
      account.failRefund(refund);
      return true;
    },
    async dispute(payment, status, amount) {
      const paid = () => must(intentOf(payment), (intent) => intent.status === "succeeded");
      return did(() => account.dispute(paid().id, status, amount))?.id;
    },
    async moveDispute(_payment, dispute, to) {
      did(() => account.moveDispute(dispute, to));
    },
    // Only what was debited, not what a card paid, and as long as nothing else has happened to it.
    async returnDebit(payment) {
      return (
        did(() => {
          const intent = intentOf(payment);
          const charge = account.latestCharge(intent);
          const method = account.paymentMethods.get(String(charge?.payment_method));
          const isWhole = charge?.captured && charge.amount_refunded === 0 && !charge.disputed;
          if (!isWhole || method?.token !== "pm_card_asynchronous") return undefined;
          return account.returnCharge(intent.id);
        }) !== undefined
      );
    },
    async capture(payment, amount) {
      return did(() => account.capture(heldIntent(payment), amount)) !== undefined;
    },
    // Edits its metadata, without an event.
    async rename(_story, payment, reference) {
      const isPaid = ({ status }: FakeIntent) => ["succeeded", "requires_capture"].includes(status);
      const intent = did(() => must(intentOf(payment), isPaid));
      if (!intent) return false;
      intent.metadata = reference === "" ? {} : { ...intent.metadata, tollbooth_payment: reference };
      return true;
    },
    async lapse(payment) {
      return did(() => account.lapse(heldIntent(payment).id) ?? true) !== undefined;
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

function must(intent: FakeIntent, isPossible: (intent: FakeIntent) => boolean): FakeIntent {
  if (!isPossible(intent)) throw new Error(`not possible for a ${intent.status} intent`);
  return intent;
}
