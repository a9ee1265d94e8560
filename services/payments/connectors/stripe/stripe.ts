// Connector to Stripe: PaymentIntents for our own surfaces, Checkout Sessions for Stripe's page, refunds and signed
// webhooks. An event is only a hint: settlements use Stripe's answers, which are complete, ordered and of one version.

import type Stripe from "stripe";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { declinedAnswer } from "../answer.ts";
import {
  type AccountReport,
  type Connector,
  type CreatedIntent,
  isKnown,
  type ProcessorAccount,
} from "../connector.ts";
import { type CredentialForms, judgeForms } from "../credential-forms.ts";
import { toStripe } from "./amount.ts";
import { stripeBalance } from "./balance.ts";
import {
  accountAnswer,
  commandAnswer,
  declinedIntent,
  inDoubt,
  mapAnswer,
  notSentAnswer,
  type Refusals,
  stripeClient,
} from "./client.ts";
import { stripeDisputes } from "./disputes.ts";
import { createEndingCalls } from "./endings.ts";
import { readEvent } from "./event.ts";
import { stripeFailureNames } from "./failure-names.ts";
import { stripeMethods } from "./methods.ts";
import { readIntent, readRefund, type StripeIntent } from "./objects.ts";
import { intentParams, pageParams, paymentParams, refundParams } from "./orders.ts";
import { StripeReader } from "./reader.ts";
import { emptyHistory } from "./tries.ts";

// Stripe.js of the pinned API version's release (https://docs.stripe.com/sdks/stripejs-versioning).
const scriptUrl = "https://js.stripe.com/endive/stripe.js";

/**
 * @param origin of the API. @param timeoutMs for all requests of one method
 * @param keyLifeSeconds Stripe keeps keys for at least 24 hours (https://docs.stripe.com/api/idempotent_requests)
 */
export function stripeConnector(origin: string, timeoutMs: number, keyLifeSeconds: number): Connector {
  const { sdk, uploads, time, close } = stripeClient(origin, timeoutMs);
  const reader = new StripeReader(sdk, timeoutMs, time);
  const keyOf = ({ credentials }: Pick<ProcessorAccount, "credentials">) => ({ apiKey: credentials.secret_key ?? "" });
  return {
    name: "stripe",
    surfaces: ["embedded", "hosted", "redirect"],
    environments: [Environment.SANDBOX, Environment.LIVE],
    keyLifeSeconds,
    failureNames: stripeFailureNames,
    methods: stripeMethods,
    balance: stripeBalance(sdk, (account) => reader.callOf(account)),
    capturesLater: true,
    processorTime: time,
    refusesAmount: (amount, currency) => {
      const written = toStripe(amount, currency);
      return typeof written === "number" ? undefined : written.refused;
    },
    judgeCredentials: (environment, credentials) => judgeForms(credentialForms(environment), credentials),
    readAccount: async (_environment, credentials) =>
      mapAnswer(await accountAnswer(sdk.accounts.retrieveCurrent({}, keyOf({ credentials }))), readAccountReport),
    createIntent: async (account, order, key) => {
      const amount = toStripe(order.amount, order.currency);
      if (typeof amount !== "number") return declinedAnswer("amount_not_accepted", `the amount ${amount.refused}`);
      const call = { ...keyOf(account), idempotencyKey: key };
      if (order.surface !== "redirect") {
        const made = sdk.paymentIntents.create(intentParams(order, amount), call);
        return await commandAnswer(made, creating, (intent) =>
          createdIntent(account, { ...untouched, ref: intent.id, intent }),
        );
      }
      if (order.returnUrl === "")
        return declinedAnswer("return_url_missing", "is required: Stripe's page returns there");
      const made = sdk.checkout.sessions.create(pageParams(order, amount), call);
      return await commandAnswer(made, creating, (session) =>
        createdIntent(account, { ...untouched, ref: session.id, session }),
      );
    },
    payIntent: async (account, order, key) => {
      const amount = toStripe(order.amount, order.currency);
      if (typeof amount !== "number") return declinedAnswer("amount_not_accepted", `the amount ${amount.refused}`);
      const call = { ...keyOf(account), idempotencyKey: key };
      const made = sdk.paymentIntents.create(paymentParams(order, amount), call).catch(declinedIntent);
      const answer = await commandAnswer(made, paying, (intent) => intent.id);
      if (!isKnown(answer)) return answer;
      return mapAnswer(await reader.read(account, answer.value), readIntent);
    },
    findIntent: async (account, search) =>
      mapAnswer(await reader.find(account, search), (intent) => createdIntent(account, intent)),
    retrieveIntent: async (account, ref, eventId) => mapAnswer(await reader.read(account, ref, eventId), readIntent),
    ...createEndingCalls(sdk, reader),
    createRefund: async (account, order, key) => {
      const amount = toStripe(order.amount, order.currency);
      if (typeof amount !== "number") return declinedAnswer("amount_not_accepted", `the amount ${amount.refused}`);
      const intentId = await reader.intentId(account, order.intentRef);
      if (intentId.kind !== "succeeded") return intentId.kind === "not_found" ? neverPaid : notSentAnswer(intentId);
      const made = sdk.refunds.create(refundParams(order, intentId.value, amount), {
        ...keyOf(account),
        idempotencyKey: key,
      });
      const answer = await commandAnswer(made, refunding, readRefund);
      return answer.kind === "succeeded" && answer.value.status === "pending" ? { ...answer, kind: "pending" } : answer;
    },
    findRefund: async (account, { intentRef, reference }) => {
      const intentId = await reader.intentId(account, intentRef);
      const refunds = intentId.kind === "succeeded" ? await reader.refunds(account, intentId.value) : intentId;
      if (refunds.kind !== "succeeded") return inDoubt(refunds);
      const found = refunds.value.map(readRefund).findLast((refund) => refund.reference === reference);
      if (!found)
        return { kind: "not_found", at: time(), cause: new Error("Stripe has no refund under this reference") };
      return { kind: found.status === "pending" ? "pending" : "succeeded", value: found };
    },
    ...stripeDisputes(sdk, uploads, keyOf),
    readStatement: (account, period, after) => reader.statement(account, period, after),
    readEvents: (account, since, after) => reader.events(account, since, after),
    readWebhook: async (account, body, headers) => [readEvent(sdk, account, body, headers)],
    close,
  };
}

function readAccountReport(account: Stripe.Account): AccountReport {
  return {
    externalAccountId: account.id,
    displayName: account.settings?.dashboard.display_name ?? "",
    country: account.country ?? "",
    canCharge: account.charges_enabled,
  };
}

function credentialForms(environment: Environment): CredentialForms {
  const mode = environment === Environment.LIVE ? "live" : "test";
  const other = mode === "live" ? "sandbox" : "live";
  const key = (kinds: string) => new RegExp(`^(?:${kinds})_${mode}_[A-Za-z0-9_]{1,240}$`);
  return {
    secret_key: [
      key("sk|rk"),
      `must begin with sk_${mode}_ or rk_${mode}_; keys of the ${other} environment are refused`,
    ],
    publishable_key: [key("pk"), `must begin with pk_${mode}_; keys of the ${other} environment are refused`],
    webhook_secret: [
      /^whsec_[A-Za-z0-9+/=_-]{1,250}(?:,whsec_[A-Za-z0-9+/=_-]{1,250}){0,3}$/,
      "must be whsec_…, or up to four of them, separated by commas, during a rotation",
    ],
  };
}

const untouched = {
  session: undefined,
  intent: undefined,
  charges: [],
  history: emptyHistory,
  refunds: [],
  disputes: [],
} as const;

function createdIntent(account: ProcessorAccount, intent: StripeIntent): CreatedIntent {
  const nothing = { publishableKey: "", clientSecret: "", scriptUrl: "", frameUrl: "", redirectUrl: "" };
  const report = readIntent(intent);
  if (intent.session) {
    // A closed page has no address; the report shows why.
    const { url, expires_at: end } = intent.session;
    const expiresAt = new Date(end * 1_000);
    return { report, mount: { ...nothing, kind: "redirect", redirectUrl: url ?? "", expiresAt } };
  }
  const clientSecret = intent.intent?.client_secret;
  if (!clientSecret) throw new Error("a PaymentIntent without its client secret");
  const publishableKey = account.credentials.publishable_key ?? "";
  return { report, mount: { ...nothing, kind: "element", publishableKey, clientSecret, scriptUrl } };
}

const amountCodes = {
  amount_too_small: "amount_not_accepted",
  amount_too_large: "amount_not_accepted",
  invalid_charge_amount: "amount_not_accepted",
} as const;
const creating: Refusals = {
  codes: amountCodes,
  params: { amount: "amount_not_accepted", currency: "currency_not_accepted" },
};
const paying: Refusals = { ...creating, params: { ...creating.params, payment_method: "unknown_payment_method" } };
const refunding: Refusals = {
  codes: {
    charge_already_refunded: "not_refundable",
    charge_disputed: "not_refundable",
    charge_not_refundable: "not_refundable",
    refund_disputed_payment: "not_refundable",
    payment_intent_unexpected_state: "not_refundable",
    amount_too_large: "amount_too_large",
  },
  params: { amount: "amount_too_large" },
};

const neverPaid = declinedAnswer("not_refundable", "this intent is not paid");
