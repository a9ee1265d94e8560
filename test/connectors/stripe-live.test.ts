// The Stripe connector against Stripe itself, in test mode: runs where STRIPE_SECRET_KEY (sk_test_…) is set, and is
// left out with a clear line otherwise. It proves what a fake cannot: that Stripe takes our requests and answers in the
// shapes that we read.
import assert from "node:assert/strict";
import Stripe from "stripe";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ProcessorAccount } from "../../services/payments/connectors/connector.ts";
import type { IntentOrder } from "../../services/payments/connectors/order.ts";
import { stripeConnector } from "../../services/payments/connectors/stripe/stripe.ts";
import { eventually } from "../harness/eventually.ts";
import { suite } from "../harness/suite.ts";
import { factKinds, statementOf, valueIn } from "./contract.ts";

const test = suite("Stripe itself", { timeoutMs: 60_000 });
const secretKey = process.env.STRIPE_SECRET_KEY ?? "";
const returnUrl = "https://shop.example/return";
const connector = stripeConnector("https://api.stripe.com", 20_000, 86_400);
const account: ProcessorAccount = {
  id: newId("connector"),
  merchantId: newId("merchant"),
  environment: Environment.SANDBOX,
  connector: "stripe",
  externalAccountId: "",
  surface: "embedded",
  credentials: { secret_key: secretKey, publishable_key: "pk_test_unused", webhook_secret: "whsec_unused" },
  refundsEnabled: true,
};
test.after(() => connector.close());

const order = (members: Partial<IntentOrder> = {}): IntentOrder => ({
  reference: newId("payment"),
  amount: 1_050n,
  currency: "EUR",
  description: "Tollbooth's own test",
  returnUrl,
  surface: "embedded",
  captureMethod: "automatic",
  lineItems: [],
  ...members,
});

/** The calls of Stripe's script in the buyer's browser. */
async function confirm(ref: string, paymentMethod: string): Promise<void> {
  const stripe = new Stripe(secretKey);
  await stripe.paymentIntents
    .confirm(ref, { payment_method: paymentMethod, return_url: returnUrl })
    .catch((error: unknown) => assert.ok(error instanceof Stripe.errors.StripeCardError, String(error)));
}

const proofs: Readonly<Record<string, () => Promise<void>>> = {
  "the account is read": async () => {
    const { externalAccountId } = valueIn(await connector.readAccount(account.environment, account.credentials));
    assert.match(externalAccountId, /^acct_/);
  },
  "one key makes one intent, which is found by our reference and canceled": async () => {
    const [wanted, key] = [order(), newId("operation")];
    const made = valueIn(await connector.createIntent(account, wanted, key));
    assert.equal(valueIn(await connector.createIntent(account, wanted, key)).report.ref, made.report.ref);
    assert.equal(
      valueIn(await connector.findIntent(account, { reference: wanted.reference, surface: "embedded" })).report.ref,
      made.report.ref,
    );
    assert.deepEqual(factKinds(valueIn(await connector.cancelIntent(account, made.report.ref, "release"))), [
      "intent_canceled",
    ]);
  },
  "a declined and a paid attempt are reported in order, and the payment is refunded once": async () => {
    const { report } = valueIn(await connector.createIntent(account, order(), newId("operation")));
    await confirm(report.ref, "pm_card_visa_chargeDeclined");
    await confirm(report.ref, "pm_card_visa");
    assert.deepEqual(factKinds(valueIn(await connector.retrieveIntent(account, report.ref))), [
      "attempt_failed",
      "attempt_succeeded",
    ]);
    const partial = {
      intentRef: report.ref,
      reference: newId("refund"),
      amount: 400n,
      currency: "EUR",
      reason: "duplicate",
    };
    const key = newId("operation");
    const made = valueIn(await connector.createRefund(account, partial, key));
    assert.equal(valueIn(await connector.createRefund(account, partial, key)).ref, made.ref);
    assert.equal(valueIn(await connector.findRefund(account, partial)).ref, made.ref);
    const tooMuch = { ...partial, reference: newId("refund"), amount: 651n };
    const refused = await connector.createRefund(account, tooMuch, newId("operation"));
    assert.equal(refused.kind === "declined" && refused.code, "amount_too_large");
  },
  "the balance changes and events of the last hour are read with their objects": async () => {
    const made = valueIn(await connector.createIntent(account, order(), newId("operation")));
    const since = connector.processorTime() ?? new Date();
    await confirm(made.report.ref, "pm_card_visa");
    const hour = 3_600_000;
    const period = { from: new Date(since.getTime() - hour), to: new Date(since.getTime() + hour) };
    // A balance transaction is made a moment after its charge.
    await eventually("the movement of the charge", async () => {
      const lines = await statementOf({ connector, account }, period);
      return lines.some(({ intentRef, amount }) => intentRef === made.report.ref && amount === 1_050n);
    });
    const page = await connector.readEvents?.(account, since, "");
    assert.ok(page && valueIn(page).events.some(({ intentRef }) => intentRef === made.report.ref));
  },
  "movements, payouts and the balance are read": async () => {
    const { balance } = connector;
    assert.ok(balance);
    const hour = new Date(Date.now() - 3_600_000);
    const made = valueIn(await connector.createIntent(account, order(), newId("operation")));
    await confirm(made.report.ref, "pm_card_visa");
    await eventually("the movement of the charge", async () => {
      const { items } = valueIn(await balance.readMovements(account, hour, ""));
      return items.some(({ type, intentRef, fee }) => type === "capture" && intentRef === made.report.ref && fee > 0n);
    });
    const [payout] = valueIn(await balance.readPayouts(account, undefined, "")).items;
    if (payout) valueIn(await balance.readPayoutLines(account, payout.ref, ""));
    assert.ok(valueIn(await balance.readBalance(account)).length > 0);
  },
  "Stripe's own page is opened and closed": async () => {
    const made = valueIn(await connector.createIntent(account, order({ surface: "redirect" }), newId("operation")));
    assert.match(made.mount.redirectUrl, /^https:\/\/checkout\.stripe\.com\//);
    assert.deepEqual(factKinds(valueIn(await connector.cancelIntent(account, made.report.ref, "release"))), [
      "intent_canceled",
    ]);
  },
  "a payment by token is paid at once": async () => {
    const { surface: _surface, returnUrl: _returnUrl, ...wanted } = order();
    const paid = await connector.payIntent(account, { ...wanted, paymentMethod: "pm_card_visa" }, newId("operation"));
    assert.deepEqual(factKinds(valueIn(paid)), ["attempt_succeeded"]);
  },
};

test("the pinned API version is the one whose types we are checked against", () => {
  assert.equal(Stripe.API_VERSION, "2026-10-28.endive");
});

for (const [name, proof] of Object.entries(proofs)) {
  if (secretKey.startsWith("sk_test_")) test(name, proof);
  else test.skip(name, "STRIPE_SECRET_KEY is not set to a test-mode key, sk_test_…");
}

test.run();
