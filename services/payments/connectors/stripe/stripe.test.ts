// The look-up of refunds at Stripe, whose list of an intent's refunds is newest first and holds those of the dashboard
// too.
import assert from "node:assert/strict";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { FakeStripe } from "../../../../test/harness/stripe/fake-stripe.ts";
import type { StripeAccount } from "../../../../test/harness/stripe/stripe-account.ts";
import { suite } from "../../../../test/harness/suite.ts";
import type { Connector, ProcessorAccount } from "../connector.ts";
import { stripeConnector } from "./stripe.ts";

const test = suite("the look-up of refunds at Stripe");
const credentials = { secret_key: "sk_test_1", publishable_key: "pk_test_1", webhook_secret: "whsec_1" };
const account: ProcessorAccount = {
  id: "mco_1",
  merchantId: "mer_1",
  environment: Environment.SANDBOX,
  connector: "stripe",
  externalAccountId: "acct_1",
  surface: "embedded",
  credentials,
  refundsEnabled: true,
};
let fake: FakeStripe;
let stripe: StripeAccount;
let connector: Connector;

test.beforeEach(async () => {
  fake = await new FakeStripe().start();
  stripe = fake.account(account.externalAccountId, credentials.secret_key);
  connector = stripeConnector(fake.url, 10_000, 86_400);
});
test.afterEach(async () => {
  await connector.close();
  await fake.stop();
});

const paid = () => stripe.pay(stripe.createIntent({ amount: 1_000, currency: "eur" }).id);
const ours = (reference = "re_ours") => ({ metadata: { tollbooth_refund: reference } });
const find = (intentRef: string) => connector.findRefund(account, { intentRef, reference: "re_ours" });

test("finds a refund by our reference among other refunds of the payment", async () => {
  const intent = paid();
  stripe.refund(intent, 100);
  const { id } = stripe.refund(intent, 200, ours());
  stripe.refund(intent, 200, ours("re_other"));
  stripe.refund(intent, 100);
  const found = await find(intent.id);
  assert.deepEqual(found.kind === "succeeded" && [found.value.ref, found.value.amount], [id, 200n]);
});

test("finds the older of two refunds under our reference", async () => {
  const intent = paid();
  const [older, newer] = [stripe.refund(intent, 300, ours()), stripe.refund(intent, 300, ours())];
  const found = await find(intent.id);
  assert(found.kind === "succeeded" && found.value.ref !== newer.id);
  assert.equal(found.value.ref, older.id);
});

test("an undecided refund is pending", async () => {
  const intent = paid();
  stripe.refund(intent, 300, ours(), "pending");
  assert.equal((await find(intent.id)).kind, "pending");
});

test("a refund is not_found only if the payment's list of refunds was read", async () => {
  const intent = paid();
  stripe.refund(intent, 300);
  const missing = await find(intent.id);
  assert(missing.kind === "not_found" && missing.at instanceof Date);
  for (const fault of ["500", "503", "429", "403", "missing", "cut", "not json"] as const) {
    fake.failNext("GET", /refunds$/, fault);
    assert.equal((await find(intent.id)).kind, "unknown", fault);
  }
});

test.run();
