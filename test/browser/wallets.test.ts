// Wallets on the hosted page, with fakes of Stripe.js and Stripe's API: buttons only if available, one attempt for card
// and wallet, and no sheet that waits forever. Stripe's real script and devices are not tested.
import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";
import { connectPeer } from "#platform/rpc/client.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { browserSuite } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { startTestStack } from "../harness/stack.ts";
import { FakeStripe } from "../harness/stripe/fake-stripe.ts";
import { fakeStripeJs } from "../harness/stripe/fake-stripe-js.ts";
import type { StripeAccount } from "../harness/stripe/stripe-account.ts";
import { suite } from "../harness/suite.ts";
import { formReady, newOrder, payButton, paymentsOf, seeScreen } from "./buyer.ts";

const test = suite("wallets", { timeoutMs: 60_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
const credentials = { secret_key: "sk_test_1", publishable_key: "pk_test_1", webhook_secret: "whsec_1" };
let fake: FakeStripe;
let stripe: StripeAccount;
let running: RunningStack;
let merchant: TestMerchant;

test.before(async () => {
  fake = await new FakeStripe().start();
  stripe = fake.account("acct_1Lemon", credentials.secret_key);
  running = await startTestStack({ shape: "one", env: { STRIPE_API_URL: fake.url } });
  merchant = await freshMerchant(running.stack);
  const operator = connectPeer({ url: running.stack.rpc.payments, token: running.stack.rpc_token });
  const added = { merchantId: merchant.id, environment: Environment.SANDBOX, connector: "stripe", makeDefault: true };
  await operator.client(ConnectorAccountService).addConnectorAccount({ ...added, credentials });
  operator.close();
});
test.after(async () => {
  await running?.stop();
  await fake?.stop();
});

/** Opens a session's page. @returns the element that sent each payment, in order */
async function open(
  { page, context }: { page: Page; context: BrowserContext },
  has: { wallets?: Record<string, boolean>; card?: string; hold?: Promise<void> } = {},
): Promise<string[]> {
  const sent: string[] = [];
  await context.route("https://js.stripe.com/**", (route) =>
    route.fulfill({ contentType: "text/javascript", body: fakeStripeJs }),
  );
  await context.exposeFunction("__pay", async (clientSecret: string, by: string) => {
    sent.push(by);
    await has.hold;
    const { status, last_payment_error: error } = stripe.pay(clientSecret.split("_secret")[0] ?? "", has.card);
    return { status, declineCode: membersOf(error).decline_code };
  });
  await context.addInitScript((wallets) => Object.assign(globalThis, { __wallets: wallets }), has.wallets);
  await page.goto((await newOrder(merchant)).link);
  await formReady(page);
  return sent;
}

const googlePay = { wallets: { googlePay: true, applePay: false } };
const walletButton = (page: Page) => page.getByRole("button", { name: "Wallet", exact: true });

inBrowser("shows wallet buttons above the card, and a wallet pays", async (visit) => {
  const { page } = visit;
  const sent = await open(visit, googlePay);
  await page.getByText("Or pay by card").waitFor();
  await walletButton(page).click();
  await page.getByRole("button", { name: "Settle" }).click();
  await seeScreen(page, "Payment successful");
  assert.deepEqual(sent, ["expressCheckout"]);
});

inBrowser("shows only the card if no wallet is available", async (visit) => {
  const { page } = visit;
  const sent = await open(visit, { wallets: { googlePay: false } });
  assert.equal(await page.getByText("Or pay by card").isVisible(), false);
  await payButton(page).click();
  await seeScreen(page, "Payment successful");
  assert.deepEqual(sent, ["payment"]);
});

inBrowser("a closed wallet sends nothing, and the card still pays", async (visit) => {
  const { page } = visit;
  const sent = await open(visit, googlePay);
  await walletButton(page).click();
  await page.getByRole("button", { name: "Close wallet" }).click();
  await payButton(page).click();
  await seeScreen(page, "Payment successful");
  assert.deepEqual(sent, ["payment"]);
});

inBrowser("shows a decline of the wallet's card and allows another attempt", async (visit) => {
  const { page } = visit;
  const has = { ...googlePay, card: "pm_card_chargeDeclinedInsufficientFunds" };
  const sent = await open(visit, has);
  await walletButton(page).click();
  await page.getByRole("button", { name: "Settle" }).click();
  await page.getByRole("alert").getByText("enough funds").waitFor();
  has.card = "pm_card_visa";
  await payButton(page).click();
  await seeScreen(page, "Payment successful");
  assert.deepEqual(sent, ["expressCheckout", "payment"], "the declined wallet is not sent again");
});

inBrowser("card and wallet at once, and a double press in the sheet, make one payment", async (visit) => {
  const { page } = visit;
  const before = (await paymentsOf(merchant)).length;
  let release = () => {};
  const sent = await open(visit, { ...googlePay, hold: new Promise<void>((resolve) => (release = resolve)) });
  await walletButton(page).click();
  await page.getByRole("button", { name: "Settle" }).dblclick();
  await page.locator('.pay-view[data-state="submitting"]').waitFor();
  await page.locator("button.pay").dispatchEvent("click");
  release();
  await seeScreen(page, "Payment successful");
  assert.deepEqual(sent, ["expressCheckout"]);
  assert.equal((await paymentsOf(merchant)).length, before + 1);
});

inBrowser("opens no wallet during a card payment and fails an open sheet", async (visit) => {
  const { page } = visit;
  let release = () => {};
  const sent = await open(visit, { ...googlePay, hold: new Promise<void>((resolve) => (release = resolve)) });
  await walletButton(page).click();
  await payButton(page).dispatchEvent("click");
  await page.locator('.pay-view[data-state="submitting"]').waitFor();
  await page.getByRole("button", { name: "Settle" }).click();
  await page.locator('#sheet[data-state="failed"]').waitFor();
  await walletButton(page).dispatchEvent("click");
  release();
  await seeScreen(page, "Payment successful");
  assert.deepEqual(sent, ["payment"]);
});

inBrowser("opens a wallet only after the required e-mail is entered", async (visit) => {
  const { page } = visit;
  (await merchant.api.patch("/v1/merchants/me/branding", { email_field: "required" })).expect(200);
  try {
    const sent = await open(visit, googlePay);
    await walletButton(page).click();
    await page.getByText("Enter a valid e-mail address.").waitFor();
    assert.equal(await page.locator("#sheet").count(), 0);
    await page.getByLabel("E-mail").fill("ada@example.com");
    await walletButton(page).click();
    await page.getByRole("button", { name: "Settle" }).click();
    await seeScreen(page, "Payment successful");
    assert.deepEqual(sent, ["expressCheckout"]);
  } finally {
    await merchant.api.patch("/v1/merchants/me/branding", { email_field: "hidden" });
  }
});

test.run();
