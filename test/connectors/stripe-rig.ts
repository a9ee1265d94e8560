// The Stripe connector in the hands of tests: a fake of Stripe's API with one account.
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type {
  CreatedIntent,
  IntentReport,
  ProcessorAccount,
  ProcessorAnswer,
  RefundReport,
} from "../../services/payments/connectors/connector.ts";
import type { IntentOrder } from "../../services/payments/connectors/order.ts";
import { stripeConnector } from "../../services/payments/connectors/stripe/stripe.ts";
import { FakeStripe, signEvent } from "../harness/stripe/fake-stripe.ts";
import type { StripeAccount } from "../harness/stripe/stripe-account.ts";
import type { FakeEvent } from "../harness/stripe/stripe-records.ts";
import { inVersion } from "../harness/stripe/stripe-versions.ts";
import { type ConnectorRig, valueIn } from "./contract.ts";

export interface StripeRig extends ConnectorRig {
  readonly fake: FakeStripe;
  readonly stripe: StripeAccount;
  /** The event as a webhook to an endpoint of that API version. */
  deliver(event: FakeEvent, apiVersion: string): { body: Uint8Array; headers: Record<string, string> };
}

const lostMs = 1_000; // a fake answers in a few milliseconds; this is how long a lost answer is waited for
/** For suites that lose no answers: also a machine with too much to do answers within it. */
export const patientMs = 15_000;

const keyLifeSeconds = 86_400; // Stripe's

export const credentials = {
  secret_key: "sk_test_fake",
  publishable_key: "pk_test_fake",
  webhook_secret: "whsec_fake",
} as const;

/** @param timeoutMs of the connector */
export async function startStripeRig(timeoutMs = lostMs): Promise<StripeRig> {
  const fake = await new FakeStripe().start();
  const stripe = fake.account("acct_fake1", credentials.secret_key);
  const connector = stripeConnector(fake.url, timeoutMs, keyLifeSeconds);
  const unreachable = stripeConnector("http://127.0.0.1:9", timeoutMs, keyLifeSeconds);
  const account: ProcessorAccount = {
    id: newId("connector"),
    merchantId: newId("merchant"),
    environment: Environment.SANDBOX,
    connector: "stripe",
    externalAccountId: stripe.id,
    surface: "embedded",
    credentials,
    refundsEnabled: true,
  };
  return {
    fake,
    stripe,
    connector,
    unreachable,
    account,
    wrongCredential: { name: "secret_key", value: "sk_test_wrong" },
    last4: "4242",
    signs: "bytes",
    filesGo: "before",
    pay: async ({ report, mount }: CreatedIntent, outcome) => {
      const token = outcome === "paid" ? "pm_card_visa" : "pm_card_chargeDeclined";
      if (mount.kind === "redirect") stripe.payOnPage(report.ref, token);
      else stripe.pay(report.ref, token);
    },
    payBy: async ({ report }, type) => void stripe.pay(report.ref, type === "ideal" ? "pm_ideal" : "pm_sepa_debit"),
    decide: async (ref, outcome) => {
      if (outcome === "returned") stripe.returnCharge(ref);
      else stripe.decide(ref, "pass");
    },
    tokens: async () => ({ good: "pm_card_visa", declined: "pm_card_chargeDeclined", unknown: "pm_unknown" }),
    dispute: async (ref, status) => {
      const intent = stripe.sessions.get(ref)?.payment_intent ?? ref;
      return stripe.dispute(intent, status).id;
    },
    money: {
      raise: async (times) => {
        for (let i = 0; i < times; i++) stripe.moveBalance("adjustment", null, 100);
      },
      payOut: async () => {
        const { id } = stripe.payOut();
        stripe.reconcile(id);
        return id;
      },
    },
    failNext: async (what, trouble) => {
      const paths = { intent: /payment_intents$/, refund: /refunds$/, capture: /capture$/, evidence: /disputes\/\w+$/ };
      fake.failNext("POST", paths[what], trouble === "fault" ? "500" : "silent");
    },
    lapse: async ({ ref }) => stripe.lapse(stripe.sessions.get(ref)?.payment_intent ?? ref),
    event: async ({ report }, at) => {
      const object = stripe.intent(report.ref);
      const event = { id: stripe.newId("evt"), object: "event", type: "payment_intent.succeeded", livemode: false };
      const whole = { ...event, created: at, data: { object } };
      const { body, header } = signEvent(whole, credentials.webhook_secret, at);
      return { body: Buffer.from(body), headers: { "stripe-signature": header } };
    },
    deliver: (event, apiVersion) => {
      const { body, header } = signEvent(inVersion(event, apiVersion), credentials.webhook_secret);
      return { body: Buffer.from(body), headers: { "stripe-signature": header } };
    },
    stop: async () => {
      await Promise.all([connector.close(), unreachable.close()]);
      await fake.stop();
    },
  };
}

/** A shop that sells through the rig's connector. @param rig a function, since a suite starts it after its tests */
export class StripeShop {
  readonly #rig: () => StripeRig;

  constructor(rig: () => StripeRig) {
    this.#rig = rig;
  }

  order(members: Partial<IntentOrder> = {}): IntentOrder {
    const wanted = { reference: newId("payment"), amount: 1_050n, currency: "EUR", description: "" };
    return {
      ...wanted,
      returnUrl: "https://shop.example/return",
      surface: "embedded",
      captureMethod: "automatic",
      lineItems: [],
      ...members,
    };
  }

  create(order = this.order(), key: string = newId("operation")): Promise<ProcessorAnswer<CreatedIntent>> {
    const { connector, account } = this.#rig();
    return connector.createIntent(account, order, key);
  }

  async created(members: Partial<IntentOrder> = {}): Promise<CreatedIntent> {
    return valueIn(await this.create(this.order(members)));
  }

  async read(ref: string): Promise<IntentReport> {
    const { connector, account } = this.#rig();
    return valueIn(await connector.retrieveIntent(account, ref));
  }

  async paid(members: Partial<IntentOrder> = {}): Promise<IntentReport> {
    const { report } = await this.created(members);
    this.#rig().stripe.pay(report.ref);
    return await this.read(report.ref);
  }

  refund(
    { ref, currency }: IntentReport,
    amount: bigint,
    key: string = newId("operation"),
  ): Promise<ProcessorAnswer<RefundReport>> {
    const { connector, account } = this.#rig();
    const order = { intentRef: ref, reference: newId("refund"), amount, currency, reason: "the wrong size" };
    return connector.createRefund(account, order, key);
  }
}
