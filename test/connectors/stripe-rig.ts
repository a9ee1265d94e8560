// The Stripe connector in the hands of tests: a fake of Stripe's API with one account.
import { newId } from "#platform/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Account, CreatedIntent } from "../../services/payments/connectors/connector.ts";
import { stripeConnector } from "../../services/payments/connectors/stripe.ts";
import { FakeStripe, signed } from "../harness/fake-stripe.ts";
import type { StripeAccount } from "../harness/stripe-account.ts";
import type { ConnectorRig } from "./contract.ts";

export interface StripeRig extends ConnectorRig {
  readonly fake: FakeStripe;
  readonly stripe: StripeAccount;
}

const timeoutMs = 400; // a fake answers in a few; this is how long a lost answer is waited for

const keyLifeSeconds = 86_400; // Stripe's

export const credentials = {
  secret_key: "sk_test_fake",
  publishable_key: "pk_test_fake",
  webhook_secret: "whsec_fake",
} as const;

export async function startStripeRig(): Promise<StripeRig> {
  const fake = await new FakeStripe().start();
  const stripe = fake.account("acct_fake1", credentials.secret_key);
  const connector = stripeConnector(fake.url, timeoutMs, keyLifeSeconds);
  const unreachable = stripeConnector("http://127.0.0.1:9", timeoutMs, keyLifeSeconds);
  const account: Account = {
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
    pay: async ({ report, mount }: CreatedIntent, outcome) => {
      const token = outcome === "paid" ? "pm_card_visa" : "pm_card_chargeDeclined";
      if (mount.kind === "redirect") stripe.payOnPage(report.ref, token);
      else stripe.pay(report.ref, token);
    },
    tokens: async () => ({ good: "pm_card_visa", declined: "pm_card_chargeDeclined", unknown: "pm_unknown" }),
    failNext: async (what, trouble) => {
      const path = what === "intent" ? /payment_intents$/ : /refunds$/;
      fake.failNext("POST", path, trouble === "fault" ? "500" : "silent");
    },
    event: async ({ report }, at) => {
      const object = stripe.intent(report.ref);
      const event = { id: stripe.newId("evt"), object: "event", type: "payment_intent.succeeded", livemode: false };
      const whole = { ...event, created: at, data: { object } };
      const { body, header } = signed(whole, credentials.webhook_secret, at);
      return { body: Buffer.from(body), headers: { "stripe-signature": header } };
    },
    stop: async () => {
      await Promise.all([connector.close(), unreachable.close()]);
      await fake.stop();
    },
  };
}
